"""Changes of an operator to the invocations of running processes."""

import pytest

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.leader import inspect_journal

pytestmark = pytest.mark.anyio


def inputs(*numbers):
    return [{"a": number, "b": 1} for number in numbers]


async def test_skipped_invocation_stays_open_on_chain(world, processes, registered, calls, log):
    one = await processes.start()
    await processes.wait_for_holder(log)
    calls.gate.clear()
    skipped, other = await world.request(registered, *inputs(0, 1))
    await calls.wait_for(2)
    with inspect_journal(processes.fleet.location) as inspection:
        job = inspection.job(skipped)
        assert job.process is not None
        inspection.skip(job, await world.client.now_ms())
    await log.wait_for("closed")
    assert log.named("closed")[0]["how"] == "missed"
    calls.gate.set()
    [closed] = await world.closed(other)
    assert isinstance(closed.state, State.Settled)
    # The next holder compares closed invocations with the chain to detect a rollback.
    two = await processes.start()
    await one.stop()
    assert await processes.wait_for_holder(log) is two
    await world.closed(*await world.request(registered, *inputs(2)))
    assert log.named("event_stream_interrupted") == []
    assert set(await world.closings(2)) & {skipped} == set()
    assert calls.counts == {0: 1, 1: 1, 2: 1}


async def test_returned_invocation_is_settled_once(world, processes, registered, calls, log):
    await processes.start()
    await processes.start()
    await processes.wait_for_holder(log)
    calls.gate.clear()
    [invocation] = await world.request(registered, *inputs(0))
    await calls.wait_for(1)
    with inspect_journal(processes.fleet.location) as inspection:
        inspection.give_back(inspection.job(invocation))
    calls.gate.set()
    [closed] = await world.closed(invocation)
    assert isinstance(closed.state, State.Settled)
    assert await world.closings(1) == {invocation: 1}
    assert calls.counts[0] <= 2
