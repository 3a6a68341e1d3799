"""Mail between shards: grouped by destination, one message at a time to each, and what is lost is let go."""

import asyncio

import numpy as np
import pytest

from actors.courier import Courier
from actors.work import LostError
from crawler.frontier.errands import slot_for
from crawler.frontier.lease import Errand

HERE, THERE, BEYOND = 0, 1, 2


class Relay:
    """What a frontier's relay is to a courier."""

    def __init__(self, *mail):
        self.errands = self
        self.mail, self.home = list(mail), []

    def outgoing(self):
        mail, self.mail = self.mail, []
        return mail

    def post(self, mail, now):
        self.home += mail


def errand(owners, shard, number):
    """An errand that belongs to a shard."""
    names = (f"http://{number}-{n}.com/robots.txt" for n in range(1000))
    found = (Errand("http://a.com", name, 1) for name in names)
    return next(one for one in found if owners[slot_for(one)] == shard)


OWNERS = np.arange(1024, dtype=np.int64) % 3
MAIL = {shard: [errand(OWNERS, shard, number) for number in range(3)] for shard in range(3)}


async def test_each_shard_gets_its_own_one_message_at_a_time():
    relay, sent, go_on = (
        Relay(*MAIL[HERE], *MAIL[THERE][:2], *MAIL[BEYOND][:1]),
        [],
        asyncio.Event(),
    )

    async def post(shard, mail):
        sent.append((shard, list(mail)))
        await go_on.wait()

    courier = Courier(relay, OWNERS, HERE, post, lambda: 0.0)
    courier.carry()
    assert relay.home == MAIL[HERE]
    await asyncio.sleep(0)
    assert sorted(sent) == [(THERE, MAIL[THERE][:2]), (BEYOND, MAIL[BEYOND][:1])]
    relay.mail = [MAIL[THERE][2], MAIL[BEYOND][1]]
    courier.carry()
    relay.mail = [MAIL[BEYOND][2]]
    courier.carry()
    await asyncio.sleep(0)
    assert len(sent) == 2
    assert repr(courier) == "<Courier 3 waiting, 2 messages under way>"
    go_on.set()
    await asyncio.gather(*courier._tasks.values())
    assert sorted(sent[2:]) == [(THERE, MAIL[THERE][2:]), (BEYOND, MAIL[BEYOND][1:])]


async def test_what_cannot_be_delivered_is_let_go_and_what_comes_later_is_not():
    relay, sent = Relay(MAIL[THERE][0]), []

    async def post(shard, mail):
        sent.append(list(mail))
        if len(sent) == 1:
            message = "the shard is gone"
            raise LostError(message)

    courier = Courier(relay, OWNERS, HERE, post, lambda: 0.0)
    for one in (MAIL[THERE][0], MAIL[THERE][1]):
        relay.mail = [one]
        courier.carry()
        await asyncio.gather(*courier._tasks.values())
    assert sent == [[MAIL[THERE][0]], [MAIL[THERE][1]]]


@pytest.mark.parametrize("under_way", [True, False])
async def test_the_end_drops_what_is_under_way(under_way):
    async def post(shard, mail):
        await asyncio.Event().wait()

    courier = Courier(Relay(MAIL[THERE][0]), OWNERS, HERE, post, lambda: 0.0)
    if under_way:
        courier.carry()
    (*tasks,) = courier._tasks.values()
    await courier.close()
    assert [task.cancelled() for task in tasks] == [True] * under_way
    assert not courier._tasks
