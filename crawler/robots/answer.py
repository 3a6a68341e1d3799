"""What the answer to a request for robots.txt means for its origin: RFC 9309 §2.3.1 as a table.

It sees a status code only: fetching, following redirects and trying again are others' work.
"""

from enum import StrEnum


class Verdict(StrEnum):
    """What to do with one answer."""

    PARSE = "parse"
    ALLOW_ALL = "allow_all"
    UNREACHABLE = "unreachable"
    REDIRECT = "redirect"


# The first range that holds the status decides. 429 says "not now" about the whole server, so it is
# no licence to go on.
_TABLE: tuple[tuple[range, Verdict], ...] = (
    (range(200, 300), Verdict.PARSE),
    (range(300, 400), Verdict.REDIRECT),
    (range(429, 430), Verdict.UNREACHABLE),
    (range(400, 500), Verdict.ALLOW_ALL),
)

# A redirect after the last one that is followed (§2.3.1.2): the file is unavailable.
AFTER_LAST_REDIRECT = Verdict.ALLOW_ALL

# Longer than any real place of a robots.txt: redirects wait in memory, and a header may be long.
MAX_TARGET = 4096


def judge(status: int | None) -> Verdict:
    """The verdict on one answer; `None` is no answer at all (timeout, DNS, TLS, connection).

    What the table does not know (5xx, and codes that HTTP does not have) counts as unreachable: the
    careful reading.
    """
    if status is not None:
        for statuses, verdict in _TABLE:
            if status in statuses:
                return verdict
    return Verdict.UNREACHABLE


def follows(target: str | None, hops: int, max_redirects: int) -> bool:
    """Whether a redirect to `target` (`None`: to no web page) is followed after `hops` others."""
    return target is not None and hops < max_redirects and len(target) <= MAX_TARGET
