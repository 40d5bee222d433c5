"""Closes what anyone may close, once its time has come: waits, and questions without an answer.

In an execution that stops, nobody waits any more: there they fail, so that it can end.

When that is, the two tools of the package itself say in their inputs; the functions of others are
tried again and again, ever more rarely.
"""

from collections.abc import Mapping

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.waiting import Ask, Wait
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.dispatch.response_classifier import Declined
from nexus_tools.leader.dispatch.tool_call import ToolCalls
from nexus_tools.leader.executions.attempts import Attempts
from nexus_tools.leader.executions.on_chain_calls import OnChainCalls
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import parse_struct_tag
from nexus_tools.tool import Failure, FailureReason, MoveFunction, asks_until_ms, waits_until_ms

_STOPPED = Failure(FailureReason.REFUSED, "the execution was ended")


class WaitingCalls:
    """Calls functions that anyone may call."""

    def __init__(
        self,
        chain: Chain,
        attempts: Attempts,
        tool_calls: ToolCalls,
        calls: OnChainCalls,
        clock: ChainClock,
    ) -> None:
        self._chain = chain
        self._attempts = attempts
        self._tool_calls = tool_calls
        self._calls = calls
        self._clock = clock

    async def give_up(self, invocation: Address, tool: Address) -> None:
        """Fail an attempt of an execution that stops."""
        found, _ = await self._chain.invocation_and_tool(invocation, tool)
        if found is not None and not found.invocation.is_closed:
            await self._calls.fail(found, _STOPPED)

    async def call(self, invocation: Address, tool: Address) -> int | None:
        """Close an attempt if that is possible; else from when on it may be, in ms since 1970.

        A time that has passed says that it was tried, and cannot be yet. Raises as
        `OnChainCalls.call` does.
        """
        found, registered = await self._chain.invocation_and_tool(invocation, tool)
        if found is None or found.invocation.is_closed or registered is None:
            return None
        attempt = found.invocation.attempt
        assert attempt is not None, "executions see to their own"
        run = await self._attempts.inputs(attempt)
        if isinstance(run, Failure):
            await self._calls.fail(found, run)
            return None
        interface = await self._tool_calls.interface(found.invocation, registered, run)
        if isinstance(interface, Failure):
            if interface.reason is FailureReason.INPUT_INVALID:
                await self._calls.fail(found, interface)
                return None
            return self._clock.now_ms()
        function = interface.definition.function
        assert function is not None, "anyone may settle what is settled by a call alone"
        due_ms = self._due_ms(found.invocation, function, run.ports.as_json())
        if self._clock.now_ms() < due_ms:
            return due_ms
        called = await self._calls.call(found, registered, interface.definition)
        return self._clock.now_ms() if isinstance(called, Failure | Declined) else None

    def _due_ms(
        self, invocation: Invocation, function: MoveFunction, inputs: Mapping[str, int]
    ) -> int:
        """When its time has come, as the module `waiting` says; 0 for the tools of others."""
        times = invocation.requested_at_ms, invocation.expires_at_ms
        witness = parse_struct_tag(function.witness)
        if witness == self._chain.deployment.type_of(Ask):
            return asks_until_ms(inputs, *times)
        if witness == self._chain.deployment.type_of(Wait):
            return waits_until_ms(inputs, *times)
        return 0
