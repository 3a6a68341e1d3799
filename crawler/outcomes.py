"""What can come of one URL, and what is done about it: a closed list and one table.

An outcome that may be tried again has no row; the last attempt has. So a URL ends as exactly one row a visit.
"""

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """How one URL ended. The names are the values of the dataset's `kind` column."""

    FETCHED = "fetched"
    SITEMAP = "sitemap"
    NOT_MODIFIED = "not_modified"
    REDIRECT = "redirect"
    HTTP_ERROR = "http_error"
    ROBOTS_DENIED = "robots_denied"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    DNS_ERROR = "dns_error"
    CONNECT_ERROR = "connect_error"
    TLS_ERROR = "tls_error"
    TIMEOUT = "timeout"
    TOO_SLOW = "too_slow"
    PROTOCOL_ERROR = "protocol_error"
    BLOCKED_ADDRESS = "blocked_address"
    EXCLUDED_TYPE = "excluded_type"
    GAVE_UP = "gave_up"
    PARSE_FAILED = "parse_failed"


class Retry(NamedTuple):
    """What follows an outcome.

    `attempts`: how often a URL is tried in all before the outcome is final.
    `wait`: seconds before the URL may be tried again (the host's own back-off may be longer).
    `against_host`: the host is failing, not just the URL: stop asking it now, and take a step of back-off.
    """

    attempts: int
    wait: float
    against_host: bool


FINAL = Retry(1, 0.0, against_host=False)

RETRIES: dict[Kind, Retry] = {
    Kind.FETCHED: FINAL,
    Kind.SITEMAP: FINAL,
    Kind.NOT_MODIFIED: FINAL,
    Kind.REDIRECT: FINAL,
    Kind.HTTP_ERROR: FINAL,
    Kind.ROBOTS_DENIED: FINAL,
    # Of an origin that never answered, where another one of the host does; else the host's own schedule ends it.
    Kind.ROBOTS_UNREACHABLE: Retry(4, 300.0, against_host=False),
    Kind.DNS_ERROR: Retry(3, 60.0, against_host=True),
    Kind.CONNECT_ERROR: Retry(3, 30.0, against_host=True),
    Kind.TLS_ERROR: Retry(2, 60.0, against_host=True),
    Kind.TIMEOUT: Retry(3, 30.0, against_host=True),
    Kind.TOO_SLOW: FINAL,
    Kind.PROTOCOL_ERROR: Retry(2, 30.0, against_host=False),
    Kind.BLOCKED_ADDRESS: FINAL,
    Kind.EXCLUDED_TYPE: FINAL,
    Kind.GAVE_UP: FINAL,
    Kind.PARSE_FAILED: FINAL,
}

# Statuses that say "not now". 429 and 503 are the two a server uses to slow a client down (RFC 6585 §4, RFC 9110
# §15.6.4); the other server errors are worth one more try, and are the URL's fault as likely as the host's.
STATUS_RETRIES: dict[int, Retry] = {
    429: Retry(5, 30.0, against_host=True),
    503: Retry(5, 30.0, against_host=True),
    500: Retry(2, 30.0, against_host=False),
    502: Retry(3, 30.0, against_host=False),
    504: Retry(3, 30.0, against_host=False),
    408: Retry(2, 30.0, against_host=False),
}

# A page is an answer with a body that is not a sitemap; the budget of pages counts these.
PAGES = frozenset({Kind.FETCHED, Kind.PARSE_FAILED})

# Outcomes after which an origin is known to be there and to answer.
ANSWERED = frozenset({Kind.FETCHED, Kind.SITEMAP, Kind.NOT_MODIFIED, Kind.REDIRECT, Kind.HTTP_ERROR,
                      Kind.ROBOTS_DENIED, Kind.EXCLUDED_TYPE, Kind.PARSE_FAILED})  # fmt: skip

_UNREACHED = frozenset({Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TIMEOUT})


def unreached(kind: Kind, status: int | None) -> bool:
    """Whether an outcome is how hosts look to a machine that has no network."""
    return status is None and kind in _UNREACHED


def retry(kind: Kind, status: int | None = None) -> Retry:
    """The rule for an outcome; `status` matters for `HTTP_ERROR` only."""
    if kind is Kind.HTTP_ERROR and status is not None:
        return STATUS_RETRIES.get(status, FINAL)
    return RETRIES[kind]
