"""A fault of ours behind the readers of pages costs the one row. None is known: here one is put in."""

import pytest

from crawler.dataset.recent import Recent
from crawler.dataset.rows import RowBuilder
from crawler.errors import ApartError
from crawler.url.admit import Admission
from tests.crawler.dataset.samples import PLAIN, SEEDS, fetched, outcome, page

POISON = "https://example.org/poison"
LINKED = [f"https://example.org/{n}" for n in range(6)]
OUTCOMES = [
    outcome(
        "https://example.org/first", body=page(*(f"<a href={url}>x</a>" for url in LINKED[:2]))
    ),
    outcome(POISON, body=page(*(f"<a href={url}>x</a>" for url in LINKED[1:5]))),
    outcome("https://example.org/gone", kind="http_error", http_status=404, body=None),
    outcome("https://example.org/last", body=page(*(f"<a href={url}>x</a>" for url in LINKED[2:]))),
]
DUPLICATES = {3: "https://example.org/elsewhere"}


@pytest.fixture
def building(monkeypatch):
    """A builder that fails at one URL after its links were noted as sent on."""
    recent = Recent(1000)
    builder = RowBuilder(PLAIN, Admission(PLAIN, SEEDS), "raycrawl", recent)
    recent.begin(0, 1, 0)
    give, faults = builder._selector.give, []

    def failing(source, given, into):
        error = give(source, given, into)
        if source.url == POISON and given.links:
            faults.append(source.url)
            raise fault
        return error

    fault = ZeroDivisionError("a fault of ours")
    monkeypatch.setattr(builder._selector, "give", failing)

    def build(outcomes, error=fault):
        nonlocal fault
        fault = error
        return builder.build(fetched(outcomes), DUPLICATES), faults

    return build


def test_one_outcome_is_set_aside_and_all_others_are_what_they_were(building):
    parsed, faults = building(OUTCOMES)
    assert len(faults) == 2  # together with the others, and alone
    well = RowBuilder(PLAIN, Admission(PLAIN, SEEDS), "raycrawl").build(
        fetched(OUTCOMES), DUPLICATES
    )
    rows, expected = parsed.rows.to_pylist(), well.rows.to_pylist()
    failed = rows.pop(1)
    del expected[1]
    assert rows == expected
    assert (failed["kind"], failed["error"]) == (
        "parse_failed",
        "ZeroDivisionError: a fault of ours",
    )
    assert (failed["url"], failed["body"]) == (POISON, OUTCOMES[1]["body"])
    assert failed["outlinks"] is failed["text"] is None
    assert parsed.settled["key"].to_pylist() == well.settled["key"].to_pylist()
    assert parsed.counters["rows.parse_failed"] == 1
    assert parsed.counters["rows.fetched"] == 2
    assert parsed.counters["rows.duplicate"] == 1
    assert parsed.counters["links.found"] == parsed.links.num_rows + sum(
        count for name, count in parsed.counters.items() if name.startswith("links.") and name != "links.found"
    )  # fmt: skip


def test_links_that_it_had_noted_are_sent_with_who_has_them_too(building):
    outcomes = [*OUTCOMES[:3], outcome("https://example.org/more"), OUTCOMES[3]]
    parsed, _ = building(outcomes)
    assert set(parsed.links["url"].to_pylist()) == set(LINKED)


def test_what_is_no_fault_of_a_page_is_raised(building):
    with pytest.raises(ApartError):
        building(OUTCOMES, ApartError("no memory"))
