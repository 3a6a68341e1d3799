"""The matcher against a naive one that tries everything, and in steps."""

from hypothesis import example, given
from hypothesis import strategies as st

from crawler.robots.match import MAX_PARTS, NO_MATCH, Matcher, Wild, rank_of


def naive(pattern, path):
    """RFC 9309 §2.2.3, word for word, in exponential time."""
    if pattern in ("", "$"):
        return pattern == "" or path == ""
    if pattern[0] == "*":
        return any(naive(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return path[:1] == pattern[0] and naive(pattern[1:], path[1:])


LETTERS = st.text("ab/", max_size=7)
PATHS = st.builds("/{}".format, LETTERS)
PATTERNS = st.builds(
    "{}{}{}".format, st.sampled_from("/*"), st.text("ab/*", max_size=5), st.sampled_from(["", "$"])
)


@given(PATTERNS, PATHS)
@example("/a*ab$", "/ab")
def test_one_pattern_takes_what_the_naive_matcher_takes(pattern, path):
    assert (Matcher([(1, pattern)]).best(path) == 1) is naive(pattern, path)


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=12), PATHS)
def test_the_best_of_many_is_the_naive_best(rules, path):
    ranked = [(rank_of(pattern, allow=allow), pattern) for allow, pattern in rules]
    taken = [rank for rank, pattern in ranked if naive(pattern, path)]
    assert Matcher(ranked).best(path) == max(taken, default=NO_MATCH)


@given(st.lists(st.text("ab", min_size=1, max_size=6), max_size=40), LETTERS)
def test_nested_prefixes(prefixes, path):
    ranked = [(rank_of(prefix, allow=False), prefix) for prefix in prefixes]
    taken = [rank for rank, prefix in ranked if path.startswith(prefix)]
    assert Matcher(ranked).best(path) == max(taken, default=NO_MATCH)


def test_a_shorter_prefix_holds_where_a_longer_one_nearly_does():
    matcher = Matcher([(rank_of("/a", allow=False), "/a"), (rank_of("/ab1", allow=False), "/ab1")])
    assert matcher.best("/ab2") == rank_of("/a", allow=False)


def test_a_prefix_made_long_by_stars_beats_a_longer_prefix():
    matcher = Matcher(
        [(rank_of("/a****", allow=True), "/a****"), (rank_of("/ab", allow=False), "/ab")]
    )
    assert matcher.best("/abc") == rank_of("/a****", allow=True)


class CountedPath(str):
    """A path that records where each search in it began."""

    __slots__ = ("starts",)

    def __new__(cls, text):
        path = super().__new__(cls, text)
        path.starts = []
        return path

    def find(self, part, start):
        self.starts.append(start)
        return super().find(part, start)


def test_two_hundred_stars_cost_two_hundred_searches():
    parts = ("a",) * 200
    path = CountedPath("/" + "a" * 5000)
    assert not Wild(0, "/", parts, "b").matches(path)
    assert path.starts == list(range(1, 201))
    missed = CountedPath("/" + "a" * 150)
    assert not Wild(0, "/", parts, None).matches(missed)
    assert len(missed.starts) == 151


def test_two_hundred_stars_through_the_matcher():
    pattern = "/" + "*a" * 200 + "*b$"
    matcher = Matcher([(1, pattern)])
    assert matcher.best("/" + "a" * 5000) == NO_MATCH
    assert matcher.best("/" + "a" * 5000 + "b") == 1


def test_past_the_most_parts_a_disallow_ends_at_its_first_star_and_an_allow_is_left_out():
    parts = [f"/x*{n}" for n in range(MAX_PARTS // 2)]
    late = [
        (rank_of("/y*z", allow=False), "/y*z"),
        (rank_of("/x*allowed", allow=True), "/x*allowed"),
    ]
    matcher = Matcher([(rank_of(part, allow=False), part) for part in parts] + late)
    assert matcher.best(f"/x{MAX_PARTS // 2 - 1}") >= rank_of("/x*1", allow=False)
    assert matcher.best("/x-allowed") == NO_MATCH
    assert matcher.best("/y") == rank_of("/y*z", allow=False)
    assert matcher.best("/z") == NO_MATCH
