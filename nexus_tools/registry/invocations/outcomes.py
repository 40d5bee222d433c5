"""Outcomes of invocations, and the error for a failed invocation."""

from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import NexusError, WrongStateError
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome


def outcome_of(invocation: Invocation) -> Outcome:
    """Return the outcome of a closed invocation.

    A value that is stored off chain is represented by its location. The detail of a failure is only
    in its event, which `Invocations.outcome` reads. Raises `not_closed`, or `json_invalid` if an
    on-chain tool wrote invalid JSON.
    """
    match invocation.state:
        case State.Settled(variant, ports):
            return Answer(variant, ports.with_locations())
        case State.Failed(reason):
            return Failure(FailureReason(reason), "")
        case State.Expired():
            return Failure(FailureReason.EXPIRED, "no leader closed the invocation in time")
        case State.Requested():
            raise WrongStateError("not_closed", f"the invocation {invocation.id} is not closed yet")


class InvocationFailedError(NexusError):
    """The error for a failed invocation. `failure` contains the reason and a detail for users."""

    def __init__(self, invocation: Address, failure: Failure) -> None:
        self.invocation = invocation
        self.failure = failure
        detail = f": {one_line(failure.detail)}" if failure.detail else ""
        super().__init__(
            "invocation_failed",
            f"the invocation failed, {failure.reason}{detail}",
            details={"invocation": str(invocation), "reason": failure.reason.value},
        )
