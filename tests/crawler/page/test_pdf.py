"""PDF: what is read of one, and that none does harm. Every one is read apart, as in a crawl."""

import time
import zlib
from contextlib import closing
from signal import SIGABRT

import pytest

from crawler.config import Page as Limits
from crawler.page import pdf as reader
from crawler.page.apart import Apart, ReaderError
from crawler.page.page import read_page
from tests.crawler.page.pdfs import PASSWORDED, document, pdf, shown, stream
from tests.shared import figure

pytestmark = pytest.mark.slow

URL = "http://h.test/papers/one.pdf"


@pytest.fixture(scope="module")
def apart():
    with closing(Apart(Limits(apart_memory=256 * 1024 * 1024), time.monotonic)) as apart:
        yield apart


def read(apart, body, max_links=100):
    return apart.read_page(body, "application/pdf", URL, max_links)


def test_text_title_language_and_links(apart):
    body = pdf(
        shown("First page,", "two lines"),
        shown("Caf\xe9"),
        uris=["https://example.org/a#part", "two.pdf", "mailto:me@example.org", "/?q=caf\xe9"],
        catalogue=b"/Lang(de-CH)",
        title="  A  “title” ",
    )
    page = read(apart, body)
    assert page.text == "First page, two lines Café"
    assert (page.title, page.language) == ("A “title”", "de-CH")
    assert (page.content_type, page.charset, page.base) == ("application/pdf", None, URL)
    assert page.links.urls == [
        "https://example.org/a",
        "http://h.test/papers/two.pdf",
        "http://h.test/?q=caf%C3%A9",
    ]
    assert set(page.links.vias) == {"link"}
    assert page.unresolved == {"not_http": 1}
    assert page == read_page(body, "application/pdf", URL, 100)


def test_references_are_resolved_against_the_documents_own_base(apart):
    body = pdf(shown("x"), uris=["two.pdf"], catalogue=b"/URI<</Base(https://example.org/d/)>>")
    assert read(apart, body).links.urls == ["https://example.org/d/two.pdf"]


def test_what_a_document_does_not_say(apart):
    page = read(apart, pdf(b""))
    assert (page.text, page.title, page.language, len(page.links)) == ("", None, None, 0)


def test_links_have_a_limit(apart):
    page = read(apart, pdf(shown("x"), uris=[f"/{n}" for n in range(20)]), max_links=5)
    assert (len(page.links), page.unresolved) == (5, {"link_limit": 15})


def text_or_reason(apart, body):
    try:
        return read(apart, body).text
    except ReaderError as error:
        return str(error)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Data format error"),
        (b"%PDF-1.7", "Data format error"),
        (b"<p>not found", "Data format error"),
        (pdf(shown("x"))[:300], "Data format error"),
        (document([b"<</Type/Catalog>>"]), "Data format error"),
        (pdf(shown("x"), trailer=b"/ID[<00><00>]/Encrypt " + PASSWORDED), "Incorrect password"),
    ],
)
def test_what_cannot_be_read_has_a_reason(apart, body, reason):
    with pytest.raises(ReaderError, match=reason):
        read(apart, body)


@pytest.mark.parametrize(
    "body",
    [
        pdf(shown("words"), shown("more"))[:-20],  # it does not say where its table is
        b"junk before\n" + pdf(shown("words"), shown("more")),
        pdf(shown("words"), shown("more")).replace(b"xref", b"xxxx"),
        pdf(shown("words"), b"(", shown("more"), b"[[[" * 1000),
    ],
)
def test_what_is_damaged_is_read_as_far_as_it_goes(apart, body):
    assert read(apart, body).text == "words more"


def test_a_page_that_is_none_is_left_out(apart):
    body = pdf(shown("words"), shown("gone"), shown("more")).replace(
        b"7 0 obj\n<</Type/Page", b"7 0 obj\n<</Tape/Xxxx"
    )
    assert read(apart, body).text in ("words more", "words gone more")


def test_a_long_document_ends_early(apart):
    begin = time.perf_counter()
    page = read(apart, pdf(*(shown(f"page {n}") for n in range(10_000))))
    seconds = time.perf_counter() - begin
    assert page.text.split()[-1] == str(reader.MOST_PAGES - 1)
    figure("parser", "PDF of 10,000 pages", seconds=round(seconds, 2), read=reader.MOST_PAGES)


@pytest.mark.parametrize("tree", [b"/Kids[2 0 R 2 0 R]/Count 100", b"/Kids[]/Count 2000000000"])
def test_pages_without_end(apart, tree):
    """A tree of pages that has itself as a branch, and one that counts more pages than there are."""
    body = document([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages%s>>" % tree])
    assert text_or_reason(apart, body).partition(" (")[0] in (
        "",
        "PdfiumError: Failed to load document",
    )


def test_much_text_is_cut(apart):
    """Twenty million characters in a file of a hundred kilobytes."""
    line = b"(%s)' " % (b"word " * 200)
    content = b"BT /F 1 Tf 1 TL 0 800 Td %sET" % (line * 500)
    body = pdf(*[content] * 40)
    assert len(body) < 200_000
    begin = time.perf_counter()
    page = read(apart, body)
    seconds = time.perf_counter() - begin
    assert 0.9 * reader.MOST_TEXT < len(page.text) <= reader.MOST_TEXT
    figure("parser", "PDF of 20 million characters", seconds=round(seconds, 1), read=len(page.text))


def bomb(kind):
    if kind == "a gigabyte of blanks":
        packer = zlib.compressobj(9)
        blanks = b"".join([packer.compress(b" " * 2**20) for _ in range(1024)]) + packer.flush()
        return pdf(b"").replace(stream(b""), stream(blanks, packed=1))
    if kind == "a thousand filters":
        return pdf(b"").replace(stream(b""), stream(b"x", 1000))
    forms = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
        stream(b"/X Do"),
    ]
    form = (
        b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 60/Resources<</XObject<</X %d 0 R>>>>>>"
    )
    forms += [form % n + b"stream\n" + b"/X Do " * 10 + b"\nendstream" for n in range(6, 16)]
    return document(forms)


@pytest.mark.parametrize("kind", ["a gigabyte of blanks", "a thousand filters", "forms in forms"])
def test_bombs_end(kind):
    """Two kilobytes, some hundred, and a form that shows ten times a form that shows ten times a form, ten deep."""
    body = bomb(kind)
    assert len(body) < 50_000
    with closing(Apart(Limits(apart_seconds=5), time.monotonic)) as apart:
        begin = time.perf_counter()
        said = text_or_reason(apart, body)
        seconds = time.perf_counter() - begin
    figure("parser", f"PDF bomb: {kind}", seconds=round(seconds, 1), said=said or "no text")
    assert said in ("", "its reader took more than 5 s", f"its reader crashed (signal {SIGABRT:d})")


@pytest.mark.parametrize("cut", range(10, 900, 45))
def test_no_damage_is_deadly(apart, cut):
    """Cut off, or with a few bytes of another kind: read, or refused with PDFium's reason."""
    whole = pdf(shown("words"), uris=["/a"], title="t")
    for body in (whole[:cut], whole[:cut] + b"\xff\0<<" + whole[cut + 4 :]):
        assert text_or_reason(apart, body).partition(":")[0] in ("", "words", "PdfiumError")


def test_speed(apart):
    body = pdf(*[shown(*["Some words on a line of a page like others." for _ in range(50)])] * 200)
    read(apart, body)
    begin = time.perf_counter()
    assert len(read(apart, body).text) > 400_000
    pages = 200 / (time.perf_counter() - begin)
    figure("parser", "PDF", pages_per_second=round(pages))
