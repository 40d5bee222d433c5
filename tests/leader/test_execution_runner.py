"""Events that arrive while a Leader runs the due steps of an execution."""

import asyncio
from types import SimpleNamespace

import pytest

from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionStopped
from nexus_tools.leader.executions.execution_runner import ExecutionRunner
from nexus_tools.leader.executions.pending_steps import CallDue
from nexus_tools.leader.executions.step_executor import StepResult
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

EXECUTION, TOOL, INVOCATION = Address.of(0xE), Address.of(0x70), Address.of(0x1)
HOUR_MS = 3_600_000
CALL = CallDue(INVOCATION, TOOL)


class Clock:
    """A clock that stands still, so that later steps never become due."""

    def now_ms(self):
        return 1_000

    async def wait_until(self, _moment_ms):
        await asyncio.Event().wait()


async def test_call_is_checked_again_if_its_execution_stops_during_the_check():
    """Otherwise a cancelled execution would wait for the planned time of its call."""
    checks = []

    class Steps:
        async def run_due(self, _execution, pending):
            checks.append(list(pending))
            if len(checks) > 1:
                return None  # the call is cancelled, and the execution ends
            stopped = ExecutionStopped(EXECUTION, "cancelled")
            runner.observe(EventPage(Cursor.beginning(), steps=[stopped]))
            return StepResult({CALL: 1_000 + HOUR_MS})

    async def save_executions(_changes):
        pass

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        runner = ExecutionRunner(
            *(None, group, None, Steps()),
            journal=SimpleNamespace(save_executions=save_executions),
            clock=Clock(),
            metrics=LeaderMetrics(),
            leader=Address.of(0x1EAD),
        )
        runner._track(EXECUTION).plan(CALL, 1_000)
    assert checks == [[CALL], [CALL]]
