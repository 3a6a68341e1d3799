from crawler.frontier.host import Host
from crawler.frontier.lease import RobotsRecord
from crawler.frontier.origins import Origins
from crawler.frontier.politeness import Clock
from crawler.frontier.records import HostRecord
from crawler.frontier.store import Store
from crawler.robots.rules import parse

HTTPS, PORT = "https://a.example", "https://a.example:8443"


def test_records_are_kept_by_origin_and_given_out_until_they_expire(tmp_path):
    store = Store(tmp_path, block_cache=1 << 20, write_buffer=1 << 20)
    origins, host = (
        Origins(store),
        Host(7, "a.example", HostRecord("a.example", 0, 0, Clock(), None)),
    )
    slow = parse(b"User-agent: *\nCrawl-delay: 7\nDisallow: /x\n", "raycrawl").pack()
    open_to_all = parse(b"", "raycrawl").pack()
    records = RobotsRecord(HTTPS, slow, 50.0), RobotsRecord(PORT, open_to_all, 60.0)
    batch = store.batch()
    assert origins.save(batch, host, ()) is None
    assert origins.save(batch, host, records[1:]) == 0.0
    assert origins.save(batch, host, records) == 7.0
    store.write(batch)
    assert origins.load(host, [HTTPS, PORT, "http://a.example"], 49.0) == records
    assert origins.load(host, [HTTPS, PORT], 50.0) == records[1:]
    assert origins.load(host, [PORT], 60.0) == ()
    assert origins.strangers(host, ["http://a.example", HTTPS]) == ("http://a.example",)
    other = Host(7, "b.example", HostRecord("b.example", 0, 0, Clock(), None))
    assert origins.strangers(other, ["http://b.example"]) == ()
    store.close()
