"""Who gets a slot, and when; the shares are reckoned by hand from the rule."""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest

from nexus_tools.http.fair_share import FairShare

pytestmark = pytest.mark.anyio

TIMEOUT_S = 30


class Holders:
    """Tasks that want slots and keep them until they are told to leave."""

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
async def holders(total, each):
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
        found = Holders(FairShare(total, each), group)
        tasks = []
        come = found.come
        found.come = lambda *arguments: tasks.extend(new := come(*arguments)) or new
        yield found
        for task in tasks:
            task.cancel()


async def turns():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_one_that_takes_all_it_can_leaves_four_fifths():
    async with holders(100, 100) as found:
        found.come("slow", 200)
        await turns()
        assert found.share.taken("slow") == 20


async def test_nobody_has_more_than_each_may_have():
    async with holders(100, 7) as found:
        found.come("slow", 200)
        await turns()
        assert found.share.taken("slow") == 7


async def test_ten_that_come_by_turns_and_take_all_they_can_have_as_many():
    async with holders(112, 112) as found:
        for _ in range(70):
            for number in range(10):
                found.come(number)
        await turns()
        assert [found.share.taken(number) for number in range(10)] == [8] * 10
        found.come("fast", 3)
        await turns()
        assert found.share.taken("fast") == 3


async def test_ten_that_come_one_after_the_other_leave_some_for_an_eleventh():
    async with holders(100, 100) as found:
        for number in range(10):
            found.come(number, 200)
            await turns()
        assert [found.share.taken(number) for number in range(3)] == [20, 16, 13]
        found.come("fast")
        await turns()
        assert found.share.taken("fast") == 1


async def test_a_newcomer_beside_ten_tools_with_seventy_slow_calls_each_waits_for_nothing():
    async with holders(4_096, 256) as found:
        for number in range(10):
            found.come(number, 70)
        await turns()
        assert [found.share.taken(number) for number in range(10)] == [70] * 10
        found.come("fast", 70)
        await turns()
        assert found.share.taken("fast") == 70


async def test_who_has_the_fewest_goes_first_whoever_came_first():
    async with holders(2, 2) as found:
        found.come("a")
        found.come("b")
        await turns()
        found.come("b")
        found.come("c")
        found.leave("a")
        await turns()
        assert found.order == ["a", "b", "c"]


async def test_those_that_have_as_many_take_turns():
    async with holders(1, 1) as found:
        found.come("a", 3)
        found.come("b", 3)
        for key in ("a", "b", "a", "b", "a"):
            await turns()
            assert found.order[-1] == key
            found.leave(key)
        await turns()
        assert found.order == ["a", "b", "a", "b", "a", "b"]


async def test_many_that_give_up_at_once_hand_no_slot_to_each_other():
    async with holders(4, 4) as found:
        tasks = found.come("a", 10) + found.come("b", 10)
        await turns()
        for task in tasks:
            task.cancel()
        await turns()
        found.come("c")
        await turns()
        assert found.order[-1] == "c"


async def test_a_turn_that_comes_to_one_who_gave_up_goes_to_the_next():
    async with holders(1, 1) as found:
        found.come("a")
        await turns()
        (gives_up,) = found.come("b")
        found.come("c")
        await turns()
        found.leave("a")
        await asyncio.sleep(0)  # its turn has come, and it has not run yet
        gives_up.cancel()
        await turns()
        assert found.order == ["a", "c"]


@pytest.mark.parametrize("seed", range(40))
async def test_whatever_comes_and_goes_no_slot_is_lost_and_none_is_idle(seed):
    chance = random.Random(seed)
    total, each = chance.choice([1, 2, 3, 8, 50]), chance.choice([1, 2, 5, 60])
    share, running = FairShare(total, each), dict.fromkeys(range(12), 0)

    async def hold(key):
        async with share.slot(key):
            running[key] += 1
            assert sum(running.values()) <= total
            assert running[key] <= each
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
        async with asyncio.TaskGroup() as group:  # all slots are there again
            both = asyncio.Barrier(min(total, 12))

            async def meet(key):
                async with share.slot(key):
                    await both.wait()

            for key in range(min(total, 12)):
                group.create_task(meet(key))
