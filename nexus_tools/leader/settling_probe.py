"""Estimates the gas of settling an attempt with its tool's signature, before the tool is called.

The chain puts the inputs of a signed attempt together in the leader's transaction, and pays for the
bytes that it reads. Whether that covers the gas depends on the network, and no one knows the answer
before the call. But a settlement whose signature is not valid does the same work up to the check of
the signature, where it aborts, so a simulation tells what that work costs.
"""

from nexus_tools.client import simulate_transaction
from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.attempts import Attempts
from nexus_tools.leader.chain import Chain, FoundInvocation
from nexus_tools.leader.closing import Closing, ClosingBatch, closing_of
from nexus_tools.leader.execution_accounts import ExecutionAccounts
from nexus_tools.leader.judgement import failure
from nexus_tools.leader.tool_call import RunInputs
from nexus_tools.leader.workers import Workers
from nexus_tools.sui.execution_status import ErrorKind, ExecutionFailure
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature

# Inputs that cost about as much as none.
_SMALL_BYTES = 4_096
_FEW_SOURCES = 8
# The gas units of the rest of a settlement: recording the answer and going on with the execution.
_UNITS_BEHIND = 1_000
_NO_SIGNATURE = bytes(64)


class SettlingProbe:
    """Finds the attempts whose settlement costs more than they pay."""

    def __init__(
        self, chain: Chain, workers: Workers, attempts: Attempts, accounts: ExecutionAccounts
    ) -> None:
        self._chain = chain
        self._workers = workers
        self._attempts = attempts
        self._accounts = accounts

    async def refusal(
        self, assignment: Assignment, found: FoundInvocation, run: RunInputs
    ) -> Failure | None:
        """Return why this leader does not settle an attempt, or None if it does.

        Small inputs are not simulated. Raises `UnreachableError`, or what keeps the workers from
        sending.
        """
        invocation = found.invocation
        if not invocation.signers or invocation.attempt is None:
            return None
        inputs = await self._attempts.signed_inputs(invocation.attempt)
        is_small = run.ports.size() <= _SMALL_BYTES
        if inputs is None or (is_small and len(inputs.attempt.sources) <= _FEW_SOURCES):
            return None
        unsigned = OutcomeSignature(invocation.signers[0], _NO_SIGNATURE)
        closing = closing_of(assignment, Answer("", {}, unsigned), found)
        closing.inputs = inputs
        read_mist = invocation.attempt.read_fee_mist * run.read_bytes // 1_000
        paid_mist = invocation.settle_fee_mist + read_mist
        behind_mist = _UNITS_BEHIND * self._workers.epoch.gas_price
        most_mist = paid_mist + self._accounts.room_mist(invocation.attempt.execution) - behind_mist
        if most_mist > behind_mist and await self._is_within(closing, most_mist):
            return None
        detail = f"to settle these inputs costs more than {max(most_mist, 0)} MIST of gas"
        return failure(FailureReason.REFUSED, f"{detail}, and pays {paid_mist} MIST")

    async def _is_within(self, closing: Closing, most_mist: int) -> bool:
        """Return whether a settlement needs no more gas up to the check of its signature."""
        batch = ClosingBatch(self._chain.deployment, self._workers.leader.argument, [closing])
        budget_mist = min(most_mist, self._workers.richest_mist)
        async with self._workers.paying(budget_mist) as worker:
            draft = self._workers.draft(worker, batch.build(), budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
        status = simulated.effects.status
        return not (
            isinstance(status, ExecutionFailure) and status.error.kind is ErrorKind.INSUFFICIENT_GAS
        )
