"""The command group `nexus-tools invocation`: the wallet's invocations that are on chain."""

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
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.invocation import Invocation

_AT_ONCE = 100
_COLUMNS = {
    "invocation": "Invocation",
    "fqn": "Tool",
    "state": "State",
    "requested": "Requested",
    "deadline": "Deadline",
    "payment": "Prepaid",
}


@click.group()
def command() -> None:
    """List and delete the invocations that you requested.

    To request an invocation, run `nexus-tools tool invoke`. To show an invocation, run `nexus-tools
    tool outcome`. Invocations that belong to a workflow execution are deleted by `nexus-tools
    workflow clean`.
    """


@command.command("list")
@click.option("--all", "include_closed", is_flag=True, help="Include closed invocations.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Invocations per page.",
)
@click.option(
    "--page",
    type=click.IntRange(min=1),
    default=1,
    help="Page to show. Page 1 has the newest invocations.",
)
@network_command
async def list_invocations(
    session: Session, *, include_closed: bool, limit: int, page: int
) -> None:
    """List the wallet's invocations that are not closed yet, the newest first.

    The list omits deleted invocations. Use `nexus-tools tool outcome ID --explain` to see their
    history. The list comes from events, so it only goes back as far as the node keeps events.

    With --json, the fields are `invocation`, `fqn`, `state`, `expired`, `requested_at_ms`,
    `expires_at_ms` and `payment_mist` (the prepaid amount of a pending invocation).
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading events"):
            found = await nexus.invocations.owned_by(session.own_address())
            now_ms = await nexus.client.now_ms()
    found = tuple(reversed(found))
    wanted = [item for item in found if include_closed or not item.is_closed]
    shown = wanted[(page - 1) * limit : page * limit]
    rows = [invocation_document(item, now_ms) for item in shown]
    if not session.output.as_json:
        rows = [_for_people(row, now_ms) for row in rows]
    session.output.table(
        rows, _COLUMNS, empty="no invocations" if include_closed else "no pending invocations"
    )
    _tell_of_the_rest(
        session.output, found, len(wanted) - page * limit, include_closed=include_closed
    )


@command.command()
@click.argument("invocation", nargs=-1)
@click.option("--closed", is_flag=True, help="Delete all closed invocations of the wallet.")
@transaction_command
async def delete(session: Session, invocation: tuple[str, ...], *, closed: bool) -> None:
    """Delete closed or expired invocations and reclaim their storage deposits.

    Pass each INVOCATION to delete, or --closed. One transaction deletes at most 100 invocations. If
    no leader closed an invocation before it expired, this command closes it and refunds its prepaid
    amount.
    """
    from nexus_tools.sui.types.address import Address

    if bool(invocation) == closed:
        raise UsageError("invocation_missing", "pass either invocations to delete or --closed")
    async with session.nexus() as nexus:
        found = list(dict.fromkeys(map(Address.parse, invocation)))
        if closed:
            with session.output.progress("reading events"):
                mine = await nexus.invocations.owned_by(session.own_address())
            found = [item.id for item in mine if _can_be_deleted(item)]
        if not found:
            session.output.note("no closed invocations to delete")
            return
        places, left = found[:_AT_ONCE], len(found[_AT_ONCE:])
        done = f"deleted {units.count(len(places), 'invocation')}"
        sent = await confirm_and_execute(
            session,
            nexus.invocations,
            lambda service: service.delete(*places),
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    report(session.output, sent, done, {"invocations": list(map(str, places)), "left": left})
    if left:
        session.output.note(f"remaining: {left}. Run the same command again to delete them")


def _tell_of_the_rest(
    output: Output, found: "tuple[Invocation, ...]", behind: int, *, include_closed: bool
) -> None:
    if behind > 0:
        output.note(
            f"{units.count(behind, 'more invocation')}. Pass --page to see older invocations"
        )
    closed = sum(map(_can_be_deleted, found))
    if closed and not include_closed:
        output.note(
            f"{units.count(closed, 'closed invocation')} can be deleted. Pass --all to list them,"
            " or run `nexus-tools invocation delete --closed` to reclaim their storage deposits"
        )


def _can_be_deleted(found: "Invocation") -> bool:
    """Return whether an invocation is closed and not part of an execution.

    `nexus-tools workflow clean` deletes the invocations of an execution.
    """
    return found.is_closed and found.attempt is None


def invocation_document(found: "Invocation", now_ms: int) -> dict[str, Any]:
    """Return an invocation as JSON for lists: amounts in MIST, times in ms."""
    return {
        "invocation": str(found.id),
        "fqn": found.fqn,
        "state": type(found.state).__name__.lower(),
        "expired": found.is_expired_at(now_ms),
        "requested_at_ms": found.requested_at_ms,
        "expires_at_ms": found.expires_at_ms,
        "payment_mist": found.payment_mist,
    }


def _for_people(document: dict[str, Any], now_ms: int) -> dict[str, Any]:
    words = units.in_words(document)
    if document["expired"]:
        words["state"] = "expired"
    if document["state"] == "requested":
        words["deadline"] = units.utc(document["expires_at_ms"], now_ms)
    return words
