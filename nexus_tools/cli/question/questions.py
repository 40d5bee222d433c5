"""The commands `nexus-tools question list` and `answer`, for workflows that wait for a user."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    network_command,
    report,
    transaction_command,
)
from nexus_tools.cli.shared.pages import note_rest, page_options, read_items
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Question

_COLUMNS = {
    "invocation": "ID",
    "question": "Question",
    "workflow": "Workflow",
    "asked": "Asked",
    "until": "Deadline",
}


@click.command("list")
@click.option("--others", is_flag=True, help="Include questions for other accounts.")
@page_options("questions")
@network_command
async def list_questions(session: Session, *, others: bool, limit: int, everything: bool) -> None:
    """List the open questions for the wallet, the newest first.

    The list comes from events, so it only goes back as far as the node keeps events. If many
    questions are open, a note says which period the list covers. With --json, the fields are
    `invocation`, `answerer`, `question`, `requester`, `execution`, `workflow`, `asked_at_ms` and
    `deadline_ms`.
    """
    async with session.nexus(signing=False) as nexus:
        who = None if others else session.own_address()
        page = await read_items(
            session.output,
            "questions",
            lambda size, before: nexus.questions.open(who, limit=size, before=before),
            limit=limit,
            everything=everything,
        )
        now_ms = await nexus.client.now_ms()
        await note_rest(session.output, nexus.client, page, "questions", limit=limit)
    rows: list[dict[str, Any]] = [
        {
            "invocation": str(item.invocation),
            "answerer": str(item.answerer),
            "question": item.question,
            "requester": str(item.requester),
            "execution": None if item.execution is None else str(item.execution),
            "workflow": item.workflow,
            "asked_at_ms": item.asked_at_ms,
            "deadline_ms": item.deadline_ms,
        }
        for item in page.items
    ]
    if not session.output.as_json:
        rows = [
            row
            | {
                "asked": units.ago(now_ms - row["asked_at_ms"]),
                "until": units.utc(row["deadline_ms"]),
            }
            for row in rows
        ]
    session.output.table(rows, _COLUMNS, empty="No open questions for this wallet.")


@click.command()
@click.argument("question")
@click.option("--approve", is_flag=True, help="Approve the question.")
@click.option("--reject", is_flag=True, help="Reject the question.")
@click.option("--note", default="", help="Note that is passed to the workflow.")
@transaction_command
async def answer(
    session: Session, question: str, *, approve: bool, reject: bool, note: str
) -> None:
    """Approve or reject QUESTION. `nexus-tools question list` shows the IDs of questions.

    You pay the gas, and receive the answer fee that the requester has prepaid.
    """
    from nexus_tools.sui.types.address import Address

    if approve == reject:
        raise UsageError("answer_missing", "pass either --approve or --reject")
    place = Address.parse_whole(question)
    done = f"{'approved' if approve else 'rejected'} {question}"
    async with session.nexus() as nexus:
        found = await nexus.questions.get(place)
        if found.decided_status:
            session.output.warn(
                f"the execution {found.execution} was {found.decided_status}, so your answer only"
                " closes the question"
            )

        def confirmed(simulated: "Sent") -> str:
            _show(session.output, found, approve=approve, note=note)
            return confirmation_prompt(
                f"{done}, with a fee of {units.sui(_fee_mist(nexus, simulated))} for you", simulated
            )

        sent = await confirm_and_execute(
            session,
            nexus.questions,
            lambda service: service.answer(place, approve=approve, note=note),
            question=confirmed,
        )
        fee_mist = _fee_mist(nexus, sent)
    record = {"question": question, "approved": approve, "note": note, "fee_mist": fee_mist}
    report(session.output, sent, done, record)


def _show(output: Output, found: "Question", *, approve: bool, note: str) -> None:
    """Print the question and the answer that is about to be sent."""
    output.quote(f"{found.workflow or found.requester} asks: {found.question}")
    said = f", with the note: {note}" if note else ""
    output.quote(f"your answer: {'approve' if approve else 'reject'}{said}")


def _fee_mist(nexus: "Nexus", sent: "Sent") -> int:
    """Return the fee that the answering account receives."""
    from nexus_tools.contracts.move_bindings.invocation import InvocationSettled

    return nexus.questions.emitted(sent, InvocationSettled).fee_mist
