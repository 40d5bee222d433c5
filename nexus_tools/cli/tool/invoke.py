"""The command `nexus-tools tool invoke`, which requests an invocation and waits for it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    Output,
    Session,
    complete_fqns,
    confirm_and_execute,
    find_leaders,
    leaders_option,
    report,
    terminable,
    transaction_command,
    transaction_document,
)
from nexus_tools.cli.shared.input_addresses import with_addresses
from nexus_tools.cli.shared.leader_choice import choice_document, describe_evidence
from nexus_tools.cli.shared.workflow_inputs import INPUTS, explained, read_inputs
from nexus_tools.cli.tool.outcome import outcome_preserved, print_outcome, read_outcome
from nexus_tools.cli.tool.proof import CHECK_DOMAIN, check_domain
from nexus_tools.errors import UnreachableError, ValidationError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Invocations, LeaderChoice
    from nexus_tools.registry.domain_proof import DomainProof
    from nexus_tools.tool import InterfaceValidator, Outcome


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@INPUTS
@leaders_option("Leader that may close the invocation")
@click.option(
    "--max-outcome-bytes",
    type=click.IntRange(min=0),
    help="Maximum size of the outcome. Unused bytes are refunded. Default: 4096, or the tool's"
    " minimum.",
)
@click.option("--max-cost", type=AMOUNT, help="Maximum total cost in SUI, excluding gas.")
@click.option(
    "--no-wait",
    is_flag=True,
    help="Print the invocation ID and exit without waiting. With -q, print only the ID.",
)
@click.option(
    "--delete", is_flag=True, help="Delete the closed invocation to reclaim its storage deposit."
)
@CHECK_DOMAIN
@transaction_command
async def command(
    session: Session,
    *,
    fqn: str,
    inputs: tuple[str, ...],
    leader_names: tuple[str, ...],
    max_outcome_bytes: int | None,
    max_cost: int | None,
    no_wait: bool,
    delete: bool,
    query_domain: bool | None,
) -> None:
    """Invoke the tool FQN on chain, wait until the invocation is closed, and print the outcome.

    An invocation names one or two leaders, in order of preference. The command takes the first
    active leaders that the tool accepts, from --leader, or else from the setting `leaders`. If both
    are missing, it chooses leaders by their track record.

    The unused part of the prepaid amount is refunded when the invocation is closed. The exit code
    is 1 if the invocation fails, and 7 if the answer violates the tool's output schema. For a
    priced tool, the command queries the tool's domain and warns if it lists other owners.
    """
    from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
    from nexus_tools.registry import DEFAULT_MAX_OUTCOME_BYTES
    from nexus_tools.tool import ToolFqn

    values = read_inputs(inputs)
    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(name)
        ports = tool.definition.parse().input_schema.get("properties", {})
        values = with_addresses(session, ports, values)
        _check_inputs(tool, values)
        if tool.price_mist:
            proof = await check_domain(session, nexus, tool, query_domain)
            _warn_of_owner(session.output, fqn, proof)
        choice = await _choose_leaders(session, nexus, tool, leader_names)
        if max_outcome_bytes is None:
            max_outcome_bytes = max(DEFAULT_MAX_OUTCOME_BYTES, tool.min_outcome_bytes)
        cost = await nexus.invocations.quote(tool, values, max_outcome_bytes)
        most = cost if max_cost is None else min(cost, max_cost)  # at most the amount in the prompt
        terms = {"max_outcome_bytes": max_outcome_bytes, "max_cost_mist": most}
        named = _named(choice)
        with terminable():
            sent, place = await confirm_and_execute(
                session,
                nexus.invocations,
                lambda service: service.request(tool, values, leaders=choice.leaders, **terms),
                question=lambda _: f"Prepay {units.sui(cost)} to invoke {fqn} with {named}?",
            )
            cost = nexus.invocations.emitted(sent, InvocationRequested).payment_mist
            facts = {"fqn": fqn, "invocation": str(place), "prepaid_mist": cost}
            facts |= choice_document(choice)
            done = f"requested {place} from {named}, and prepaid {units.sui(cost)}"
            if session.dry_run or no_wait:
                report(session.output, sent, done, facts, result=str(place))
                return
            session.output.note(done)
            await _finish(session, nexus.invocations, sent, facts, delete=delete)


def _named(choice: "LeaderChoice") -> str:
    leaders = ", or the backup leader ".join(map(str, choice.leaders))
    return f"the leader {leaders}{describe_evidence(choice)}"


async def _choose_leaders(
    session: Session, nexus: "Nexus", tool: "Tool", leader_names: tuple[str, ...]
) -> "LeaderChoice":
    """Return leaders for the invocation. Raises `no_leader`, or the errors of `find_leaders`."""
    own = (
        await find_leaders(nexus.leaders, leader_names)
        if leader_names
        else session.settings.leaders
    )
    try:
        with session.output.progress("choosing leaders"):
            return await nexus.invocations.choose_leaders(tool, own)
    except WrongStateError as error:
        if own and not leader_names:
            error.hint = (
                "No leader in the setting `leaders` can be used. Pass --leader, or run"
                f" `nexus-tools leader list --tool {tool.fqn}` to see the accepted leaders."
            )
        raise


def _warn_of_owner(output: Output, fqn: str, proof: "DomainProof | None") -> None:
    if proof is not None and proof.is_denied:
        output.warn(f"the domain of {fqn} does not confirm the tool's owner: {proof.reason}")


@contextmanager
def _findable(output: Output, facts: dict[str, Any]) -> Iterator[None]:
    """Report how to find the invocation if an interruption or unreachable node ends the block."""
    from asyncio import CancelledError

    try:
        yield
    except (CancelledError, UnreachableError):
        place = facts["invocation"]
        output.warn(
            f"the invocation {place} is on chain and continues. Run"
            f" `nexus-tools tool outcome {place} --wait` to see its outcome, or"
            " `nexus-tools invocation list --closed` to find it again"
        )
        if output.as_json:
            output.document(facts | {"state": "requested"})
        raise


def _check_inputs(tool: "Tool", inputs: dict[str, Any]) -> None:
    """Validate inputs with the leader's checks. Raises `input_invalid`."""
    from nexus_tools.tool import InterfaceValidator

    validator = InterfaceValidator(tool.definition.parse())
    try:
        validator.check_input(inputs)
    except ValidationError as error:
        error.hint = f"Run `nexus-tools tool show {tool.fqn}` to see the ports."
        for failure in error.details["failures"]:
            failure["accepts_string"] = _accepts_string(validator, inputs, failure["pointer"])
        raise explained(error, inputs) from None


def _accepts_string(validator: "InterfaceValidator", inputs: dict[str, Any], pointer: str) -> bool:
    """Return whether a string with the JSON text of the input at `pointer` is valid."""
    name = pointer.removeprefix("/")
    if name not in inputs:
        return False
    try:
        validator.check_input(inputs | {name: json.dumps(inputs[name])})
    except ValidationError as error:
        return all(failure["pointer"] != pointer for failure in error.details["failures"])
    return True


async def _finish(
    session: Session,
    invocations: "Invocations",
    sent: "Sent",
    facts: dict[str, Any],
    *,
    delete: bool,
) -> None:
    """Wait for the outcome, and print it with the total cost.

    Raises `InvocationFailedError` or `OutputInvalidError`. The function does not delete an
    invocation with an invalid answer.
    """
    from nexus_tools.registry import InvocationFailedError, OutputInvalidError
    from nexus_tools.sui.types.address import Address
    from nexus_tools.tool import Failure, FailureReason

    place = Address.parse(facts["invocation"])
    outcome: Outcome | None = None
    with _findable(session.output, facts):
        with session.output.progress("waiting for a leader"), suppress(OutputInvalidError):
            outcome = await invocations.wait(place)
        document, invalid = await read_outcome(invocations, place)
    transactions = {
        "request": transaction_document(sent),
        "close": {"digest": document.pop("digest")},
    }
    gas = sent.cost.net
    if delete and not invalid:
        progress = session.output.progress("deleting the invocation")
        async with session.sending_turn():
            with outcome_preserved(session, document), progress:
                deleted = await invocations.delete(place)
        transactions["delete"] = transaction_document(deleted)
        gas += deleted.cost.net
    paid = facts["prepaid_mist"] - document["refund_mist"] + gas
    document |= {"transactions": transactions, "paid_mist": paid, "gas_mist": gas}
    document["choice"] = facts["choice"]
    lines = {f"{verb} digest": one["digest"] for verb, one in transactions.items()}
    lines["gas + deposit"] = units.sui(gas)
    print_outcome(session.output, document, **lines, paid=f"{units.sui(paid)} in total")
    if invalid:
        raise invalid
    if isinstance(outcome, Failure):
        failed = InvocationFailedError(place, outcome)
        if outcome.reason is FailureReason.OUTPUT_TOO_LARGE:
            failed.hint = "Pass a larger --max-outcome-bytes. Unused bytes are refunded."
        raise failed
