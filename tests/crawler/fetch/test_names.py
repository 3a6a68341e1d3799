"""What is known of names, and whether anybody can be asked: in virtual time."""

import pytest

from crawler.config import Dns
from crawler.fetch.names import (
    FAILURE_TTL,
    VERDICT_TTL,
    AddressCache,
    NoAddressError,
    NoSuchNameError,
    Outage,
    ResolverBusyError,
    ResolverDownError,
    ServerFailedError,
    literal,
    plain,
)


def test_an_answer_is_kept_for_its_ttl_within_the_bounds():
    cache = AddressCache(Dns(min_ttl=10, max_ttl=100))
    for name, ttl, kept in (("short", 1, 10), ("fair", 50, 50), ("long", 9999, 100)):
        cache.found(name, ("192.0.2.1",), ttl, 1000.0)
        assert cache.get(name, 1000.0 + kept - 0.1).told() == ("192.0.2.1",)
        assert cache.get(name, 1000.0 + kept) is None


@pytest.mark.parametrize(
    ("error", "kept"),
    [(NoSuchNameError, 60.0), (NoAddressError, 60.0), (ServerFailedError, FAILURE_TTL)],
)
def test_that_there_is_no_address_is_kept_as_long_as_the_reason_deserves(error, kept):
    cache = AddressCache(Dns(negative_ttl=60))
    cache.failed("none", error("reason"), 0.0)
    with pytest.raises(error, match="reason"):
        cache.get("none", kept - 0.1).told()
    assert cache.get("none", kept) is None


@pytest.mark.parametrize("error", [ResolverDownError, ResolverBusyError])
def test_our_own_trouble_is_told_and_forgotten(error):
    cache = AddressCache(Dns())
    with pytest.raises(error):
        cache.failed("any", error("reason"), 0.0).told()
    assert cache.get("any", 0.0) is None


def test_an_error_is_raised_anew_each_time():
    known = AddressCache(Dns()).failed("none", NoSuchNameError("reason"), 0.0)
    raised = []
    for _ in range(2):
        with pytest.raises(NoSuchNameError) as caught:
            known.told()
        raised.append(caught.value)
    assert raised[0] is not raised[1]


def test_the_oldest_names_are_forgotten():
    cache = AddressCache(Dns(), size=2)
    for name in ("a", "b", "a", "c"):
        cache.found(name, (name,), 60, 0.0)
    assert [cache.get(name, 1.0) is not None for name in "abc"] == [True, False, True]


def test_an_outage_begins_once_is_believed_for_a_while_and_ends_with_any_answer():
    outage = Outage()
    assert not outage.holds(0.0)
    assert not outage.answered()
    assert outage.silent(10.0)
    assert outage.holds(10.0 + VERDICT_TTL - 0.1)
    assert not outage.holds(10.0 + VERDICT_TTL)
    assert not outage.silent(40.0)
    assert outage.seconds(100.0) == 90.0
    assert outage.answered()
    assert not outage.holds(40.0)
    assert (outage.seconds(100.0), outage.answers) == (0.0, 2)


@pytest.mark.parametrize("host", ["a.example", "A.Example", "a.example.", "A.EXAMPLE."])
def test_a_name_has_one_plain_spelling(host):
    assert plain(host) == "a.example"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("127.0.0.1", True), ("::1", True), ("a.example", False), ("1.2.3.example", False), ("", False)],
)  # fmt: skip
def test_addresses_are_told_from_names(name, expected):
    assert literal(name) is expected
