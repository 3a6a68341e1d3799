import pickle
import random
import re

import pytest

from crawler.errors import ConfigError
from crawler.url.patterns import Patterns

WORDS = ["a", "ab", "abc", "docs", "news", "x1", "pdf", "b/c"]
FORMS = ["/{}/", "(?i){}", r"^https?://(?:[^/]+\.)?{}\.example/", r"{}.*\d+$", r"\.{}(?:\?|$)", "[a-c]{}"]  # fmt: skip


def test_it_finds_what_one_search_after_the_other_finds():
    rng = random.Random(3)
    for _ in range(200):
        texts = [rng.choice(FORMS).format(rng.choice(WORDS)) for _ in range(rng.randint(1, 12))]
        patterns = Patterns(texts)
        for _ in range(20):
            words = rng.choices([*WORDS, "ABC", "9", "?"], k=4)
            url = f"https://{words[0]}.example/{'/'.join(words[1:])}" + rng.choice(
                [".pdf", "", "7"]
            )
            found = [number for number, text in enumerate(texts) if re.search(text, url)]
            assert patterns.first(url) == (found[0] if found else None), (texts, url)
            assert patterns.match(url) == bool(found)


def test_none_at_all():
    patterns = Patterns([])
    assert not patterns
    assert not patterns.match("a")
    assert patterns.first("a") is None


def test_more_than_one_index_can_hold():
    """RE2 gives up on so many, or finds nothing without a word; they are cut into slices, which keep their numbers."""
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=240)) for _ in range(1000)]
    patterns = Patterns(names)
    assert len(patterns._filters) > 1
    for number in (0, 1, 499, 500, 999):
        assert patterns.first(f"https://a.example/{names[number]}") == number
    assert not patterns.match("https://a.example/" + names[7][:-1])


def test_one_that_is_too_large_is_named():
    with pytest.raises(ConfigError, match="too large for RE2: '"):
        Patterns([f"{'abcdefgh' * 40_000}"])


def test_pickled_they_are_compiled_again():
    again = pickle.loads(pickle.dumps(Patterns(["x", "b"])))
    assert (again.first("ab"), again.match("a")) == (1, False)
