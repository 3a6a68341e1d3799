"""The frontier against a model of what became of every URL, with crashes in between; and against the servers' logs."""

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.frontier.errands import Told, patience
from crawler.frontier.frontier import Frontier
from crawler.frontier.lease import Errand, Heard, Incident, RetryLater, RobotsRecord
from crawler.frontier.records import Live, unpack_url
from crawler.outcomes import Kind
from crawler.robots.rules import parse
from crawler.url.keys import slot_of
from tests.crawler.frontier.builders import config, fates, link, links, report, row, settled

HOSTS = ("a.example", "b.example", "c.example")
OWN_DELAY = {"a.example": 2.0, "b.example": 0.5, "c.example": 2.0}
EPSILON = 1e-6
CONFIG = config(
    politeness={
        "delay": 2.0, "hosts": {"b.example": {"delay": 0.5}}, "incidents_before_parking": 2, "park_seconds": 8.0,
        "parks_before_giving_up": 1, "backoff_base": 4.0,
        "backoff_cap": 20.0,
    },
    frontier={"bloom_capacity": 8},
    runtime={"urls_per_host": 3},
)  # fmt: skip


class FrontierMachine(RuleBasedStateMachine):
    """`state`: key to "queued", "leased" or "settled". `lent`: host to its lease. `fetched`: leased and answered.

    `resting`: host to the errand that it waits for, and until when.
    """

    def __init__(self):
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.now = 1_000_000.0
        self.state, self.attempt, self.lent, self.fetched = {}, {}, {}, {}
        self.last_end, self.resting = {}, {}
        self.settled_rows = 0
        self.mark = 0
        self.open()

    def open(self):
        self.frontier = Frontier(
            Path(self.directory.name), CONFIG, rng=random.Random(1), now=self.now
        )
        self.frontier.set_epoch(self.frontier.epoch + 1)

    def teardown(self):
        self.frontier.close()
        self.directory.cleanup()

    def contact(self, host, start):
        """One request; the server's log must show the delay."""
        assert start >= self.last_end.get(host, 0.0) + OWN_DELAY[host] - EPSILON, (host, start)
        self.last_end[host] = start + 0.1

    @rule(
        found=st.lists(
            st.tuples(
                st.sampled_from(HOSTS), st.integers(1, 9), st.integers(0, 5), st.integers(0, 255)
            ),
            max_size=12,
        )
    )
    def discover(self, found):
        rows = [
            link(
                host,
                HOSTS.index(host) * 100 + key,
                slot=slot_of(host),
                depth=depth,
                priority=priority,
            )
            for host, key, depth, priority in found
        ]
        counts = self.frontier.discover(links(*rows), self.now)
        new = {found["key"] for found in rows} - set(self.state)
        assert counts == fates(new=len(new), known=len(rows) - len(new))
        self.state |= dict.fromkeys(new, "queued")
        self.attempt |= dict.fromkeys(new, 0)

    @rule(
        seconds=st.floats(1.0, 10.0),
        hosts=st.integers(1, 3),
        urls=st.integers(1, 6),
        apart=st.booleans(),
    )
    def lease(self, seconds, hosts, urls, apart):
        ready = self.frontier.next_ready(self.now, common=not apart, apart=apart) == self.now
        given_up = bool(self.frontier._places.given_up)
        lease = self.frontier.lease(
            self.now, deadline=self.now + seconds, max_hosts=hosts, max_urls=urls, apart=apart
        )
        assert (lease is not None) == ready or given_up, (lease, ready)
        if lease is None:
            return
        assert 1 <= len(lease.hosts) <= hosts
        self.resting = {
            host: (errand, until)
            for host, (errand, until) in self.resting.items()
            if until > self.now
        }
        assert lease.size <= urls
        for host in lease.hosts:
            assert host.host not in self.lent
            assert host.not_before <= self.now
            assert host.urls or host.errands
            assert not host.urls or host.host not in self.resting
            assert len(host.urls) <= max(1, 1 + seconds / host.delay)
            self.lent[host.host] = host
            self.hand_out(host)

    def hand_out(self, host):
        for url in host.urls:
            assert self.state[url.key] == "queued"
            assert url.attempt == self.attempt[url.key]
            self.state[url.key] = "leased"

    @precondition(lambda self: self.lent)
    @rule(
        data=st.data(),
        trouble=st.sampled_from(["", "", "incident", "robots", "retry_after", "retries", "errand"]),
        rules=st.booleans(),
    )
    def serve(self, data, trouble, rules):
        host = self.lent.pop(data.draw(st.sampled_from(sorted(self.lent))))
        self.finish(host, data.draw(st.integers(0, len(host.urls))), trouble, rules)

    @rule(seconds=st.floats(1.0, 10.0))
    def work(self, seconds):
        """What mostly happens, so that it is tried often: all that is ready is leased, asked and reported."""
        self.lease(seconds, 3, 6, apart=False)
        self.lease(seconds, 3, 6, apart=True)
        for name in sorted(self.lent):
            host = self.lent.pop(name)
            self.finish(host, max(1, len(host.urls) - 1), "", rules=False)

    def finish(self, host, tried, trouble, rules):
        start = max(self.now, host.not_before)
        heard = tuple(Heard(url, start, moved_to="http://y.example/r") for url in host.errands)
        for _ in range(tried + len(heard)):
            self.contact(host.host, start)
            start = self.last_end[host.host] + host.delay
        self.now = max(self.now, self.last_end.get(host.host, 0.0))
        answered, unused = list(host.urls[:tried]), [url.key for url in host.urls[tried:]]
        retries = []
        if trouble == "retries" and answered:
            failed = answered.pop()
            retries.append(RetryLater(failed.key, Kind.TIMEOUT, None, 5.0))
            self.state[failed.key] = "queued"
            self.attempt[failed.key] += 1
        waits = {"incident": None, "retry_after": 7.0}
        incident = Incident(Kind.HTTP_ERROR, 503, waits[trouble]) if trouble in waits else None
        errand = None
        if trouble == "errand" and host.urls:
            errand = Errand(f"https://{host.host}", "http://far.example/r", 1)
        robots = (
            RobotsRecord(f"https://{host.host}", parse(b"", "raycrawl").pack(), self.now + 50.0),
        )
        end = report(
            host.host,
            self.last_end.get(host.host, self.now - host.delay) + host.delay,
            ended_at=self.last_end[host.host] if tried or heard else None,
            successes=len(answered),
            robots=robots if rules else (),
            robots_failure=f"https://{host.host}" if trouble == "robots" else None,
            incident=incident,
            unused=tuple(unused),
            retries=tuple(retries),
            errand=errand,
            heard=heard,
        )
        self.frontier.report([end], self.now)
        if errand:
            self.resting[host.host] = errand, self.now + patience(CONFIG)
        self.state |= dict.fromkeys(unused, "queued")
        self.fetched |= {url.key: row(host, url, fetched_at=self.now) for url in answered}

    @rule(name=st.sampled_from(HOSTS), again=st.booleans(), page=st.integers(1, 2))
    def errand(self, name, again, page):
        errand = Errand("http://x.example", f"https://{name}/{page}", 1)
        self.frontier.relay.post([errand, errand] if again else [errand], self.now)

    @precondition(lambda self: self.resting)
    @rule(data=st.data(), end=st.sampled_from(["rules", "failure", "home", "unknown"]))
    def tell(self, data, end):
        name = data.draw(st.sampled_from(sorted(self.resting)))
        errand, _ = self.resting[name]
        heard = Heard(errand.url, self.now)
        if end == "rules":
            heard = heard._replace(rules=parse(b"", "raycrawl").pack())
        elif end == "failure":
            heard = heard._replace(failure=Incident(Kind.TIMEOUT, None, None))
        elif end == "home":
            heard = heard._replace(moved_to=f"https://{name}/r")
        if end != "unknown":
            del self.resting[name]
        told = Told(errand._replace(hops=9) if end == "unknown" else errand, heard)
        self.frontier.relay.post([told, told], self.now)
        after = [one for one in self.frontier.relay.errands.outgoing() if isinstance(one, Errand)]
        for one in after:
            self.resting[name] = one, self.now + patience(CONFIG)
            self.frontier.relay.post([one], self.now)

    @precondition(lambda self: self.fetched)
    @rule(data=st.data(), again=st.booleans())
    def settle(self, data, again):
        keys = data.draw(st.lists(st.sampled_from(sorted(self.fetched)), unique=True, min_size=1))
        rows = [self.fetched.pop(key) for key in keys]
        self.mark += 1
        for _ in range(2 if again else 1):
            self.frontier.settle(settled(*rows, *rows), self.now, counters={}, mark=self.mark)
        self.frontier.settle(settled(), self.now, counters={"rows": len(rows)}, mark=0)
        self.settled_rows += len(rows)
        self.state |= dict.fromkeys(keys, "settled")

    @precondition(lambda self: self.fetched)
    @rule(data=st.data())
    def lose_batch(self, data):
        keys = data.draw(st.lists(st.sampled_from(sorted(self.fetched)), unique=True, min_size=1))
        for key in keys:
            del self.fetched[key]
        self.frontier.abandon([*keys, 999_999])
        self.state |= dict.fromkeys(keys, "queued")

    @precondition(lambda self: self.lent)
    @rule(data=st.data())
    def lose_lease(self, data):
        name = data.draw(st.sampled_from(sorted(self.lent)))
        host = self.lent.pop(name)
        self.contact(name, max(self.now, self.last_end.get(name, 0.0) + host.delay))
        self.now = max(self.now, self.last_end[name])
        keys = [url.key for url in host.urls]
        self.frontier.abandon(keys)
        self.frontier.release([name, "unknown.example"], self.now)
        self.state |= dict.fromkeys(keys, "queued")

    @rule(limit=st.integers(0, 5))
    def hopeless(self, limit):
        ended = self.frontier.hopeless(limit)
        assert sum(len(host.urls) for host, _, _ in ended) <= limit
        for host, kind, reason in ended:
            assert kind in {Kind.GAVE_UP, Kind.ROBOTS_UNREACHABLE}
            assert reason
            self.hand_out(host)
            self.fetched |= {url.key: row(host, url, kind) for url in host.urls}

    @rule(seconds=st.one_of(st.none(), st.just("over"), st.floats(0.0, 60.0)))
    def last_call(self, seconds):
        """When it is over whoever is failing is given up, and only then; all that is left can be asked at once."""
        given_up = self.frontier.stats(self.now).hosts_given_up
        over = seconds == "over"
        until = 0.0 if over else None if seconds is None else self.now + seconds
        self.frontier.last_call(until, self.now)
        if over and self.frontier.stalled(self.now):
            assert self.frontier.next_ready(self.now) <= self.now + 5.0
        if not over:
            assert self.frontier.stats(self.now).hosts_given_up <= given_up
        if seconds is None:
            assert not any(host.ended for host in self.frontier._hosts.known.values())

    @rule(seconds=st.floats(0.0, 30.0))
    def advance(self, seconds):
        self.now += seconds

    @rule()
    def crash(self):
        for name in self.lent:
            self.contact(name, max(self.now, self.last_end.get(name, 0.0) + OWN_DELAY[name]))
            self.now = max(self.now, self.last_end[name])
        self.frontier.close()
        self.state |= {key: "queued" for key, state in self.state.items() if state == "leased"}
        self.lent, self.fetched, self.resting = {}, {}, {}
        self.open()

    @invariant()
    def agrees(self):
        self.frontier.check()
        by_state = {name: {key for key, state in self.state.items() if state == name} for name in
                    ("queued", "leased", "settled")}  # fmt: skip
        assert set(self.frontier._queues.leased) == by_state["leased"]
        assert self.frontier.queued + self.frontier.due == len(by_state["queued"])
        self.frontier.relay.errands.outgoing()
        called = self.frontier.relay.errands.hosts
        assert (self.frontier.errands > 0) == bool(called)
        assert self.frontier.idle == (not (by_state["queued"] or by_state["leased"] or called))
        live, done = set(), set()
        for key, value in self.frontier._store.urls.scan(b""):
            number = int.from_bytes(key[-8:], "big", signed=True)
            (live if isinstance(unpack_url(value), Live) else done).add(number)
        assert live == by_state["queued"] | by_state["leased"]
        assert done == by_state["settled"]
        assert self.frontier.mark == self.mark
        assert self.frontier.counters.get("rows", 0) == self.settled_rows

    @invariant()
    def says_when(self):
        """Whoever sleeps until `next_ready` neither waits for ever nor turns in circles."""
        ready = self.frontier.next_ready(self.now)
        free = {key for key, state in self.state.items() if state == "queued"}
        lent = {100 * HOSTS.index(name) for name in self.lent}
        waiting = {key for key in free if key // 100 * 100 not in lent}
        called = set(self.frontier.relay.errands.hosts) - set(self.lent)
        assert (ready is None) == (not waiting and not called)


FrontierMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestFrontierMachine = pytest.mark.slow(FrontierMachine.TestCase)
