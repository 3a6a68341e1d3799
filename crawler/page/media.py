"""Of which type a body is, in the spirit of the WHATWG MIME Sniffing Standard. Knows a header value and first bytes."""

import re

# Types that servers send when they do not know (MIME Sniffing section 4.5 "apache bug", and the catch-all).
_UNSURE = frozenset({"", "text/plain", "application/octet-stream", "application/x-unknown-content-type",
                     "unknown/unknown", "*/*"})  # fmt: skip
_ESSENCE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SNIFFED = 1445  # bytes, "resource header"

_MARKUP = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[\s>-]",
    re.IGNORECASE,
)
# A body that says text/plain is only taken for HTML where it leaves no doubt.
_CLEAR_MARKUP = re.compile(rb"<!doctype html[\s>]|<html[\s>]", re.IGNORECASE)
_SPACE_OR_COMMENT = re.compile(rb"(?:\s+|<!--.*?-->)*", re.DOTALL)
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def media_type(content_type: str | None, body: bytes) -> str:
    """The essence of a `Content-Type` value, lower-cased, or what the body shows where the header tells nothing.

    `text/plain` is doubted only for a body that begins as an HTML document or is binary.
    """
    match = _ESSENCE.match(content_type.strip()) if content_type else None
    essence = match[0].lower() if match else ""
    return _sniffed(essence, body[:_SNIFFED]) if essence in _UNSURE else essence


def _sniffed(essence: str, head: bytes) -> str:
    for magic, found in _MAGIC:
        if head.startswith(magic):
            return found
    marked = head.startswith(_BOMS)
    start = _SPACE_OR_COMMENT.match(head.removeprefix(_BOMS[0]))
    rest = head.removeprefix(_BOMS[0])[start.end() if start else 0 :]
    if _CLEAR_MARKUP.match(rest) or (essence != "text/plain" and _MARKUP.match(rest)):
        return "text/html"
    if rest.startswith(b"<?xml"):
        return "application/xml"
    return "text/plain" if marked or not _BINARY.search(head) else "application/octet-stream"
