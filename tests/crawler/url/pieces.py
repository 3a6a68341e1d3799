"""URLs and references made of those of the web-platform tests: each of them, taken apart, put together anew."""

import json
import re

from hypothesis import strategies as st

from tests.shared import need

_CASES = [
    case
    for case in json.loads(need("urls/wpt/urltestdata.json").read_text(encoding="utf-8"))
    if not isinstance(case, str)
]
_SURROGATE = re.compile("[\ud800-\udfff]")
_CUTS = re.compile(r"([/\\?#:@.%&=;\[\]|^ \t\n]+)")


def _scalar(text):
    """What a DOM hands to its parser; other implementations take no lone surrogates at all."""
    return _SURROGATE.sub("\ufffd", text)


REFERENCES = sorted({_scalar(case["input"]) for case in _CASES})
URLS = sorted({_scalar(case["href"]) for case in _CASES if not case.get("failure")})
BASES = sorted({*URLS, *(_scalar(case["base"]) for case in _CASES if case["base"])})
_PIECES = sorted({piece for text in [*REFERENCES, *BASES] for piece in _CUTS.split(text) if piece})


@st.composite
def _mutated(draw, texts):
    """One of the texts with up to three of its pieces left out, replaced, or put in."""
    parts = _CUTS.split(draw(st.sampled_from(texts)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(parts)))
        new = draw(st.lists(st.sampled_from(_PIECES), max_size=1))
        parts[at : at + draw(st.integers(0, 1))] = new
    return "".join(parts)


references = _mutated(REFERENCES)
_WEB = [base for base in BASES if base.startswith(("http://", "https://"))]
bases = st.one_of(*[st.sampled_from(_WEB)] * 3, _mutated(_WEB), st.sampled_from(BASES))
urls = _mutated(URLS)
