"""PDFs written by hand: objects as ISO 32000 section 7.3 has them, pages that say what they are told to."""

import zlib
from collections.abc import Sequence

PASSWORDED = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (b"41" * 32, b"42" * 32)


def document(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects, numbered from 1; the first is the catalogue."""
    parts, places, end = [b"%PDF-1.7\n"], [], 9
    for number, content in enumerate(objects, 1):
        places.append(end)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
        end += len(parts[-1])
    size = len(objects) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    parts += [b"%010d 00000 n \n" % place for place in places]
    parts.append(
        b"trailer<</Root 1 0 R/Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, end)
    )
    return b"".join(parts)


def stream(data: bytes, filters: int = 1, packed: int = 0) -> bytes:
    """A stream object, deflated so many times; `packed`: and so many times before."""
    for _ in range(filters):
        data = zlib.compress(data, 9)
    head = b"<</Length %d/Filter[%s]>>" % (len(data), b"/FlateDecode" * (filters + packed))
    return head + b"stream\n" + data + b"\nendstream"


def shown(*lines: str) -> bytes:
    """The content of a page that shows these lines."""
    operators = b"".join(b"(%s)Tj T* " % line.encode("latin-1") for line in lines)
    return b"BT /F 12 Tf 14 TL 20 700 Td %sET" % operators


def pdf(
    *pages: bytes,
    uris: Sequence[str] = (),
    catalogue: bytes = b"",
    title: str = "",
    trailer: bytes = b"",
) -> bytes:
    """A document whose pages have these contents; `uris` are links on the last one."""
    first = 5
    kids = b" ".join(b"%d 0 R" % (first + 2 * n) for n in range(len(pages)))
    annotations = b"".join(
        b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(%s)>>>>" % uri.encode()
        for uri in uris
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R%s>>" % catalogue,
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<</Title<%s>>>" % title.encode("utf-16").hex().encode(),
    ]
    for number, content in enumerate(pages):
        last = number == len(pages) - 1
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>"
            b"/Annots[%s]>>" % (first + 2 * number + 1, annotations if last else b"")
        )
        objects.append(stream(content))
    return document(objects, b"/Info 4 0 R" + trailer)
