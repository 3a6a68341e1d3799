"""Seeds find their shards, and none disappears without a word."""

import logging

from actors import sowing
from actors.ring import Ring
from actors.sowing import parcels
from crawler.config import Config
from crawler.frontier.links import LINKS
from crawler.url.admit import Admission
from crawler.url.keys import slot_of


def sown(seeds, shards=4, config=None):
    config = config or Config()
    return list(parcels(seeds, Admission(config, seeds), Ring(shards).owners))


def test_every_seed_goes_to_the_owner_of_its_site():
    seeds = [f"https://host{n}.example/" for n in range(20)]
    found = sown(seeds)
    assert sorted(url for _, links in found for url in links["url"].to_pylist()) == sorted(seeds)
    owners = Ring(4).owners
    for owner, links in found:
        assert links.schema == LINKS
        for row in links.to_pylist():
            assert owners[slot_of(row["site"])] == owner
            assert (row["depth"], row["hops"], row["found_via"], row["found_on"]) == (
                0,
                0,
                "seed",
                None,
            )
    assert len({owner for owner, _ in found}) > 1


def test_many_seeds_travel_in_several_messages(monkeypatch):
    monkeypatch.setattr(sowing, "SEED_ROWS", 3)
    found = sown([f"https://host.example/{n}" for n in range(7)])
    assert [links.num_rows for _, links in found] == [3, 3, 1]


def test_a_seed_outside_of_the_crawl_is_told(caplog):
    config = Config.model_validate({"scope": {"exclude": ["/private"]}})
    with caplog.at_level(logging.WARNING):
        found = sown(["https://a.example/private", "https://a.example/"], config=config)
    assert [links["url"].to_pylist() for _, links in found] == [["https://a.example/"]]
    assert "1 seed(s)" in caplog.text
    assert "https://a.example/private (" in caplog.text


def test_a_sitemap_is_sown_as_one(caplog):
    config = Config.model_validate({"scope": {"include": ["/wanted"]}})
    seeds = ["Sitemap: https://a.example/map.xml", "https://b.example/"]
    rows = [row for _, links in sown(seeds, config=config) for row in links.to_pylist()]
    assert {(row["url"], row["found_via"]) for row in rows} == {
        ("https://a.example/map.xml", "sitemap_seed"), ("https://b.example/", "seed"),
    }  # fmt: skip
    assert caplog.text == ""
