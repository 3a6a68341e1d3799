"""Exact sameness of words (that of bytes is told when they are fetched), by SHA-256: nobody can make two collide."""

import hashlib


def text_digest(folded: str) -> bytes:
    """The 32-byte digest of a page's text, its spaces collapsed (`crawler.page`) and its case folded (`str.casefold`).

    So case does not count, and `STRASSE` equals `straße`.
    """
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).digest()
