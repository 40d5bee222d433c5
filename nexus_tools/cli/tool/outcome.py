"""An invocation as it stands on chain, and `nexus-tools tool outcome`."""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import writes
from nexus_tools.cli.output import Output
from nexus_tools.cli.sent import asked, carry_out, report
from nexus_tools.cli.session import Session
from nexus_tools.errors import NexusError, NotNowError

if TYPE_CHECKING:
    from nexus_tools.registry import Invocation, Invocations, Sent
    from nexus_tools.sui.address import Address

_LABELS = {
    "invocation": "invocation",
    "fqn": "tool",
    "state": "state",
    "variant": "variant",
    "ports": "ports",
    "reason": "reason",
    "detail": "detail",
    "leader": "closed by",
    "closed": "closed at",
    "unspent": "not spent",
    "digest": "digest",
}
_PATIENCE_S = 10.0


@click.command()
@click.argument("invocation")
@click.option("--wait", is_flag=True, help="Wait until it is closed.")
@click.option(
    "--delete", is_flag=True, help="Delete it, closed or expired, for what was not spent."
)
@writes
async def command(session: Session, invocation: str, *, wait: bool, delete: bool) -> None:
    """Show the INVOCATION and its outcome, as the chain has them."""
    from nexus_tools.sui.address import Address  # noqa: PLC0415 - not for `--help`

    place = Address.parse(invocation)
    async with session.invocations(signing=delete) as invocations:
        if wait:
            with session.output.progress("waiting for a leader"):
                await closed_invocation(invocations, place)
        document = await read_outcome(invocations, place)
        if not delete:
            print_outcome(session.output, document)
            return
        done = f"deleted the invocation, {units.sui(document['unspent_mist'])} came back"
        sent = await carry_out(
            session,
            invocations,
            lambda service: take_back(service, place),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    report(session.output, sent, done, document)


async def take_back(invocations: "Invocations", place: "Address") -> "Sent":
    """Delete an invocation for what was not spent; one that no leader closed expires first.

    Raises `not_requester` or `not_expired`.
    """
    from nexus_tools.registry.calls import invocation as calls  # noqa: PLC0415
    from nexus_tools.sui.builder import TransactionBuilder  # noqa: PLC0415

    found = await invocations.get(place)
    builder = TransactionBuilder()
    if not found.is_closed:
        calls.expire(builder, invocations.deployment, place)
    coin = calls.delete(builder, invocations.deployment, place)
    builder.merge_coins(builder.gas, [coin])
    return await invocations.send(builder, possible_at_ms=found.expires_at_ms)


async def closed_invocation(invocations: "Invocations", place: "Address") -> None:
    """Wait until an invocation is closed. Raises `not_closed` when no leader can close it more."""
    found = await invocations.get(place)
    left_ms = found.expires_at_ms - await invocations.client.now_ms()
    try:
        async with asyncio.timeout(max(0, left_ms) / 1_000 + _PATIENCE_S):
            await invocations.wait(place)
    except TimeoutError as error:
        raise NotNowError(
            "not_closed",
            f"no leader closed the invocation {place} in time: is one running?",
            hint=f"`nexus-tools tool outcome {place} --delete` takes the prepaid SUI back",
            details={"invocation": str(place)},
        ) from error


async def read_outcome(invocations: "Invocations", place: "Address") -> dict[str, Any]:
    """What the chain says of an invocation; `digest` is the transaction that changed it last."""
    found = await invocations.get(place)
    value = await invocations.client.object(place)
    return {
        "invocation": str(found.id),
        "fqn": found.fqn,
        "tool": str(found.tool),
        "requester": str(found.requester),
        "requested_at_ms": found.requested_at_ms,
        "expires_at_ms": found.expires_at_ms,
        "price_mist": found.price_mist,
        "unspent_mist": found.funds_mist,
        "digest": None if value is None else str(value.previous_transaction),
        **_state(found),
    }


def _state(found: "Invocation") -> dict[str, Any]:
    from nexus_tools.registry.objects import Failed, Settled  # noqa: PLC0415 - not for `--help`

    state = found.state
    document: dict[str, Any] = {"state": type(state).__name__.lower()}
    if isinstance(state, Settled):
        document |= {"variant": state.variant, "ports": state.ports.as_json()}
        document |= {"leader": str(state.leader), "closed_at_ms": state.settled_at_ms}
    elif isinstance(state, Failed):
        document |= {"reason": state.reason, "detail": state.detail}
        document |= {"leader": str(state.leader), "closed_at_ms": state.failed_at_ms}
    return document


def print_outcome(output: Output, document: dict[str, Any], **more: Any) -> None:
    """Print an outcome; `more` are further lines for people, by their labels."""
    if output.as_json:
        output.document(document)
        return
    output.record(units.in_words(document | more), _LABELS | {key: key for key in more})


def require_outcome(document: dict[str, Any]) -> None:
    """Raises `invocation_failed` unless the tool gave an outcome, error variants included."""
    if document["state"] == "failed":
        detail = f": {document['detail']}" if document["detail"] else ""
        raise NexusError(
            "invocation_failed",
            f"the invocation failed, {document['reason']}{detail}",
            details={"invocation": document["invocation"], "reason": document["reason"]},
        )
