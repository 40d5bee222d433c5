"""The command `nexus-tools tool outcome`, which shows an invocation on chain."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Output,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    plain,
    report,
    transaction_command,
)
from nexus_tools.cli.tool.explain import explain
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.invocation import Invocation
    from nexus_tools.registry import Invocations, OutputInvalidError
    from nexus_tools.sui.types.address import Address

_LABELS = {
    "invocation": "invocation",
    "fqn": "tool",
    "state": "state",
    "deadline": "deadline",
    "variant": "variant",
    "ports": "ports",
    "output_invalid": "invalid",
    "reason": "reason",
    "detail": "detail",
    "leaders": "leaders",
    "leader": "closed by",
    "closed": "closed at",
    "payment": "prepaid",
    "price": "price",
    "fee": "fee",
    "refund": "refunded",
    "digest": "digest",
}


@click.command()
@click.argument("invocation")
@click.option("--wait", is_flag=True, help="Wait until the invocation is closed.")
@click.option(
    "--delete",
    is_flag=True,
    help="Delete the closed or expired invocation to reclaim its storage deposit.",
)
@click.option(
    "--explain",
    "explain_outcome",
    is_flag=True,
    help="Explain the outcome: steps, leaders, checks and payments.",
)
@transaction_command
async def command(
    session: Session, invocation: str, *, wait: bool, delete: bool, explain_outcome: bool
) -> None:
    """Show INVOCATION and its outcome from the chain.

    The unused part of the prepaid amount was refunded when the invocation was closed. If no leader
    closed the invocation in time, --delete closes it and refunds the whole prepaid amount. --delete
    prints the outcome first. If the answer violates the tool's output schema, the exit code is 7.

    --explain explains the outcome from the events on chain and from the journals of your stopped
    Leaders. The explanation also works for deleted invocations.

    With --explain --json, the fields are `state`, `check` (the deciding check), `steps`, `windows`,
    `money` and `journals`. Each step has `event`, `at_ms`, `signed_by`, `leader` and `digest`. Each
    window has `leader`, `starts_at_ms`, `ends_at_ms` and `state`, which is `closed`, `missed`,
    `not_needed`, `has_time` or `waits`. If the answer violates the output schema, `invalid_output`
    has the `schema` and `failures`. Each failure has the port (`pointer`), the problem (`message`)
    and the keyword (`rule`).
    """
    from nexus_tools.registry import OutputInvalidError
    from nexus_tools.sui.types.address import Address

    if explain_outcome and delete:
        raise UsageError("explain_and_delete", "--explain and --delete cannot be combined")
    place = Address.parse_whole(invocation)
    async with session.nexus(signing=delete) as nexus:
        invocations = nexus.invocations
        if wait:
            with session.output.progress("waiting for a leader"), suppress(OutputInvalidError):
                await invocations.wait(place)  # an invalid answer is printed first
        if explain_outcome:
            await explain(session, nexus, place)
            return
        document, invalid = await read_outcome(invocations, place)
        if not delete:
            print_outcome(session.output, document)
            if invalid:
                raise invalid
            return
        if not session.output.as_json:
            print_outcome(session.output, document)  # the deletion makes the answer unreadable
        if invalid:
            session.output.warn(plain(invalid.message))
        back = document["payment_mist"]
        done = "deleted the invocation" + (f", {units.sui(back)} refunded" if back else "")
        with outcome_preserved(session, document if session.output.as_json else None):
            sent = await confirm_and_execute(
                session,
                invocations,
                lambda service: service.delete(place),
                question=lambda simulated: confirmation_prompt(done, simulated),
            )
    report(session.output, sent, done, document if session.output.as_json else {})


async def read_outcome(
    invocations: "Invocations", place: "Address"
) -> "tuple[dict[str, Any], OutputInvalidError | None]":
    """Return an invocation from the chain, and the error if its answer is invalid.

    `digest` is the last transaction that changed the invocation.
    """
    from nexus_tools.registry import validate_answers

    found = await invocations.get(place)
    invalid = (await validate_answers(invocations, [found])).get(found.id)
    value = await invocations.client.object(place)
    now_ms = await invocations.client.now_ms()
    digest = None if value is None else value.previous_transaction
    closing = await invocations.closing_event(place) if found.is_closed else None
    document = {
        "invocation": str(found.id),
        "fqn": found.fqn,
        "tool": str(found.tool),
        "requester": str(found.requester),
        "leaders": [str(leader) for leader in found.leaders],
        "requested_at_ms": found.requested_at_ms,
        "expires_at_ms": found.expires_at_ms,
        "expired": found.is_expired_at(now_ms),
        "price_mist": found.price_mist,
        "price_paid_to": _payee(closing),
        "payment_mist": found.payment_mist,
        "fee_mist": getattr(closing, "fee_mist", None),
        "refund_mist": getattr(closing, "refund_mist", None),
        "digest": None if digest is None else str(digest),
        **_state(found, closing, invalid),
    }
    return document | ({"output_invalid": invalid.message} if invalid else {}), invalid


def _payee(closing: Any) -> str | None:
    """Return the recipient of the price, or None if the invocation was not settled."""
    payout = getattr(closing, "payout", None)
    return None if payout is None else str(payout)


def _state(
    found: "Invocation", closing: Any, invalid: "OutputInvalidError | None"
) -> dict[str, Any]:
    from nexus_tools.contracts.move_bindings.state import State

    state = found.state
    document: dict[str, Any] = {"state": type(state).__name__.lower()}
    if isinstance(state, State.Settled):
        ports = invalid.answer.ports if invalid else state.ports.with_locations()
        document |= {"variant": state.variant, "ports": ports}
        document |= {"leader": str(state.leader), "closed_at_ms": state.settled_at_ms}
    elif isinstance(state, State.Failed):
        document |= {"reason": state.reason, "detail": getattr(closing, "detail", None)}
        document |= {"leader": str(state.leader), "closed_at_ms": state.failed_at_ms}
    return document


def _said(document: dict[str, Any]) -> str:
    """Return the state for display. An open invocation after its deadline is expired."""
    is_over = document["state"] == "requested" and document["expired"]
    return "expired" if is_over else str(document["state"])


@contextmanager
def outcome_preserved(session: Session, document: dict[str, Any] | None) -> Iterator[None]:
    """Print an outcome if the block fails after it sent a transaction.

    The network may still delete the invocation, and then the outcome cannot be read again.
    """
    try:
        yield
    except BaseException:
        if document is not None and session.last_sent is not None:
            print_outcome(session.output, document)
        raise


def print_outcome(output: Output, document: dict[str, Any], **more: Any) -> None:
    """Print an outcome. `more` maps labels to additional lines."""
    if output.as_json:
        output.document(document)
        return
    words = units.in_words(document) | more | {"state": _said(document)}
    if document["state"] == "requested":
        over = " (expired: pass --delete for a refund)" if document["expired"] else ""
        words["deadline"] = f"{words['expires']}{over}"
    else:
        words["payment"] = None
    payee = document["price_paid_to"]
    words["price"] = f"{words['price']} to {payee}" if payee and document["price_mist"] else None
    output.record(words, _LABELS | {key: key for key in more})
