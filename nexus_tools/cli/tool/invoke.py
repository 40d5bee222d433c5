"""`nexus-tools tool invoke`: request an invocation on chain, and wait for its outcome."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import (
    AMOUNT,
    Output,
    Session,
    carry_out,
    complete_fqns,
    read_option,
    report,
    sent_record,
    terminable,
    writes,
)
from nexus_tools.cli.tool.outcome import print_outcome, read_outcome
from nexus_tools.cli.tool.proof import ASK_DOMAIN, asked_proof
from nexus_tools.errors import UnreachableError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.domain_proof import Proof
    from nexus_tools.package import Sent
    from nexus_tools.package.move.tool import Tool
    from nexus_tools.registry import Invocations
    from nexus_tools.sui.address import Address


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@click.option(
    "--input",
    "input_text",
    metavar="JSON|@FILE|-",
    default="{}",
    help="The ports, as a JSON object: itself, in a file, or on stdin.",
)
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    default=4_096,
    show_default=True,
    help="How large the outcome may be; what it does not use is refunded.",
)
@click.option("--max-cost", type=AMOUNT, help="Pay at most so many SUI besides gas.")
@click.option("--no-wait", is_flag=True, help="Print the invocation's id and do not wait.")
@click.option("--keep", is_flag=True, help="Keep the invocation on chain, with its refund.")
@ASK_DOMAIN
@writes
async def command(
    session: Session,
    *,
    fqn: str,
    input_text: str,
    max_outcome_bytes: int,
    max_cost: int | None,
    no_wait: bool,
    keep: bool,
    ask: bool | None,
) -> None:
    """Invoke the tool FQN on chain: request, wait for a leader, print the outcome from the chain.

    Afterwards the invocation is deleted, which brings the refund: what was prepaid and not spent.
    An error variant is an answer like any other; if the invocation fails, the exit code is 1.
    Of a tool with a price the domain is asked first: you are warned if it lists others as owners.
    """
    from nexus_tools.tool import ToolFqn

    inputs = read_option(input_text, "--input")
    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(name)
        _check_inputs(tool, inputs)
        if tool.price_mist:
            _warn_of_owner(session.output, fqn, await asked_proof(session, nexus, tool, ask))
        cost = await nexus.invocations.quote(tool, inputs, max_outcome_bytes)
        with terminable():
            sent, place = await carry_out(
                session,
                nexus.invocations,
                lambda service: service.request(
                    tool, inputs, max_outcome_bytes=max_outcome_bytes, max_cost_mist=max_cost
                ),
                question=lambda _: f"Prepay {units.sui(cost)} for an invocation of {fqn}?",
            )
            facts = {"fqn": fqn, "invocation": str(place), "prepaid_mist": cost}
            done = f"requested {place}, {units.sui(cost)} prepaid"
            if session.dry_run or no_wait:
                report(session.output, sent, done, facts)
                return
            session.output.note(done)
            with _findable(session.output, facts):
                await _finish(session, nexus.invocations, sent, place, cost, keep=keep)


def _warn_of_owner(output: Output, fqn: str, proof: "Proof | None") -> None:
    if proof is not None and proof.is_denied:
        output.warn(f"whoever owns {fqn} may be a stranger to its domain: {proof.reason}")


@contextmanager
def _findable(output: Output, facts: dict[str, Any]) -> Iterator[None]:
    """The time in which Ctrl-C, SIGTERM or a silent node tell how to find what was prepaid."""
    from asyncio import CancelledError

    try:
        yield
    except (CancelledError, UnreachableError):
        place = facts["invocation"]
        output.warn(
            f"the invocation {place} is on chain, and goes on without you:"
            f" `nexus-tools tool outcome {place} --wait` shows what it comes to, `--delete` takes"
            " the refund, `nexus-tools invocation list --all` finds it again"
        )
        if output.as_json:
            output.document(facts | {"state": "requested"})
        raise


def _check_inputs(tool: "Tool", inputs: Any) -> None:
    """Raises `input_invalid` for what the leader would refuse."""
    from nexus_tools.tool import InterfaceValidator

    hint = f"`nexus-tools tool show {tool.fqn}` shows the ports"
    if not isinstance(inputs, dict):
        raise ValidationError("input_invalid", "the input is no JSON object of ports", hint=hint)
    validator = InterfaceValidator(tool.definition.parse())
    try:
        validator.check_input(inputs)
    except ValidationError as error:
        error.hint = hint
        raise


async def _finish(
    session: Session,
    invocations: "Invocations",
    sent: "Sent",
    place: "Address",
    prepaid: int,
    *,
    keep: bool,
) -> None:
    """Wait for the outcome, print it, and take the refund. Raises `InvocationFailedError`."""
    from nexus_tools.registry import InvocationFailedError
    from nexus_tools.tool import Failure

    with session.output.progress("waiting for a leader"):
        outcome = await invocations.wait(place)
    document = await read_outcome(invocations, place)
    transactions = {"request": sent_record(sent), "close": {"digest": document.pop("digest")}}
    paid = prepaid + sent.cost.net
    if not keep:
        with session.output.progress("taking the refund"):
            deleted = await invocations.take_refund(place)
        transactions["delete"] = sent_record(deleted)
        paid += deleted.cost.net - document["refund_mist"]
    document |= {"transactions": transactions, "paid_mist": paid}
    lines = {f"{verb} digest": one["digest"] for verb, one in transactions.items()}
    print_outcome(session.output, document, **lines, paid=units.sui(paid))
    if isinstance(outcome, Failure):
        raise InvocationFailedError(place, outcome)
