"""Exact sameness: of bytes, and of words. SHA-256, so that nobody can make two pages collide."""

import hashlib


def content_digest(body: bytes) -> bytes:
    """The 32-byte digest of a body as it was received."""
    return hashlib.sha256(body).digest()


def text_digest(text: str) -> bytes:
    """The 32-byte digest of a page's text, whose spaces are collapsed already (`crawler.page`); case does not count.

    Case is folded (`str.casefold`), so `STRASSE` equals `straße`.
    """
    return hashlib.sha256(text.casefold().encode("utf-8", "surrogatepass")).digest()
