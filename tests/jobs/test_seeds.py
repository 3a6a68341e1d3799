"""Seeds: what can be used is used, what cannot stops the start with one clear line."""

import gzip

import pytest

from crawler.config import Config, Dataset
from crawler.dataset.journal import Journal
from crawler.dataset.output import Output
from crawler.dataset.rows import RowBuilder
from crawler.errors import InputError
from crawler.url.admit import Admission
from jobs.seeds import read_seeds
from tests.crawler.dataset.samples import fetched, listing, outcome


def test_a_file_and_arguments_are_one_set(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text(
        "\ufeff# comment\n\nhttp://b.test\n  http://a.test/x#part  \nSitemap: http://b.test/map\n",
        encoding="utf-8",
    )
    assert read_seeds(["http://b.test/"], file, ["HTTP://c.test/map.gz"]) == (
        "Sitemap: http://b.test/map", "Sitemap: http://c.test/map.gz", "http://a.test/x", "http://b.test/",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "example.com",
            "argument: not an http or https URL: 'example.com'; did you mean https://example.com?",
        ),
        ("ftp://example.com/", "argument: not an http or https URL: 'ftp://example.com/'"),
        ("http://", "argument: not an http or https URL: 'http://'"),
    ],
)
def test_a_bad_seed_is_named(text, says):
    with pytest.raises(InputError) as caught:
        read_seeds([text], None)
    assert str(caught.value) == says


def test_a_bad_sitemap_is_named():
    with pytest.raises(InputError, match=r"^--sitemap: not an http or https URL: 'map\.xml'"):
        read_seeds([], None, ["map.xml"])


@pytest.mark.parametrize("lines", [1, 20_000])
def test_a_bad_line_is_located(tmp_path, lines):
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.test/\n" * lines + "nonsense\n")
    says = rf"seeds\.txt:{lines + 1}: not an http or https URL: 'nonsense'; did you mean https://nonsense\?$"
    with pytest.raises(InputError, match=says):
        read_seeds([], file)


@pytest.mark.parametrize("line", [
    "http://a.test/\tscore=10", "http://a.test/ # home", "http://a.test/ http://b.test/", "http://a.test/\rhttp://b.test/",
    "Sitemap: http://a.test/ 1", "nonsense here",
])  # fmt: skip
def test_a_line_is_one_url_and_nothing_else(tmp_path, line):
    """The URL parser would make one URL of all of it, such as `http://a.test/score=10`."""
    file = tmp_path / "seeds.txt"
    file.write_text(f"http://c.test/\n  {line}\n")
    with pytest.raises(InputError, match=r"seeds\.txt:2: a blank in a URL, or more than a URL: '"):
        read_seeds([], file)


def test_a_file_of_something_else_is_not_shown_whole(tmp_path):
    file = tmp_path / "seeds.bin"
    file.write_text("x" * 100_000)
    with pytest.raises(InputError) as caught:
        read_seeds([], file)
    assert len(str(caught.value)) < 1000


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: cannot read the seeds: No such file"):
        read_seeds([], tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("octets", "says"),
    [(b"\xff\xfe\x00", "not UTF-8 text"), (b"\x1f\x8b\xff\xfe", "cannot be unzipped"),
     (gzip.compress(b"http://a.test/\n" * 99, mtime=0)[:-9], "cannot be unzipped")],
)  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path, octets, says):
    file = tmp_path / "seeds"
    file.write_bytes(octets)
    with pytest.raises(InputError, match=rf"^{file}: .*{says}"):
        read_seeds([], file)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lists_and_sitemaps_may_be_zipped_whatever_their_names(tmp_path, pack):
    file = tmp_path / "seeds.txt"
    urls = tuple(f"http://a.test/{n:05}" for n in range(9000))
    file.write_bytes(pack("\n".join(urls).encode()))
    assert read_seeds([], file) == urls
    file.write_bytes(pack(listing("urlset", urls)))
    assert read_seeds([], file) == urls
    file.write_bytes(pack(listing("sitemapindex", urls[:1])))
    assert read_seeds([], file) == (f"Sitemap: {urls[0]}",)


@pytest.mark.parametrize(
    ("urls", "says"),
    [([], "without entries"), (["/a", "http://a.test/"], "1 entries are no http or https URLs")],
)
def test_a_sitemap_that_names_no_pages_is_refused(tmp_path, urls, says):
    file = tmp_path / "map.xml"
    file.write_bytes(listing("urlset", urls))
    with pytest.raises(InputError, match=says):
        read_seeds([], file)


def test_the_pages_of_an_earlier_crawl_are_seeds(tmp_path):
    output, config = Output.open(str(tmp_path)), Config()
    with pytest.raises(InputError, match=r"nor the output of a crawl \(it has no crawl\.json\)"):
        read_seeds([], tmp_path)
    seeds = ["http://a.test/"]
    output.claim(output.judge(seeds, config, crawl_id="1", version="0", now=0.0))
    with pytest.raises(InputError, match="no pages yet"):
        read_seeds([], tmp_path)
    outcomes = [
        outcome("http://a.test/1"), outcome("http://a.test/2"), outcome("http://a.test/gone", kind="http_error"),
        outcome("http://a.test/sitemap.xml", body=listing("urlset", seeds)),
    ]  # fmt: skip
    builder = RowBuilder(config, Admission(config, seeds), "raycrawl")
    rows = builder.build(fetched(outcomes), {1: "http://a.test/1"}).rows
    journal = Journal(output, 0, Dataset(sync=False))
    journal.open(1, 0.0)
    journal.append(1, 1, rows, 0.0)
    journal.close(0.0)
    assert read_seeds([], tmp_path) == ("http://a.test/1",)
