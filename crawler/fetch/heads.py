"""Heads as browsers read them: what is wrong in one line of it costs that line, not the page.

Pure. aiohttp's parser is strict, and whoever writes such a line writes it into every answer of a site.
"""

import re
from collections.abc import Iterable, Iterator

END = re.compile(rb"\n\r?\n")

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME = re.compile(_TOKEN)
_VALUE = rb"[^\r\n\0]*\r?\n"
# One way to read each line, so that it takes linear time: fields, and the further lines of folded ones.
_WELL_FORMED = re.compile(
    rb"[^\n]*\n(?:" + _TOKEN + rb":" + _VALUE + rb"(?:[ \t]" + _VALUE + rb")*)*\r?\n"
)
_FRAMING = re.compile(rb"\n(?:content-length|transfer-encoding):([^\n]*)", re.IGNORECASE)
_BLANKS = bytes.maketrans(b"\r\0", b"  ")


def begins(data: bytes) -> bool:
    """Whether these may be the first bytes of a head; what begins otherwise is none, and waits for nothing."""
    return b"HTTP/".startswith(data[:5])


def mended(head: bytes) -> bytes:
    """The head without what is no field; its length is said once (RFC 9112 §6.3: chunks overrule a Content-Length).

    Two lengths that differ stay: nobody knows where such an answer ends.
    """
    if not begins(head):
        return head
    framing = _FRAMING.findall(head)
    if _WELL_FORMED.fullmatch(head) and len(framing) <= 1 and b"," not in b"".join(framing):
        return head
    status, *lines = head.rstrip(b"\r\n").split(b"\n")
    fields = list(_fields(lines))
    lengths = _values(fields, b"content-length")
    codings = set(_values(fields, b"transfer-encoding"))
    unwanted = set()
    if codings == {b"identity"}:
        unwanted.add(b"transfer-encoding")
    if b"chunked" in codings or (len(set(lengths)) == 1 and len(lengths) > 1):
        unwanted.add(b"content-length")
    kept = [line for name, line in fields if name not in unwanted]
    if b"content-length" in unwanted and b"chunked" not in codings:
        kept.append(b"Content-Length: " + lengths[0])
    return b"\r\n".join([status.rstrip(b"\r"), *kept, b"", b""])


def _fields(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The names, in lower case, and the lines of all that are fields; those of a folded one share its name."""
    name = b""
    for line in lines:
        text = line.rstrip(b"\r").translate(_BLANKS)
        if not text.startswith((b" ", b"\t")):
            before, colon, value = text.partition(b":")
            before = before.rstrip(b" \t")
            name = before.lower() if colon and _NAME.fullmatch(before) else b""
            text = before + colon + value
        if name:
            yield name, text


def _values(fields: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[bytes]:
    values = (line.partition(b":")[2] for name, line in fields if name == wanted)
    return [part.strip().lower() for value in values for part in value.split(b",")]
