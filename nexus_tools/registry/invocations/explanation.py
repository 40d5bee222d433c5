"""The explanation of an invocation from its events: its steps, windows, checks and payments."""

from typing import Any

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.registry.invocations.answer_validation import OutputInvalidError, validate_answers
from nexus_tools.registry.invocations.history import InvocationHistory, Step
from nexus_tools.sui.types.address import Address

OUTCOME_MEANINGS = {
    "tool_not_registered": "the tool was no longer active on chain",
    "definition_mismatch": (
        "the on-chain definition is invalid, or differs from the definition that the tool serves"
    ),
    "input_invalid": "the leader or the tool rejected the input, which violates the input schema",
    "unreachable": "the tool's URL did not respond during the leader's window",
    "timed_out": "the tool did not respond within its timeout",
    "http_error": "the tool responded with an error status",
    "output_invalid": "the answer violates the output schema",
    "output_too_large": "the answer is larger than the maximum outcome size that was paid for",
    "unauthorized": "the tool rejected the call of this leader",
    "refused": "the leader refused to call the tool",
    "overloaded": "the leader had reached its limit of pending invocations",
    "expired": "no leader closed the invocation before the last window ended",
}
"""Why an invocation has no answer, by the reason of its failure, or `expired`."""
_SETTLED = "the answer matches the output schema and fits the size that was paid for"
_SETTLED_AND_DELETED = (
    "the leader checked the answer against the output schema. The answer cannot be checked again,"
    " because the invocation was deleted"
)
_OPEN = "the invocation is still open: a leader may close it"
_OVERDUE = "the last window has ended. Run `nexus-tools tool outcome {} --delete` for a refund"


async def find_invalid_answer(
    package: PackageClient, history: InvocationHistory
) -> OutputInvalidError | None:
    """Return the error of an invalid answer that is still on chain, or None."""
    invocation = history.requested.invocation
    if history.find(moves.InvocationSettled) is None:
        return None
    if history.find(moves.InvocationDeleted) is not None:
        return None
    found = await package.read(invocation, Invocation)
    return (await validate_answers(package, [found])).get(invocation)


def explain_history(
    history: InvocationHistory, now_ms: int, invalid: OutputInvalidError | None = None
) -> dict[str, Any]:
    """Return the explanation of an invocation as JSON. Amounts are in MIST, and times in ms.

    `check` is the sentence that explains the `state`. `invalid` is the error of an answer that
    violates the tool's output schema.
    """
    requested = history.requested
    return {
        "invocation": str(requested.invocation),
        "fqn": requested.fqn,
        "tool": str(requested.tool),
        "requester": str(requested.requester),
        **_decided(history, now_ms, invalid),
        "steps": [_step(step) for step in history.steps],
        "windows": _windows(history, now_ms),
        "money": _money(history),
    }


def _decided(
    history: InvocationHistory, now_ms: int, invalid: OutputInvalidError | None
) -> dict[str, Any]:
    """Return the invocation's state, and the check that determined the state."""
    if settled := history.find(moves.InvocationSettled):
        decided = {"state": "settled", "variant": settled.variant}
        if invalid is not None:
            invalid_output = {name: invalid.details.get(name) for name in ("schema", "failures")}
            return decided | {"check": invalid.message, "invalid_output": invalid_output}
        is_deleted = history.find(moves.InvocationDeleted) is not None
        return decided | {"check": _SETTLED_AND_DELETED if is_deleted else _SETTLED}
    if failed := history.find(moves.InvocationFailed):
        check = OUTCOME_MEANINGS.get(failed.reason)
        return {"state": "failed", "reason": failed.reason, "detail": failed.detail, "check": check}
    if history.find(moves.InvocationExpired):
        return {"state": "expired", "check": OUTCOME_MEANINGS["expired"]}
    requested = history.requested
    overdue = now_ms >= requested.expires_at_ms
    check = _OVERDUE.format(requested.invocation) if overdue else _OPEN
    return {"state": "requested", "check": check}


def _step(step: Step) -> dict[str, Any]:
    leader = getattr(step.event, "leader", None)
    return {
        "event": type(step.event).__name__.removeprefix("Invocation").lower(),
        "at_ms": step.at_ms,
        "signed_by": str(step.sender),
        "leader": None if leader is None else str(leader),
        "digest": str(step.transaction),
    }


def _windows(history: InvocationHistory, now_ms: int) -> list[dict[str, Any]]:
    """Return each leader's time window, and its result."""
    requested = history.requested
    length_ms = (requested.expires_at_ms - requested.requested_at_ms) // len(requested.leaders)
    windows = []
    for place, leader in enumerate(requested.leaders):
        begins_ms = requested.requested_at_ms + place * length_ms
        windows.append(
            {
                "leader": str(leader),
                "starts_at_ms": begins_ms,
                "ends_at_ms": begins_ms + length_ms,
                "state": _window_state(history, leader, begins_ms, begins_ms + length_ms, now_ms),
            }
        )
    return windows


def _window_state(
    history: InvocationHistory, leader: Address, begins_ms: int, ends_ms: int, now_ms: int
) -> str:
    """Return the result of a leader's window, for example `closed` or `missed`."""
    closing = next((step for step in history.steps[1:] if hasattr(step.event, "leader")), None)
    if closing is not None and getattr(closing.event, "leader", None) == leader:
        return "closed"
    end_ms = now_ms if closing is None else closing.at_ms
    if end_ms >= ends_ms:
        return "missed"
    if closing is not None:
        return "not_needed"
    return "has_time" if now_ms >= begins_ms else "waits"


def _money(history: InvocationHistory) -> dict[str, Any]:
    """Return the parts of the prepaid amount in MIST. Amounts that are not settled are None."""
    settled = history.find(moves.InvocationSettled)
    failed = history.find(moves.InvocationFailed)
    closed = settled or failed or history.find(moves.InvocationExpired)
    paid = settled or failed
    return {
        "prepaid_mist": history.requested.payment_mist,
        "price_mist": settled.price_mist if settled else (0 if closed else None),
        "price_paid_to": str(settled.payout) if settled else None,
        "fee_mist": paid.fee_mist if paid else (0 if closed else None),
        "refund_mist": closed.refund_mist if closed else None,
        "deleted": history.find(moves.InvocationDeleted) is not None,
    }
