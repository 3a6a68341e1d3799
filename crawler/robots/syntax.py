"""The lines of a robots.txt as fields: which line says what, however it is spelt.

It knows nothing of groups or of matching, and no octets whatever make it fail (RFC 9309 §2.3.1.5).
"""

from collections.abc import Iterator
from enum import Enum, auto


class Field(Enum):
    """The lines that mean something to a crawler."""

    USER_AGENT = auto()
    ALLOW = auto()
    DISALLOW = auto()
    CRAWL_DELAY = auto()
    SITEMAP = auto()


# The misspellings that Google's parser reads, and other single slips of the finger.
_SPELLINGS: dict[Field, tuple[bytes, ...]] = {
    Field.USER_AGENT: (b"user-agent", b"useragent", b"user agent", b"user_agent", b"user-agents"),
    Field.ALLOW: (b"allow",),
    Field.DISALLOW: (
        b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw", b"diallow",
        b"dissalaw", b"disallows", b"disalllow", b"desallow", b"dsallow", b"disllow",
    ),
    Field.CRAWL_DELAY: (b"crawl-delay", b"crawldelay", b"crawl delay", b"crawl_delay"),
    Field.SITEMAP: (b"sitemap", b"site-map", b"site map", b"sitemaps"),
}  # fmt: skip

_FIELDS = {spelling: field for field, spellings in _SPELLINGS.items() for spelling in spellings}

_BOM = b"\xef\xbb\xbf"
_UTF16 = b"\xff\xfe", b"\xfe\xff"


def read_fields(text: bytes, max_bytes: int) -> Iterator[tuple[Field, bytes]]:
    """The known lines in order, each with its value, stripped and without its comment.

    A text that reaches `max_bytes` is cut there, and the line that the cut halves is dropped:
    half a path is another path. Lines end with CR, LF or both. RFC 9309 wants UTF-8; what says that it is
    UTF-16 is read all the same, for it forbids no less.
    """
    for line in _within(text, max_bytes).splitlines():
        content = line.partition(b"#")[0]
        name, colon, value = content.partition(b":")
        if not colon:
            words = content.split()
            if len(words) != 2:
                continue
            # A forgotten colon is forgiven where it leaves no doubt, as Google does.
            name, value = words
        field = _FIELDS.get(name.strip().lower())
        if field is not None:
            yield field, value.strip()


def _within(text: bytes, max_bytes: int) -> bytes:
    cut = len(text) >= max_bytes
    text = text[:max_bytes]
    if text.startswith(_UTF16):
        text = text.decode("utf-16", "replace").encode()
    if cut:
        text = text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
    for size in (3, 2, 1):
        # Some editors leave half a byte order mark.
        if text.startswith(_BOM[:size]):
            return text[size:]
    return text
