"""`nexus-tools ask list | answer`: what workflows wait for a person to say."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    asked,
    carry_out,
    reads,
    report,
    writes,
)
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Question

_COLUMNS = {
    "invocation": "Question",
    "question": "Asks",
    "workflow": "Workflow",
    "asked": "Since",
    "until": "Until",
}


@click.command("list")
@click.option("--all", "everybody", is_flag=True, help="To others, too.")
@reads
async def list_questions(session: Session, *, everybody: bool) -> None:
    """List the open questions to the wallet, the oldest first.

    They are found by events, so a node tells of those that it keeps events of. With --json:
    `invocation`, `who`, `question`, `requester`, `execution`, `workflow`, `asked_at_ms` and
    `until_ms`.
    """
    async with session.nexus(signing=False) as nexus:
        who = None if everybody else session.own_address()
        with session.output.progress("reading events"):
            found = await nexus.asks.open(who)
            now_ms = await nexus.client.now_ms()
    rows: list[dict[str, Any]] = [
        {
            "invocation": str(each.invocation),
            "who": str(each.who),
            "question": each.question,
            "requester": str(each.requester),
            "execution": None if each.execution is None else str(each.execution),
            "workflow": each.workflow,
            "asked_at_ms": each.asked_at_ms,
            "until_ms": each.until_ms,
        }
        for each in found
    ]
    if not session.output.as_json:
        rows = [
            row
            | {
                "asked": units.ago(now_ms - row["asked_at_ms"]),
                "until": units.utc(row["until_ms"]),
            }
            for row in rows
        ]
    session.output.table(rows, _COLUMNS, empty="nobody asks you anything")


@click.command()
@click.argument("question")
@click.option("--approve", is_flag=True, help="Say yes.")
@click.option("--reject", is_flag=True, help="Say no.")
@click.option("--note", default="", help="What you have to say besides; the workflow gets it.")
@writes
async def answer(
    session: Session, question: str, *, approve: bool, reject: bool, note: str
) -> None:
    """Answer a QUESTION, an id as `nexus-tools ask list` shows it, with --approve or --reject.

    You pay the gas, and get the fee that who asks has paid for the answer.
    """
    from nexus_tools.sui.types.address import Address

    if approve == reject:
        raise UsageError("answer_missing", "say either --approve or --reject")
    place = Address.parse_whole(question)
    done = f"{'approved' if approve else 'rejected'} {question}"
    async with session.nexus() as nexus:
        found = await nexus.asks.get(place)
        if found.ending:
            session.output.warn(
                f"the execution {found.execution} was {found.ending}: your answer only lets it end"
            )

        def confirmed(rehearsed: "Sent") -> str:
            _show(session.output, found, approve=approve, note=note)
            return asked(
                f"{done}, with a fee of {units.sui(_fee_mist(nexus, rehearsed))} for you", rehearsed
            )

        sent = await carry_out(
            session,
            nexus.asks,
            lambda service: service.answer(place, approve=approve, note=note),
            question=confirmed,
        )
        fee_mist = _fee_mist(nexus, sent)
    record = {"question": question, "approved": approve, "note": note, "fee_mist": fee_mist}
    report(session.output, sent, done, record)


def _show(output: Output, found: "Question", *, approve: bool, note: str) -> None:
    """Say what is asked, and what is about to be said."""
    output.quote(f"{found.workflow or found.requester} asks: {found.question}")
    said = f", with the note: {note}" if note else ""
    output.quote(f"you say {'yes' if approve else 'no'}{said}")


def _fee_mist(nexus: "Nexus", sent: "Sent") -> int:
    """What who answers gets for it."""
    from nexus_tools.contracts.move_bindings.invocation import InvocationSettled

    return nexus.asks.emitted(sent, InvocationSettled).fee_mist
