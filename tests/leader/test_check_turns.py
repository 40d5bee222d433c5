"""Expensive validations of one tool beside those of another."""

import asyncio

import pytest

from nexus_tools.leader.dispatch.validation_turns import ValidationTurns
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

COSTLY, HONEST = Address.of(1), Address.of(2)


async def check_order(number, *, seconds):
    """Return the tools in the order of their validations: several expensive ones and an honest one.

    Each validation of the expensive tool takes this many seconds.
    """
    now, order = 0.0, []
    turns = ValidationTurns(lambda: now)

    async def check(tool, lasts):
        nonlocal now
        async with turns.of(tool):
            order.append(tool)
            now += lasts

    async with asyncio.TaskGroup() as group:
        for _ in range(number):
            group.create_task(check(COSTLY, seconds))
        group.create_task(check(HONEST, 0.0))
    return order


async def test_turn_of_another_tool_waits_for_at_most_two_costly_checks():
    order = await check_order(16, seconds=0.02)
    assert order.index(HONEST) <= 2
    assert order.count(COSTLY) == 16


async def test_cheap_checks_run_in_order():
    assert await check_order(16, seconds=0.001) == [*[COSTLY] * 16, HONEST]


async def test_next_check_waits_as_long_as_a_costly_one_took():
    now = 0.0
    turns = ValidationTurns(lambda: now)
    async with turns.of(COSTLY):
        now += 3_600
    waiting = asyncio.create_task(_pass(turns))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()


async def test_cancelled_turn_does_not_block_others():
    turns = ValidationTurns()
    async with turns.of(COSTLY):
        waiting = asyncio.create_task(_pass(turns))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await _pass(turns)


async def _pass(turns):
    async with turns.of(COSTLY):
        pass
