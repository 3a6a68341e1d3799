"""SimHash: exact cases of two other projects, and what it finds among real texts."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.simhash import combine, distance, shingles, simhash, word_hashes
from tests.shared import check, need


@pytest.fixture(scope="module")
def cases():
    return json.loads(need("dedup/simhash_cases.json").read_text())


@pytest.mark.conformance
def test_combining_hashes(cases):
    judged = [
        (number, combine(np.array(case["hashes"], dtype=np.uint64)) % 2**64, case["expected"])
        for number, case in enumerate(cases["compute"])
    ]
    check("simhash: hashes combined", judged)


@pytest.mark.conformance
def test_distances(cases):
    check(
        "simhash: distances",
        [
            ((case["a"], case["b"]), distance(case["a"], case["b"]), case["distance"])
            for case in cases["hamming"]
        ],
    )
    judged = []
    for number, case in enumerate(cases["find_all"]):
        hashes = sorted(case["hashes"])
        pairs = [
            [a, b]
            for i, a in enumerate(hashes)
            for b in hashes[i + 1 :]
            if distance(a, b) <= case["max_distance"]
        ]
        judged.append((number, pairs, sorted(sorted(pair) for pair in case["expected_pairs"])))
    check("simhash: all pairs within a distance", judged)


@pytest.mark.conformance
def test_relations_of_short_texts(cases):
    relations = {
        "distance == 0": lambda d: d == 0,
        "distance < 3": lambda d: d < 3,
        "distance > 0": lambda d: d > 0,
    }
    judged = []
    for case in cases["text_pairs"]:
        apart = distance(simhash(case["a"].casefold())[0], simhash(case["b"].casefold())[0])
        name = (case["a"], case["b"], case["relation"], apart)
        judged.append((name, relations[case["relation"]](apart), True))
    check("simhash: relations of short texts", judged)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" .,!? ", 0),
        ("one", 1),
        ("One, two; three!", 3),
        ("naïve café", 2),
        ("हिन्दी भाषा", 2),  # vowel signs are marks, inside a word
        ("日本語 text", 4),
        ("ไทย", 3),
        ("ab日c", 3),
        ("x" * 1000, 1),
        ("\U000e0100\U0010ffff", 0),
    ],
)
def test_words(text, words):
    assert simhash(text)[1] == len(word_hashes(text)) == words


def test_the_value_is_the_same_on_every_machine():
    assert simhash("the quick brown fox jumps over the lazy dog") == (940245522265127043, 9)


def test_case_and_punctuation_do_not_count():
    assert simhash("It's the END, my friend.".casefold()) == simhash("it s  the end; my friend")


def test_word_order_counts():
    assert (
        distance(simhash("one two three four five")[0], simhash("five four three two one")[0]) > 10
    )


def test_fewer_words_than_a_feature():
    assert simhash("word")[0] == combine(word_hashes("word")) != 0
    assert list(shingles(word_hashes("a b"), 3)) == list(shingles(word_hashes("a b"), 2))


def test_only_a_bounded_part_of_a_text_is_looked_at():
    assert simhash("a " * 600_000)[1] == 500_000


@given(st.text())
def test_any_text_has_a_signed_value(text):
    value, words = simhash(text.casefold())
    assert -(2**63) <= value < 2**63
    assert 0 <= words <= 3 * len(text)  # folding case makes one letter up to three


@given(st.lists(st.integers(0, 2**64 - 1), max_size=40))
def test_combining_is_a_vote_of_bits(hashes):
    expected = sum(
        1 << bit for bit in range(64) if 2 * sum(h >> bit & 1 for h in hashes) > len(hashes)
    )
    assert combine(np.array(hashes, dtype=np.uint64)) % 2**64 == expected


# The pairs that are only found when more bits may differ, by the limit.
FURTHER_APART = {
    3: {frozenset(("t3466", "t7563")): "the fingerprints differ in 4 to 6 bits"},
}


@pytest.mark.slow
@pytest.mark.conformance
def test_the_near_duplicates_among_a_thousand_articles():
    with gzip.open(
        need("dedup/minhash_articles_1000.train.gz"), "rt", encoding="utf-8", errors="replace"
    ) as file:
        articles = dict(line.split(" ", 1) for line in file)
    truth = {
        frozenset(line.split())
        for line in need("dedup/minhash_articles_1000.truth").read_text().splitlines()
    }
    names = list(articles)
    values = np.array([simhash(articles[name].casefold())[0] for name in names]).astype(np.uint64)
    close = np.bitwise_count(values[:, None] ^ values[None, :])

    def reported(limit):
        pairs = np.argwhere(np.triu(close <= limit, 1))
        return {frozenset((names[a], names[b])) for a, b in pairs}

    for limit in (3, 6, 10):
        found = reported(limit)
        check(
            f"simhash: recall of near duplicates within {limit} bits",
            [(pair, pair in found, True) for pair in truth],
            FURTHER_APART.get(limit),
        )
        check(
            f"simhash: precision of near duplicates within {limit} bits",
            [(pair, pair in truth, True) for pair in found],
        )
    assert len(reported(3)) == 9
