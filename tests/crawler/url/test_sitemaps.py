import pytest

from crawler.url.sitemaps import INDEX, NESTED, PROBE, is_file, is_probe, probe_of, via_in_index


@pytest.mark.parametrize(("url", "probe"), [
    ("https://example.org/", "https://example.org/sitemap.xml"),
    ("http://example.org:8080/a/b?c=https://x/", "http://example.org:8080/sitemap.xml"),
    ("http://me:secret@[::1]:81/a", "http://[::1]:81/sitemap.xml"),
    ("http://h/", "http://h/sitemap.xml"),
])  # fmt: skip
def test_the_usual_place(url, probe):
    assert probe_of(url) == probe
    assert is_probe(probe)
    assert not is_probe(url)


@pytest.mark.parametrize(
    "url",
    ["https://example.org/a/sitemap.xml", "https://example.org/sitemap.xml?x", "https://e.org/?/sitemap.xml"],
)  # fmt: skip
def test_other_places_are_not(url):
    assert not is_probe(url)


def test_what_is_asked_for_as_a_sitemap():
    probe, other = "https://example.org/sitemap.xml", "https://example.org/other.xml"
    assert is_file(probe, "link", discover=True)
    assert not is_file(probe, "link", discover=False)
    assert is_file(probe, PROBE, discover=False)
    assert is_file(other, INDEX, discover=False)
    assert not is_file(other, "link", discover=True)


def test_indexes_go_two_levels_deep():
    assert [via_in_index(via) for via in (PROBE, INDEX, NESTED)] == [INDEX, NESTED, None]
