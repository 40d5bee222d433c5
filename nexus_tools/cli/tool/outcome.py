"""An invocation as it stands on chain, and `nexus-tools tool outcome`."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, asked, carry_out, plain, report, writes
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
    "leaders": "named",
    "leader": "closed by",
    "closed": "closed at",
    "payment": "prepaid",
    "price": "price",
    "fee": "fee",
    "refund": "came back",
    "digest": "digest",
}


@click.command()
@click.argument("invocation")
@click.option("--wait", is_flag=True, help="Wait until it is closed.")
@click.option(
    "--delete", is_flag=True, help="Delete it, closed or expired, for its storage rebate."
)
@click.option(
    "--why", is_flag=True, help="Tell how it came to that: who, when, which check, money."
)
@writes
async def command(
    session: Session, invocation: str, *, wait: bool, delete: bool, why: bool
) -> None:
    """Show the INVOCATION and its outcome, as the chain has them.

    What was prepaid and not needed came back when it was closed. One that nobody closed in time is
    closed by --delete, which brings all of it back. If the answer breaks the tool's output schema,
    the exit code is 7.

    With --why also of one that was deleted, from the events of the chain and from the journals of
    Leaders of yours that do not run now.

    With --why --json: the `state`, the `check` that decided, `steps` (`what`, `at_ms`,
    `signed_by`, `leader`, `digest`), `windows` (`leader`, `begins_at_ms`, `ends_at_ms`, and what
    the leader `did`: `closed`, `missed`, `not_needed`, `has_time` or `waits`), `money` and
    `journals`. If the answer breaks the output schema, `broken` names the `schema`, and in
    `failures` the port (`pointer`), what is wrong (`message`) and the keyword (`rule`).
    """
    from nexus_tools.registry import OutputInvalidError
    from nexus_tools.sui.types.address import Address

    if why and delete:
        raise UsageError("why_and_delete", "--why tells, and --delete takes: give one of them")
    place = Address.parse_whole(invocation)
    async with session.nexus(signing=delete) as nexus:
        invocations = nexus.invocations
        if wait:
            with session.output.progress("waiting for a leader"), suppress(OutputInvalidError):
                await invocations.wait(place)  # an answer that is invalid is shown first
        if why:
            await explain(session, nexus, place)
            return
        document, invalid = await read_outcome(invocations, place)
        if not delete:
            print_outcome(session.output, document)
            if invalid:
                raise invalid
            return
        if invalid:
            session.output.warn(plain(invalid.message))
        back = document["payment_mist"]
        done = "deleted the invocation" + (f", {units.sui(back)} came back" if back else "")
        sent = await carry_out(
            session,
            invocations,
            lambda service: service.delete(place),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    if not session.output.as_json:
        names = ("invocation", "fqn")
        document = {name: document[name] for name in names} | {"state": _said(document)}
    report(session.output, sent, done, document)


async def read_outcome(
    invocations: "Invocations", place: "Address"
) -> "tuple[dict[str, Any], OutputInvalidError | None]":
    """Return an invocation as the chain has it, and the error of an answer that is not valid.

    `digest` is the transaction that changed it last.
    """
    from nexus_tools.registry import invalid_answers

    found = await invocations.get(place)
    invalid = (await invalid_answers(invocations, [found])).get(found.id)
    value = await invocations.client.object(place)
    now_ms = await invocations.client.now_ms()
    digest = None if value is None else value.previous_transaction
    closing = await invocations.closing(place) if found.is_closed else None
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
    """Who got the price: of an invocation that was not settled nobody does."""
    payout = getattr(closing, "payout", None)
    return None if payout is None else str(payout)


def _state(
    found: "Invocation", closing: Any, invalid: "OutputInvalidError | None"
) -> dict[str, Any]:
    from nexus_tools.contracts.move_bindings.state import State

    state = found.state
    document: dict[str, Any] = {"state": type(state).__name__.lower()}
    if isinstance(state, State.Settled):
        ports = invalid.answer.ports if invalid else state.ports.with_places()
        document |= {"variant": state.variant, "ports": ports}
        document |= {"leader": str(state.leader), "closed_at_ms": state.settled_at_ms}
    elif isinstance(state, State.Failed):
        document |= {"reason": state.reason, "detail": getattr(closing, "detail", None)}
        document |= {"leader": str(state.leader), "closed_at_ms": state.failed_at_ms}
    return document


def _said(document: dict[str, Any]) -> str:
    """The state for people: past its deadline, an invocation that nobody closed is expired."""
    is_over = document["state"] == "requested" and document["expired"]
    return "expired" if is_over else str(document["state"])


def print_outcome(output: Output, document: dict[str, Any], **more: Any) -> None:
    """Print an outcome; `more` are further lines for people, by their labels."""
    if output.as_json:
        output.document(document)
        return
    words = units.in_words(document) | more | {"state": _said(document)}
    if document["state"] == "requested":
        over = " (over: --delete brings back what was prepaid)" if document["expired"] else ""
        words["deadline"] = f"{words['expires']}{over}"
    else:
        words["payment"] = None
    payee = document["price_paid_to"]
    words["price"] = f"{words['price']} to {payee}" if payee and document["price_mist"] else None
    output.record(words, _LABELS | {key: key for key in more})
