"""Dates of sitemaps and feeds."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.moments import moment


def at(*fields):
    return datetime(*fields, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2005", at(2005, 1, 1)),
        ("2005-06", at(2005, 6, 1)),
        ("2005-06-07", at(2005, 6, 7)),
        ("2005-6-7", at(2005, 6, 7)),
        ("2005-06-07T08:09Z", at(2005, 6, 7, 8, 9)),
        ("2005-06-07T08:09+01:00", at(2005, 6, 7, 7, 9)),
        ("2005-06-07T08:09:10Z", at(2005, 6, 7, 8, 9, 10)),
        ("2005-06-07T08:09:10.5Z", at(2005, 6, 7, 8, 9, 10) + 0.5),
        ("2005-06-07T08:09:10.123456789012Z", at(2005, 6, 7, 8, 9, 10) + 0.123456789),
        ("2005-06-07T08:09:10-05:30", at(2005, 6, 7, 13, 39, 10)),
        ("2005-06-07T08:09:10+0100", at(2005, 6, 7, 7, 9, 10)),
        ("2005-06-07T08:09:10+01", at(2005, 6, 7, 7, 9, 10)),
        ("2005-06-07t08:09:10z", at(2005, 6, 7, 8, 9, 10)),
        ("2005-06-07 08:09:10", at(2005, 6, 7, 8, 9, 10)),
        ("2005-06-07 08:09:10 UTC", at(2005, 6, 7, 8, 9, 10)),
        ("\n 2005-06-07 \t", at(2005, 6, 7)),
        ("1969-12-31T23:59:59Z", -1.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", at(1994, 11, 6, 8, 49, 37)),
        ("06 Nov 94 08:49:37 +0100", at(1994, 11, 6, 7, 49, 37)),
        ("Sun, 6 Nov 1994 08:49 EST", at(1994, 11, 6, 13, 49)),
        ("Sun, 06 Nov 1994 08:49:37", at(1994, 11, 6, 8, 49, 37)),
    ],
)
def test_dates(text, expected):
    assert moment(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2005-02-31", "2005-13", "0000-00-00T00:00:00Z", "-0001-11-30T00:00:00+00:00", "20050607",
     "0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59-02:00",
     "Sun, 06 Nov 1994 08:49:37 +9999999999999999", "06 Nov 1994 08:49:37 -99999999999999999999",
     "2005-06-07T25:00Z", "31 Feb 2005 00:00:00 GMT", "٢٠٠٥", "2005-06-07T08:09:10+01:00 or so"],
)  # fmt: skip
def test_no_dates(text):
    assert moment(text) is None


@given(
    st.text()
    | st.from_regex(r"[0-9]{1,5}-[0-9]{1,3}-[0-9]{1,3}T[0-9:.+-]{1,20}")
    | st.from_regex(r"[0-9]{1,3} Nov [0-9]{1,5} 08:49:37 [+-][0-9]{1,20}")
)
def test_any_text(text):
    found = moment(text)
    assert found is None or 1 < datetime.fromtimestamp(found, UTC).year < 9999


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(1000, 1, 2), datetime(9998, 12, 30), timezones=ZONES))  # noqa: DTZ001
def test_what_python_writes_is_read(when):
    assert moment(when.isoformat()) == pytest.approx(when.timestamp(), abs=1e-4)
    assert moment(format_datetime(when)) == pytest.approx(when.timestamp(), abs=1)
