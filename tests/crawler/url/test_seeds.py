import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url.seeds import Seed, read


@pytest.mark.parametrize(("text", "seed"), [
    ("https://example.org/", Seed("https://example.org/")),
    ("Sitemap: https://example.org/map.xml", Seed("https://example.org/map.xml", sitemap=True)),
    ("SITEMAP :https://example.org/map.xml", Seed("https://example.org/map.xml", sitemap=True)),
    ("https://example.org/sitemap:1", Seed("https://example.org/sitemap:1")),
])  # fmt: skip
def test_a_line_is_a_seed(text, seed):
    assert read(text) == seed


@given(st.builds(Seed, st.from_regex(r"https?://[a-z]+/[a-z: ]*", fullmatch=True), st.booleans()))
def test_it_is_written_as_it_is_read(seed):
    assert read(str(seed)) == seed
