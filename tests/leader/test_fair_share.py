"""The distribution of slots; the expected shares are computed by hand from the rule."""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest

from nexus_tools.http.fair_share import FairShare

pytestmark = pytest.mark.anyio

TIMEOUT_S = 30


class Holders:
    """Tasks that request slots and keep them until the test releases them."""

    def __init__(self, share, group):
        self.share = share
        self.group = group
        self.order = []
        self.holding = {}

    def come(self, key, times=1):
        return [self.group.create_task(self._hold(key)) for _ in range(times)]

    async def _hold(self, key):
        async with self.share.slot(key):
            self.order.append(key)
            leave = asyncio.Event()
            self.holding.setdefault(key, []).append(leave)
            await leave.wait()

    def leave(self, key):
        self.holding[key].pop(0).set()


@asynccontextmanager
async def holders(total, limit):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        active_holders = Holders(FairShare(total, limit), group)
        tasks = []
        come = active_holders.come
        active_holders.come = lambda *arguments: tasks.extend(new := come(*arguments)) or new
        yield active_holders
        for task in tasks:
            task.cancel()


async def turns():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_greedy_key_leaves_four_fifths_of_the_slots():
    async with holders(100, 100) as active:
        active.come("slow", 200)
        await turns()
        assert active.share.count("slow") == 20


async def test_key_gets_at_most_its_limit():
    async with holders(100, 7) as active:
        active.come("slow", 200)
        await turns()
        assert active.share.count("slow") == 7


async def test_ten_greedy_keys_in_turn_get_equally_many_slots():
    async with holders(112, 112) as active:
        for _ in range(70):
            for number in range(10):
                active.come(number)
        await turns()
        assert [active.share.count(number) for number in range(10)] == [8] * 10
        active.come("fast", 3)
        await turns()
        assert active.share.count("fast") == 3


async def test_ten_successive_greedy_keys_leave_slots_for_another():
    async with holders(100, 100) as active:
        for number in range(10):
            active.come(number, 200)
            await turns()
        assert [active.share.count(number) for number in range(3)] == [20, 16, 13]
        active.come("fast")
        await turns()
        assert active.share.count("fast") == 1


async def test_new_key_does_not_wait_beside_ten_keys_with_seventy_slow_calls():
    async with holders(4_096, 256) as active:
        for number in range(10):
            active.come(number, 70)
        await turns()
        assert [active.share.count(number) for number in range(10)] == [70] * 10
        active.come("fast", 70)
        await turns()
        assert active.share.count("fast") == 70


async def test_key_with_the_fewest_slots_is_first_regardless_of_arrival():
    async with holders(2, 2) as active:
        active.come("a")
        active.come("b")
        await turns()
        active.come("b")
        active.come("c")
        active.leave("a")
        await turns()
        assert active.order == ["a", "b", "c"]


async def test_keys_with_equally_many_slots_alternate():
    async with holders(1, 1) as active:
        active.come("a", 3)
        active.come("b", 3)
        for key in ("a", "b", "a", "b", "a"):
            await turns()
            assert active.order[-1] == key
            active.leave(key)
        await turns()
        assert active.order == ["a", "b", "a", "b", "a", "b"]


async def test_cancelled_waiters_do_not_pass_slots_to_each_other():
    async with holders(4, 4) as active:
        tasks = active.come("a", 10) + active.come("b", 10)
        await turns()
        for task in tasks:
            task.cancel()
        await turns()
        active.come("c")
        await turns()
        assert active.order[-1] == "c"


async def test_slot_of_a_cancelled_waiter_goes_to_the_next():
    async with holders(1, 1) as active:
        active.come("a")
        await turns()
        (gives_up,) = active.come("b")
        active.come("c")
        await turns()
        active.leave("a")
        await asyncio.sleep(0)  # it has the slot but has not run yet
        gives_up.cancel()
        await turns()
        assert active.order == ["a", "c"]


@pytest.mark.parametrize("seed", range(40))
async def test_slots_are_never_lost_or_idle(seed):
    chance = random.Random(seed)
    total, limit = chance.choice([1, 2, 3, 8, 50]), chance.choice([1, 2, 5, 60])
    share, running = FairShare(total, limit), dict.fromkeys(range(12), 0)

    async def hold(key):
        async with share.slot(key):
            running[key] += 1
            assert sum(running.values()) <= total
            assert running[key] <= limit
            for _ in range(chance.randrange(5)):
                await asyncio.sleep(0)
            running[key] -= 1

    tasks = []
    async with asyncio.timeout(TIMEOUT_S):
        for _ in range(300):
            tasks.append(asyncio.create_task(hold(chance.randrange(12))))
            for one in chance.sample(tasks, len(tasks) // 3 if chance.random() < 0.1 else 0):
                one.cancel()
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.TaskGroup() as group:  # all slots are free again
            both = asyncio.Barrier(min(total, 12))

            async def meet(key):
                async with share.slot(key):
                    await both.wait()

            for key in range(min(total, 12)):
                group.create_task(meet(key))
