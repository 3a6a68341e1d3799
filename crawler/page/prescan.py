"""The HTML standard's prescan of a byte stream for its encoding (HTML section 13.2.3.3), step by step.

Works on bytes before anything is decoded; knows nothing of headers and of trees.
"""

import re

from crawler.page.labels import LABELS

_SPACE = b"\t\n\f\r "
_SKIPPED = b"\t\n\f\r /"
_UNQUOTED_END = b"\t\n\f\r >"
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z]")
_TAG_END = re.compile(rb"[\t\n\f\r >]")
_CHARSET = re.compile(rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)
_VALUE = re.compile(rb"[^\t\n\f\r ;]+")


def meta_label(head: bytes) -> str | None:
    """The name of the encoding that a `<meta>` in these bytes declares, or `None`."""
    at = head.find(b"<")
    while at >= 0:
        try:
            found, at = _markup(head, at)
        except IndexError:  # the bytes ended inside a tag: "abort these steps"
            return None
        if found:
            return found
        at = head.find(b"<", at)
    return None


def _markup(head: bytes, at: int) -> tuple[str | None, int]:
    """What stands at a `<`: the encoding it declares, and where to go on."""
    if head.startswith(b"<!--", at):
        end = head.find(b"-->", at + 2)  # the dashes of `<!-->` may serve twice
        return None, end + 3 if end >= 0 else len(head)
    if _META.match(head, at):
        return _meta(head, at + 6)
    if _TAG.match(head, at):
        end_of_name = _TAG_END.search(head, at)
        at = end_of_name.start() if end_of_name else len(head)
        name = b"."
        while name:
            name, _, at = _attribute(head, at)
        return None, at
    if head[at + 1] in b"!/?":
        end = head.find(b">", at)
        return None, end + 1 if end >= 0 else len(head)
    return None, at + 1


def _meta(head: bytes, at: int) -> tuple[str | None, int]:
    seen: set[bytes] = set()
    got_pragma = False
    need_pragma: bool | None = None
    charset: str | None = None
    while True:
        name, value, at = _attribute(head, at)
        if not name:
            break
        if name in seen:
            continue
        seen.add(name)
        if name == b"http-equiv":
            got_pragma = value == b"content-type"
        elif name == b"content" and charset is None and (declared := charset_in_content(value)):
            charset, need_pragma = declared, True
        elif name == b"charset":
            charset, need_pragma = _encoding(value), False
    if need_pragma is None or (need_pragma and not got_pragma) or charset is None:
        return None, at
    if charset.startswith("utf-16"):
        return "utf-8", at
    return ("windows-1252" if charset == "x-user-defined" else charset), at


def charset_in_content(content: bytes) -> str | None:
    """The encoding named in a `content` attribute (HTML section 13.2.3.4), or `None`."""
    match = _CHARSET.search(content)
    if match is None:
        return None
    at = match.end()
    quote = content[at : at + 1]
    if quote in {b'"', b"'"}:
        end = content.find(quote, at + 1)
        return _encoding(content[at + 1 : end]) if end >= 0 else None
    value = _VALUE.match(content, at)
    return _encoding(value[0]) if value else None


def _encoding(label: bytes) -> str | None:
    return LABELS.get(label.strip(_SPACE).lower().decode("latin-1"))


def _attribute(head: bytes, at: int) -> tuple[bytes, bytes, int]:
    """Name, value and the position after one attribute ("get an attribute"); an empty name ends the tag.

    Raises `IndexError` where the bytes end.
    """
    while head[at] in _SKIPPED:
        at += 1
    if head[at] == 0x3E:
        return b"", b"", at
    start = at
    while head[at] not in b"\t\n\f\r />" and (head[at] != 0x3D or at == start):
        at += 1
    name = head[start:at].lower()
    while head[at] in _SPACE:
        at += 1
    if head[at] != 0x3D:
        return name, b"", at
    at += 1
    while head[at] in _SPACE:
        at += 1
    if head[at] in b"\"'":
        end = head.find(head[at : at + 1], at + 1)
        if end < 0:
            raise IndexError
        return name, head[at + 1 : end].lower(), end + 1
    start = at
    while head[at] not in _UNQUOTED_END:
        at += 1
    return name, head[start:at].lower(), at
