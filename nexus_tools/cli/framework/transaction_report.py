"""What a verb did on chain, or would do: in words, with its digest and what it cost."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import click

from nexus_tools.cli.framework.output.interrupts import terminable
from nexus_tools.cli.framework.output.output import Output
from nexus_tools.cli.framework.session import Session
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.sui.client import SignedTransaction
    from nexus_tools.sui.types.effects import TransactionEffects


class Rehearsable(Protocol):
    """What has verbs that can be simulated."""

    def rehearsal(self) -> Self:
        """The same, with verbs that are simulated."""


T = TypeVar("T")
Service = TypeVar("Service", bound=Rehearsable)


def report(
    output: Output,
    sent: "Sent | Sequence[Sent]",
    done: str,
    record: Mapping[str, Any],
    *,
    result: str = "",
) -> None:
    """Say what was `done`, and print `record` with the digest, the cost and the effects.

    A quiet command prints its `result` alone, where it has one, such as the id of what it made.
    What took several transactions has the digest of the last, the cost of all of them, and each as
    one of `transactions`. People see amounts in SUI, and no lists. In a dry run it says that
    nothing was signed.
    """
    document = _of_all(
        [sent_record(each) for each in (sent if isinstance(sent, Sequence) else [sent])]
    )
    if document["dry_run"]:
        output.note(f"simulated, nothing was signed: {done}")
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
    """What people read before a value; an FQN is itself one, or names what the record is of."""
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
            name: [each for document in documents for each in document["effects"][name]]
            for name in names
        },
        "events": [event for document in documents for event in document["events"]],
        "transactions": documents,
    }


def asked(done: str, rehearsed: "Sent") -> str:
    """The question before a verb, from what its rehearsal did and cost."""
    net = rehearsed.cost.net
    cost = f"for {units.sui(net)}" if net >= 0 else f"which brings {units.sui(-net)}"
    return f"Not sent yet. Simulated: {done}, {cost}. Do it?"


def sent_record(sent: "Sent") -> dict[str, Any]:
    """The transaction as JSON: amounts in MIST, events by their names."""
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
    """The ids of the objects that a transaction created, changed and deleted."""
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


async def carry_out(
    session: Session,
    service: Service,
    verb: Callable[[Service], Awaitable[T]],
    *,
    question: Callable[[T], str],
) -> T:
    """Rehearse a verb, ask with what that showed, and do it; in a dry run only rehearse.

    The rehearsal is a simulation. Raises what the verb raises: before anybody is asked, if the
    chain would refuse it. A `question` that is empty is not asked.
    """
    from asyncio import CancelledError

    output, session.last_sent = session.output, None
    if session.dry_run or not session.yes:
        with output.progress("simulating"):
            result = await verb(service.rehearsal())
        if session.dry_run:
            return result
        asked = question(result)
        if asked:
            output.confirm(asked, yes=False)
    try:
        with output.progress("waiting for the network"), terminable():
            return await verb(service)
    except CancelledError:
        _warn_of_interruption(output, session.last_sent)
        raise


_RESULTS = {
    "package publish": "the same command goes on from there, and pays for nothing twice",
    "package upgrade": "`nexus-tools package upgrade show` shows its result",
    "package": "`nexus-tools package show` shows its result",
    "workflow publish": "`nexus-tools workflow list` shows its result",
    "workflow": "`nexus-tools workflow executions` shows its result",
    "schedule": "`nexus-tools schedule list` shows its result",
    "ask": "`nexus-tools ask list` shows its result",
    "wallet": "`nexus-tools wallet show` shows its result",
    "leader": "`nexus-tools leader status` shows its result",
    "tool invoke": "`nexus-tools invocation list` shows its result",
    "invocation": "`nexus-tools invocation list` shows its result",
    "admin": "`nexus-tools admin show` shows its result",
}
"""Which command shows what an interrupted verb did: of a verb, or of all verbs of its noun."""


def _warn_of_interruption(output: Output, sent: "SignedTransaction | None") -> None:
    if sent is None:
        output.warn("stopped before the transaction was sent")
        return
    context = click.get_current_context(silent=True)
    noun, verb, *_ = [*(context.command_path.split()[1:] if context else []), "", ""]
    result = _RESULTS.get(f"{noun} {verb}") or _RESULTS.get(noun)
    result = result or "`nexus-tools status` shows its result"
    output.warn(f"the transaction {sent.digest} was sent, and may be executed: {result}")
