"""One timer for many tasks; a later one's end tells that an earlier one's time has passed."""

import asyncio

import pytest

from nexus_tools.tool_server.time_limit import TimeLimit


async def run_for_ever(limit, log):
    limited = limit.start()
    try:
        with limited:
            await asyncio.Event().wait()
    except TimeoutError:
        log.append(limited.is_expired)


async def test_expired_task_gets_a_timeout_error():
    log = []
    await run_for_ever(TimeLimit(0.01), log)
    assert log == [True]


async def test_concurrent_tasks_all_expire():
    limit, log = TimeLimit(0.01), []
    await asyncio.gather(*(run_for_ever(limit, log) for _ in range(5)))
    assert log == [True] * 5


async def test_task_started_after_another_ended_expires():
    limit, log = TimeLimit(0.01), []
    with limit.start():
        pass
    await run_for_ever(limit, log)
    assert log == [True]


async def test_task_that_ends_in_time_is_not_cancelled():
    limit, log = TimeLimit(0.01), []
    with limit.start() as limited:
        pass
    await run_for_ever(limit, log)
    assert not limited.is_expired
    assert asyncio.current_task().cancelling() == 0


async def test_other_cancellation_is_not_a_timeout():
    limit, log = TimeLimit(10), []
    task = asyncio.create_task(run_for_ever(limit, log))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == []


async def test_expired_task_can_continue():
    limit, log = TimeLimit(0.01), []
    await run_for_ever(limit, log)
    await asyncio.sleep(0)
    assert asyncio.current_task().cancelling() == 0


def test_limit_works_in_successive_loops():
    limit, log = TimeLimit(0.01), []
    asyncio.run(run_for_ever(limit, log))
    asyncio.run(run_for_ever(limit, log))
    assert log == [True, True]
