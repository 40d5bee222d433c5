"""Execution of transactions: simulate, confirm, execute, and report the result and its cost."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import click

from nexus_tools.cli.framework.output.interrupts import terminable
from nexus_tools.cli.framework.output.output import Output
from nexus_tools.cli.framework.session import Session
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.sui.client import SignedTransaction
    from nexus_tools.sui.types.effects import TransactionEffects


class Simulatable(Protocol):
    """A service whose methods can be simulated."""

    def dry_run_client(self) -> Self:
        """Return a copy whose methods simulate their transactions."""


T = TypeVar("T")
Service = TypeVar("Service", bound=Simulatable)


def report(
    output: Output,
    sent: "Sent | Sequence[Sent]",
    done: str,
    record: Mapping[str, Any],
    *,
    result: str = "",
) -> None:
    """Print the message `done`, and `record` with the digest, the cost and the effects.

    With `--quiet`, a command prints only `result`, for example the ID of a new object. For several
    transactions, the report has the digest of the last transaction, the total cost, and each
    transaction in `transactions`. On a terminal, amounts are in SUI and lists are omitted. In a dry
    run, the report states that nothing was signed.
    """
    document = _of_all(
        [transaction_document(item) for item in (sent if isinstance(sent, Sequence) else [sent])]
    )
    if document["dry_run"]:
        output.note(f"simulated, nothing was signed or sent: {done}")
    else:
        output.done(done)
    if output.as_json:
        output.document({**record, **document})
        return
    if output.quiet and result:
        output.result(result)
        return
    shown = {key: value for key, value in record.items() if not isinstance(value, dict | list)}
    words = units.in_words(shown) | _for_people(document)
    named = "name" if "workflow" in record else "tool"
    output.record(words, {key: _label(key, named) for key in words})


def _label(key: str, named: str) -> str:
    """Return the label of a value. The key `fqn` becomes `named`, and an FQN stays unchanged."""
    return named if key == "fqn" else key if "." in key else key.replace("_", " ")


def _of_all(documents: list[dict[str, Any]]) -> dict[str, Any]:
    if len(documents) == 1:
        return documents[0]
    names = documents[0]["effects"]
    return documents[-1] | {
        "cost_mist": sum(document["cost_mist"] for document in documents),
        "gas": {
            name: sum(document["gas"][name] for document in documents)
            for name in documents[0]["gas"]
        },
        "effects": {
            name: [effect for document in documents for effect in document["effects"][name]]
            for name in names
        },
        "events": [event for document in documents for event in document["events"]],
        "transactions": documents,
    }


def confirmation_prompt(done: str, simulated: "Sent", *, step: str = "") -> str:
    """Return the confirmation prompt for a transaction, from its simulated result and cost.

    `step` numbers the prompt if a command has several, for example `Step 2 of 3`.
    """
    net = simulated.cost.net
    cost = f"costs {units.sui(net)}" if net >= 0 else f"refunds {units.sui(-net)}"
    prefix = f"{step}. " if step else ""
    return f"{prefix}The simulation succeeded: {done}. The transaction {cost}. Send it?"


def transaction_document(sent: "Sent") -> dict[str, Any]:
    """Return a transaction as JSON, with amounts in MIST, and with events by name."""
    from nexus_tools.sui.client import Executed

    cost = sent.cost
    return {
        "dry_run": not isinstance(sent, Executed),
        "digest": str(sent.digest) if isinstance(sent, Executed) else None,
        "cost_mist": cost.net,
        "gas": {
            "computation_mist": cost.computation_cost,
            "storage_mist": cost.storage_cost,
            "rebate_mist": cost.storage_rebate,
        },
        "effects": _effects(sent.effects),
        "events": [event.type.name for event in sent.events],
    }


def _effects(effects: "TransactionEffects") -> dict[str, list[str]]:
    """Return the IDs of the objects that a transaction created, changed and deleted."""
    from nexus_tools.sui.types.effects import Absent, IdOperation

    found: dict[str, list[str]] = {"created": [], "changed": [], "deleted": []}
    for object_id, change in effects.changed_objects:
        if change.operation is IdOperation.CREATED:
            found["created"].append(str(object_id))
        elif isinstance(change.output, Absent):
            found["deleted"].append(str(object_id))
        else:
            found["changed"].append(str(object_id))
    return found


def _for_people(document: Mapping[str, Any]) -> dict[str, Any]:
    cost = document["cost_mist"]
    shown = {"digest": document["digest"]}
    shown |= {"cost": units.sui(cost)} if cost >= 0 else {"rebate": units.sui(-cost)}
    if document["dry_run"]:
        effects = document["effects"]
        shown["objects"] = ", ".join(f"{len(ids)} {what}" for what, ids in effects.items())
        shown["events"] = ", ".join(document["events"])
    return shown


async def confirm_and_execute(
    session: Session,
    service: Service,
    verb: Callable[[Service], Awaitable[T]],
    *,
    question: Callable[[T], str],
) -> T:
    """Simulate a transaction, ask for confirmation, and execute it. A dry run only simulates.

    Raises the errors of `verb`. If the chain would refuse the transaction, the error is raised
    before the prompt. An empty `question` skips the prompt.
    """
    from asyncio import CancelledError

    output, session.last_sent = session.output, None
    if session.dry_run or not session.yes:
        with output.progress("simulating"):
            result = await verb(service.dry_run_client())
        if session.dry_run:
            return result
        asked = question(result)
        if asked:
            _confirm(session, asked)
    try:
        with output.progress("waiting for the transaction"), terminable():
            async with session.sending_turn():
                result = await verb(service)
    except CancelledError:
        _warn_of_interruption(output, session.last_sent)
        raise
    if session.last_sent is not None:
        session.sent.append(session.last_sent)
    return result


def _confirm(session: Session, question: str) -> None:
    """Ask for confirmation. Raises `declined`, with the transactions that were sent before."""
    try:
        session.output.confirm(question, yes=False)
    except NexusError as error:
        if error.code != "declined" or not session.sent:
            raise
        digests = [str(transaction.digest) for transaction in session.sent]
        what = "this transaction was" if len(digests) == 1 else "these transactions were"
        message = f"cancelled after {what} sent: {', '.join(digests)}"
        hint = f"{_where_to_look()}."
        raise NexusError("declined", message, hint=hint, details={"sent": digests}) from None


_RESULTS = {
    "package publish": "Run the same command again to continue without paying twice",
    "package upgrade": "Run `nexus-tools package upgrade show` to see the result",
    "package lock": "Run the same command again to continue without paying twice",
    "package": "Run `nexus-tools package show` to see the result",
    "workflow publish": "Run `nexus-tools workflow list` to see the result",
    "workflow": "Run `nexus-tools workflow executions` to see the result",
    "schedule": "Run `nexus-tools schedule list` to see the result",
    "question": "Run `nexus-tools question list` to see the result",
    "wallet": "Run `nexus-tools wallet show` to see the result",
    "leader": "Run `nexus-tools leader status` to see the result",
    "tool invoke": "Run `nexus-tools invocation list` to see the result",
    "invocation": "Run `nexus-tools invocation list` to see the result",
    "admin": "Run `nexus-tools admin show` to see the result",
}
"""Hints for the result of an interrupted command, by command or command group."""


def _warn_of_interruption(output: Output, sent: "SignedTransaction | None") -> None:
    if sent is None:
        output.warn("interrupted before the transaction was sent")
        return
    output.warn(
        f"interrupted after sending transaction {sent.digest}, which the network may still execute."
        f" {_where_to_look()}"
    )


def _where_to_look() -> str:
    """Return how to see or continue the result of the command that sent a transaction."""
    context = click.get_current_context(silent=True)
    noun, verb, *_ = [*(context.command_path.split()[1:] if context else []), "", ""]
    result = _RESULTS.get(f"{noun} {verb}") or _RESULTS.get(noun)
    return result or "Run `nexus-tools status` to see the result"
