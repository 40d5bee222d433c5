"""The explanation of an invocation's outcome: steps, leaders, checks and payments."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Output, Session, plain
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import InvocationHistory
    from nexus_tools.sui.types.address import Address


async def explain(session: Session, nexus: "Nexus", invocation: "Address") -> None:
    """Print the history of an invocation from events, and from journals of the user's Leaders.

    Raises `output_invalid` at the end if the answer violates the tool's output schema.
    """
    from nexus_tools.registry import explain_history, find_invalid_answer

    with session.output.progress("reading events"):
        history = await nexus.invocations.history(invocation)
        now_ms = await nexus.client.now_ms()
        invalid = await find_invalid_answer(nexus.invocations, history)
    document = explain_history(history, now_ms, invalid) | {"journals": _journals(session, history)}
    if session.output.as_json:
        session.output.document(document)
    else:
        _print(session.output, document, now_ms)
    if invalid is not None:
        raise invalid


def _journals(session: Session, history: "InvocationHistory") -> list[dict[str, str]]:
    """Return the invocation's entries in the journals of the user's stopped Leaders."""
    from nexus_tools.leader import stage_of

    requested: InvocationRequested = history.requested
    found = []
    for leader in requested.leaders:
        journal = session.settings.data_directory / "leaders" / f"{leader}.sqlite"
        stage = stage_of(journal, requested.invocation) if journal.is_file() else None
        if stage is not None:
            found.append({"leader": str(leader), "file": str(journal), "stage": stage.value})
    return found


# --- Text output

_LABELS = ("invocation", "tool", "requester", "state", "variant", "reason", "detail", "check")
_CLOSED_BY_LEADER = ("settled", "failed")
"""The steps whose leader acts. The event of a deletion names the leader that closed before."""
_WINDOW_STATES = {
    "closed": "closed it",
    "missed": "missed it",
    "not_needed": "was not needed",
    "has_time": "may close it until then",
    "waits": "can close it after the previous window",
}


def _print(output: Output, document: dict[str, Any], now_ms: int) -> None:
    lines = {key: (document | {"tool": document["fqn"]}).get(key) for key in _LABELS}
    for step in document["steps"]:
        is_closing = step["leader"] and step["event"] in _CLOSED_BY_LEADER
        who = f"leader {step['leader']}" if is_closing else step["signed_by"]
        lines[step["event"]] = f"{units.utc(step['at_ms'])}, by {who}, in {step['digest']}"
    invalid_output = document.get("invalid_output", {})
    for number, failure in enumerate(invalid_output.get("failures") or (), 1):
        words = f"{failure['pointer'] or 'the root'}: {failure['message']}"
        if rule := failure.get("rule"):
            words += f", keyword {rule} of the {invalid_output['schema']} schema"
        lines[f"violation {number}"] = plain(words)
    for number, window in enumerate(document["windows"], 1):
        is_open = window["state"] in ("has_time", "waits")
        ends = units.utc(window["ends_at_ms"], now_ms if is_open else None)
        lines[f"window {number}"] = (
            f"until {ends}: leader {window['leader']} {_WINDOW_STATES[window['state']]}"
        )
    money = units.in_words(document["money"])
    lines["prepaid"] = money["prepaid"]
    if money["refund"] is not None:
        paid_to = f" to {money['price_paid_to']}" if money["price_paid_to"] else ""
        lines["price"] = f"{money['price']}{paid_to}"
        lines["fee"] = (
            f"{money['fee']} to the leader" if document["money"]["fee_mist"] else money["fee"]
        )
        lines["refunded"] = money["refund"]
    for number, journal in enumerate(document["journals"], 1):
        lines[f"journal {number}"] = f"{journal['stage']}, in {plain(journal['file'])}"
    output.record(lines)
