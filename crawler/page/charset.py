"""Which encoding a body is in, and its text: WHATWG HTML section 13.2.3.2 and the Encoding Standard.

Names of encodings are the standard's, in lower case. Knows bytes and one header value; knows nothing of markup beyond
the prescan.
"""

import codecs
import re

from charset_normalizer import from_bytes

from crawler.page.labels import CODECS, LABELS, REPLACEMENT
from crawler.page.prescan import meta_label

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)

# "<?x", as HTML's prescan looks for it (section 13.2.3.3).
_XML_IN_UTF_16 = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))

_PARAMETER = re.compile(
    r';\s*([^\s;="]+)(?:=(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:[;,]|$))|([^\s;,"]+)(?=\s*(?:[;,]|$))))?'
)
_XML_DECLARATION = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']\s*([A-Za-z0-9._:-]+)""")
_XML_TYPE = re.compile(r"[^;]*[/+]xml\s*(?:;|$)", re.IGNORECASE)
_CHARSET = re.compile(rb"charset", re.IGNORECASE)
_HIGH = re.compile(rb"[\x80-\xff]")

_PRESCAN = 1024
# A browser that meets a later `<meta charset>` parses again; so the rest of the head is looked at too.
_LATE_PRESCAN = 16 * 1024

# Statistics cost milliseconds a kilobyte and are only for pages that declare nothing and are not UTF-8.
_SAMPLE = 4096
# Fewer bytes than these tell nothing: one "©" was taken for Polish.
_ENOUGH = 8
_GUESSED = ("cp1252", "cp1251", "cp1250", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp",
            "gb18030", "big5", "cp949", "iso8859_2")  # fmt: skip
_NAMES = {codec: name for name, codec in CODECS.items() if name not in {"gbk", "x-user-defined"}}
_NAMES |= {"big5": "big5"}


def encoding_name(label: str) -> str | None:
    """The encoding a label stands for, or `None` ("get an encoding", Encoding Standard section 4.2)."""
    return LABELS.get(label.strip("\t\n\f\r ").lower())


def declared_charset(content_type: str | None) -> str | None:
    """The encoding that a `Content-Type` value declares: the first `charset` parameter with a known label."""
    if not content_type:
        return None
    for name, quoted, token in _PARAMETER.findall(content_type):
        if name.lower() == "charset" and (found := encoding_name(quoted or token)):
            return found
    return None


def sniff(body: bytes, content_type: str | None) -> str:
    """The encoding of a body: byte order mark, header, declaration inside, validity as UTF-8, statistics.

    Never fails: what nothing tells is windows-1252, as in a browser.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    if declared := declared_charset(content_type):
        return _utf16_order(declared, body)
    if content_type and _XML_TYPE.match(content_type):
        # There a `<meta>` is text of somebody else, as in the summaries of a feed (RFC 7303 section 3).
        return _declared_as_xml(body) or _declared_inside(body) or _guessed(body)
    return _declared_inside(body) or _guessed(body)


def decode(body: bytes, charset: str) -> str:
    """The text of a body in one of the standard's encodings; an unknown name counts as windows-1252.

    Never raises. What cannot be decoded becomes U+FFFD; a byte order mark is dropped.
    """
    if charset == REPLACEMENT:
        return "\ufffd" if body else ""
    codec = CODECS.get(charset, "cp1252")
    errors = "replace" if codec.startswith("utf") else "raycrawl-whatwg"
    return body.decode(codec, errors).removeprefix("\ufeff")


def _utf16_order(name: str, body: bytes) -> str:
    """The byte order of unmarked UTF-16: a page begins with an ASCII character, so its first zero tells."""
    if name == "utf-16le" and body[:1] == b"\0" and body[1:2] > b"\0":
        return "utf-16be"
    return name


def _declared_inside(body: bytes) -> str | None:
    label = meta_label(body[:_PRESCAN]) or _declared_as_xml(body)
    if label is None and _CHARSET.search(body, _PRESCAN, _LATE_PRESCAN):
        label = meta_label(body[:_LATE_PRESCAN])
    return label


def _declared_as_xml(body: bytes) -> str | None:
    for beginning, unmarked in _XML_IN_UTF_16:
        if body.startswith(beginning):
            return unmarked
    xml = _XML_DECLARATION.match(body, 0, _PRESCAN)
    name = encoding_name(xml[1].decode("ascii")) if xml else None
    # The declaration was read as ASCII, so it cannot be in UTF-16 (HTML section 13.2.3.3).
    return "utf-8" if name and name.startswith("utf-16") else name


def _unmarked_utf16(body: bytes) -> str | None:
    """UTF-16 of which nothing tells: every other byte of its markup is zero, and none of the others."""
    head = body[:_PRESCAN]
    upper, lower = head[::2].count(0), head[1::2].count(0)
    if not upper and lower > len(head) // 8:
        return "utf-16le"
    return "utf-16be" if not lower and upper > len(head) // 8 else None


def _guessed(body: bytes) -> str:
    if b"\0" in body[:_PRESCAN] and (name := _unmarked_utf16(body)):
        return name
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A body cut by a limit may end inside a character.
        if error.start >= len(body) - 3 and error.reason == "unexpected end of data":
            return "utf-8"
    else:
        return "utf-8"
    first = _HIGH.search(body)
    sample = body[max(0, first.start() - _SAMPLE // 4) :][:_SAMPLE] if first else b""
    if len(_HIGH.findall(sample)) < _ENOUGH:
        return "windows-1252"
    best = from_bytes(sample, cp_isolation=list(_GUESSED)).best()
    return _NAMES.get(best.encoding, "windows-1252") if best else "windows-1252"


def _as_the_standard(error: UnicodeError) -> tuple[str, int]:
    """What the standard's indexes hold and Python's codecs do not: C1 controls in windows-125x, 0x80 in gb18030.

    Of x-user-defined, whose codec here is ASCII, the upper half is for private use (Encoding Standard section 14.5).
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    byte = error.object[error.start]
    if error.encoding == "charmap" and byte < 0xA0:
        return chr(byte), error.start + 1
    if error.encoding == "ascii":
        return chr(0xF700 + byte), error.start + 1
    if error.encoding == "gb18030" and byte == 0x80:
        return "€", error.start + 1
    return "\ufffd", error.end


codecs.register_error("raycrawl-whatwg", _as_the_standard)
