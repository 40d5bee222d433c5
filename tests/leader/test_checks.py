"""Costly checks of one tool beside those of another."""

import asyncio

import pytest

from nexus_tools.leader.checks import Checks
from nexus_tools.sui.address import Address

pytestmark = pytest.mark.anyio

COSTLY, HONEST = Address.of(1), Address.of(2)


async def checked(number, *, seconds):
    """The tools whose checks ran, in order: so many of a costly one, and then one of another.

    Each check of the costly tool takes so long by the clock of the checks.
    """
    now, order = 0.0, []
    checks = Checks(lambda: now)

    async def check(tool, lasts):
        nonlocal now
        async with checks.turn(tool):
            order.append(tool)
            now += lasts

    async with asyncio.TaskGroup() as group:
        for _ in range(number):
            group.create_task(check(COSTLY, seconds))
        group.create_task(check(HONEST, 0.0))
    return order


async def test_check_of_another_tool_waits_for_two_costly_ones_at_most():
    order = await checked(16, seconds=0.02)
    assert order.index(HONEST) <= 2
    assert order.count(COSTLY) == 16


async def test_checks_that_cost_little_run_in_their_order():
    assert await checked(16, seconds=0.001) == [*[COSTLY] * 16, HONEST]


async def test_next_check_waits_for_as_long_as_a_costly_one_took():
    now = 0.0
    checks = Checks(lambda: now)
    async with checks.turn(COSTLY):
        now += 3_600
    waiting = asyncio.create_task(_pass(checks))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()


async def test_turn_that_is_cancelled_keeps_nobody_waiting():
    checks = Checks()
    async with checks.turn(COSTLY):
        waiting = asyncio.create_task(_pass(checks))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await _pass(checks)


async def _pass(checks):
    async with checks.turn(COSTLY):
        pass
