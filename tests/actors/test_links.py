"""The outbox: links reach their owners, in few messages, and `send` returns only when all are there."""

import asyncio
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from actors import links as module
from actors.links import Outbox
from crawler.frontier.links import LINKS


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Nothing waits for company."""
    monkeypatch.setattr(module, "FLUSH_SECONDS", 0.0)


def links(*slots):
    count = len(slots)
    columns = {
        name: pa.array([""] * count, type_)
        if pa.types.is_string(type_)
        else pa.array([0] * count, type_)
        for name, type_ in zip(LINKS.names, LINKS.types, strict=True)
    }
    columns["slot"] = pa.array(slots, pa.uint16())
    columns["key"] = pa.array(range(count), pa.int64())
    return pa.RecordBatch.from_pydict(columns, schema=LINKS)


class Owners:
    """Takes links as shards do; `held` destinations answer when they are let go."""

    def __init__(self):
        self.messages = []
        self.reasons = {}
        self.gates = {}
        self.broken = set()
        self.arrived = asyncio.Event()

    async def deliver(self, owner, sequence, batch):
        self.arrived.set()
        if owner in self.broken:
            message = f"shard {owner} is gone"
            raise ConnectionError(message)
        if owner in self.gates:
            await self.gates[owner].wait()
        self.messages.append((owner, sequence, batch.column("slot").to_pylist()))
        return self.reasons or {"new": batch.num_rows}


def outbox(owners, home=0):
    return Outbox(np.array([0, 1, 2]), home, owners.deliver)


async def test_each_link_reaches_its_owner_and_is_counted_once():
    owners = Owners()
    counts = await outbox(owners).send(links(0, 1, 2, 1, 1))
    assert counts == {"new": 5}
    assert {(owner, tuple(slots)) for owner, _, slots in owners.messages} == {
        (0, (0,)), (1, (1, 1, 1)), (2, (2,)),
    }  # fmt: skip


async def test_no_links_no_message():
    owners = Owners()
    assert await outbox(owners).send(links()) == Counter()
    assert owners.messages == []


async def test_each_sender_gets_as_many_counts_as_it_has_links():
    owners = Owners()
    owners.reasons = {"new": 4, "known": 5, "budget_host": 1}
    box = outbox(owners)
    counts = await asyncio.gather(*(box.send(links(*[1] * size)) for size in (3, 1, 0, 6)))
    assert len(owners.messages) == 1
    assert [count.total() for count in counts] == [3, 1, 0, 6]
    assert sum(counts, Counter()) == owners.reasons


async def test_while_a_message_is_under_way_the_next_ones_become_one():
    owners = Owners()
    owners.gates[1] = asyncio.Event()
    box = outbox(owners)
    sends = [asyncio.create_task(box.send(links(1)))]
    await owners.arrived.wait()
    sends += [asyncio.create_task(box.send(links(1, 1))) for _ in range(5)]
    await asyncio.sleep(0)
    owners.gates[1].set()
    counts = await asyncio.gather(*sends)
    assert sum((Counter(count) for count in counts), Counter()) == {"new": 11}
    assert [slots for _, _, slots in owners.messages] == [[1], [1] * 10]
    assert box.messages == 2


async def test_send_waits_for_the_slowest_owner():
    owners = Owners()
    owners.gates[2] = asyncio.Event()
    sending = asyncio.create_task(outbox(owners).send(links(0, 2)))
    while not owners.messages:
        owners.arrived.clear()
        await owners.arrived.wait()
    await asyncio.sleep(0)
    assert not sending.done()
    owners.gates[2].set()
    assert await sending == {"new": 2}


async def test_a_failure_reaches_everyone_who_waits_and_nobody_after():
    owners = Owners()
    owners.broken.add(1)
    box = outbox(owners)
    results = await asyncio.gather(box.send(links(1)), box.send(links(1)), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionError, ConnectionError]
    owners.broken.clear()
    assert await box.send(links(1)) == {"new": 1}


async def test_what_is_at_home_goes_at_once(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_SECONDS", 3600.0)
    owners = Owners()
    assert await outbox(owners, home=1).send(links(1)) == {"new": 1}


def test_repr_tells_what_waits():
    assert repr(outbox(Owners())) == "<Outbox 0 links waiting, 0 messages acknowledged>"
