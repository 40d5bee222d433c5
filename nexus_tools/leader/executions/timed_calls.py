"""Closing of the invocations that anyone may close: finished waits and expired questions.

If an execution is stopping, these invocations are failed, so that the execution can end.

The inputs of the package's two tools, `Wait` and `Ask`, determine when a call is due. Calls of
functions of other packages are retried with back-off.
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
from nexus_tools.tool import Failure, FailureReason, MoveFunction, ask_deadline_ms, wait_deadline_ms

_STOPPED_FAILURE = Failure(FailureReason.REFUSED, "the execution was stopped")


class TimedCalls:
    """A caller of functions that anyone may call."""

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

    async def cancel(self, invocation: Address, tool: Address) -> None:
        """Fail an open attempt of an execution that is stopping."""
        target, _ = await self._chain.invocation_and_tool(invocation, tool)
        if target is not None and not target.invocation.is_closed:
            await self._calls.fail(target, _STOPPED_FAILURE)

    async def call(self, invocation: Address, tool: Address) -> int | None:
        """Close an attempt if possible, else return the time of the next try, in ms since 1970.

        If the returned time is not in the future, the attempt is due but cannot be closed now.
        Raises the errors of `OnChainCalls.call`.
        """
        target, registered = await self._chain.invocation_and_tool(invocation, tool)
        if target is None or target.invocation.is_closed or registered is None:
            return None
        attempt = target.invocation.attempt
        assert attempt is not None, "expected an invocation that is an attempt"
        run = await self._attempts.inputs(attempt)
        if isinstance(run, Failure):
            await self._calls.fail(target, run)
            return None
        interface = await self._tool_calls.interface(target.invocation, registered, run)
        if isinstance(interface, Failure):
            if interface.reason is FailureReason.INPUT_INVALID:
                await self._calls.fail(target, interface)
                return None
            return self._clock.now_ms()
        function = interface.definition.function
        assert function is not None, "expected an on-chain tool with a Move function"
        due_ms = self._due_ms(target.invocation, function, run.ports.as_json())
        if self._clock.now_ms() < due_ms:
            return due_ms
        result = await self._calls.call(target, registered, interface.definition)
        return self._clock.now_ms() if isinstance(result, Failure | Declined) else None

    def _due_ms(
        self, invocation: Invocation, function: MoveFunction, inputs: Mapping[str, int]
    ) -> int:
        """Return the due time of a call, as in the Move module `waiting`, or 0 for other tools."""
        times = invocation.requested_at_ms, invocation.expires_at_ms
        witness = parse_struct_tag(function.witness)
        if witness == self._chain.deployment.type_of(Ask):
            return ask_deadline_ms(inputs, *times)
        if witness == self._chain.deployment.type_of(Wait):
            return wait_deadline_ms(inputs, *times)
        return 0
