"""Near duplicates among pages as they are published: the same page in two releases of its documentation."""

import json
from pathlib import Path

import pytest

from crawler.dedup.simhash import distance, simhash
from crawler.page.page import read_page
from tests.shared import check, figure, need

# Exact Jaccard similarity of the sets of five-word runs: what is a near duplicate, and what surely is none.
NEAR, FAR = 0.95, 0.5

# (bits, share of the near pairs that must be within, share of the far pairs that may be)
EXPECTED = [(3, 0.93, 0.02), (6, 0.99, 0.05), (10, 1.0, 0.20)]


def fingerprint(path):
    page = read_page(path.read_bytes(), "text/html", "http://docs.example/", 100_000)
    return simhash(page.text.casefold())[0]


def installed_pairs():
    """Set, similarity and distance of the pairs whose packages are installed."""
    pairs = json.loads(need("dedup/debian_version_pairs.json").read_text())["pairs"]
    found = [
        (pair["set"], pair["jaccard5"], Path(pair["a"][1]), Path(pair["b"][1])) for pair in pairs
    ]
    found = [pair for pair in found if pair[2].exists() and pair[3].exists()]
    if not found:
        pytest.skip("none of the documentation packages is installed in two versions")
    return [(name, near, distance(fingerprint(a), fingerprint(b))) for name, near, a, b in found]


@pytest.mark.slow
@pytest.mark.conformance
def test_two_versions_of_a_page_are_near():
    pairs = installed_pairs()
    near = [bits for _, similarity, bits in pairs if similarity >= NEAR]
    far = [bits for _, similarity, bits in pairs if similarity < FAR]
    assert len(near) > 50
    assert len(far) > 20
    judged = []
    for limit, at_least, at_most in EXPECTED:
        recall = sum(bits <= limit for bits in near) / len(near)
        taken = sum(bits <= limit for bits in far) / len(far)
        reported = [similarity for _, similarity, bits in pairs if bits <= limit]
        figure(
            "near duplicates among versions of pages",
            f"within {limit} bits",
            pairs=len(pairs),
            recall=recall,
            taken_though_far=taken,
            reported=len(reported),
            precision=sum(similarity >= 0.8 for similarity in reported) / len(reported),
        )
        judged.append((limit, (recall >= at_least, taken <= at_most), (True, True)))
    check("simhash: versions of documentation pages", judged)
