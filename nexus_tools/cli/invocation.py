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
from nexus_tools.cli.shared.pages import page_options, read_items
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nexus_tools.cli.shared.pages import ReadPage
    from nexus_tools.contracts.move_bindings.invocation import Invocation
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import Invocations, Page
    from nexus_tools.sui.client import Cursor
    from nexus_tools.sui.types.address import Address

_AT_ONCE = 100
_COLUMNS = {
    "invocation": "Invocation",
    "fqn": "Tool",
    "state": "State",
    "requested": "Requested",
    "deadline": "Deadline",
    "payment": "Prepaid",
}

_DELETED_COLUMNS = {
    "invocation": "Invocation",
    "fqn": "Tool",
    "state": "State",
    "variant": "Variant",
}


@click.group()
def command() -> None:
    """List and delete the invocations that you requested.

    To request an invocation, run `nexus-tools tool invoke`. To show an invocation, run `nexus-tools
    tool outcome`. Invocations that belong to a workflow execution are deleted by `nexus-tools
    workflow clean`.
    """


@command.command("list")
@click.option("--closed", is_flag=True, help="Include closed invocations.")
@page_options("invocations")
@network_command
async def list_invocations(session: Session, *, closed: bool, limit: int, everything: bool) -> None:
    """List the wallet's invocations that are not closed yet, the newest first.

    The list also has the pending invocations of the last 50 workflow executions that the wallet
    started. `nexus-tools workflow show` lists all invocations of an execution. The list omits
    deleted invocations. Use `nexus-tools tool outcome ID --explain` to see their history. The list
    comes from events, so it only goes back as far as the node keeps events.

    With --json, the fields are `invocation`, `fqn`, `state`, `expired`, `requested_at_ms`,
    `expires_at_ms` and `payment_mist` (the prepaid amount of a pending invocation).
    """
    address, deletable = session.own_address(), None
    async with session.nexus(signing=False) as nexus:
        invocations = nexus.invocations
        pages = _pages(invocations, address, closed=None if closed else False)
        found = await read_items(
            session.output, "invocations", pages, limit=limit, everything=everything
        )
        with session.output.progress("reading executions"):
            attempts = await invocations.pending_attempts(address)
            if not closed and not session.output.as_json:
                deletable = await invocations.owned_by(address, closed=True, limit=_AT_ONCE)
            now_ms = await nexus.client.now_ms()
    most = None if everything else limit
    newest = sorted([*found.items, *attempts], key=_requested_at_ms, reverse=True)
    rows = [invocation_document(item, now_ms) for item in newest[:most]]
    if not session.output.as_json:
        rows = [_for_people(row, now_ms) for row in rows]
    session.output.table(
        rows, _COLUMNS, empty="no invocations" if closed else "no pending invocations"
    )
    if len(newest) > len(rows) or (found.next and len(rows) == most):
        session.output.note(f"showing the newest {len(rows)}. Pass --all to list older invocations")
    elif found.next is not None:
        session.output.note(_searched(found.next))
    if deletable is not None and deletable.items:
        session.output.note(_describe_deletable(deletable))


@command.command()
@click.argument("invocation", nargs=-1)
@click.option("--closed", is_flag=True, help="Delete all closed invocations of the wallet.")
@click.option("--all", "search_all", is_flag=True, help="With --closed, search all requests.")
@transaction_command
async def delete(
    session: Session, invocation: tuple[str, ...], *, closed: bool, search_all: bool
) -> None:
    """Delete closed or expired invocations with their outcomes, and reclaim the storage deposits.

    A deleted outcome cannot be read again. `nexus-tools tool outcome ID` shows an outcome. Pass
    each INVOCATION to delete, or --closed. One transaction deletes at most 100 invocations. If no
    leader closed an invocation before it expired, this command closes it and refunds its prepaid
    amount.

    With --json, `left` is the number of further closed invocations that the command found.
    """
    from nexus_tools.sui.types.address import Address

    if bool(invocation) == closed:
        raise UsageError("invocation_missing", "pass either invocations to delete or --closed")
    async with session.nexus() as nexus:
        found, older = list(dict.fromkeys(map(Address.parse, invocation))), None
        if closed:
            pages = _pages(nexus.invocations, session.own_address(), closed=True)
            page = await read_items(
                session.output, "invocations", pages, limit=_AT_ONCE + 1, everything=search_all
            )
            found, older = [item.id for item in page.items], page.next
            if not (session.output.as_json or session.output.quiet):
                _print_closed(session.output, page.items[:_AT_ONCE])
        if not found:
            session.output.note("no closed invocations to delete")
        else:
            await _delete(session, nexus, found)
        if older is not None and len(found) <= _AT_ONCE:
            session.output.note(_searched(older))


async def _delete(session: Session, nexus: "Nexus", found: "list[Address]") -> None:
    places, left = found[:_AT_ONCE], len(found[_AT_ONCE:])
    done = f"deleted {units.count(len(places), 'invocation')} with all outcomes"
    sent = await confirm_and_execute(
        session,
        nexus.invocations,
        lambda service: service.delete(*places),
        question=lambda simulated: confirmation_prompt(done, simulated),
    )
    report(session.output, sent, done, {"invocations": list(map(str, places)), "left": left})
    if left:
        session.output.note("more invocations remain. Run the same command again to delete them")


def _print_closed(output: Output, invocations: "Sequence[Invocation]") -> None:
    """Print the invocations that the command deletes, before the prompt."""
    rows = [
        {
            "invocation": str(found.id),
            "fqn": found.fqn,
            "state": type(found.state).__name__.lower(),
            "variant": getattr(found.state, "variant", None),
        }
        for found in invocations
    ]
    if rows:
        output.table(rows, _DELETED_COLUMNS, empty="", aside=True)


def _pages(
    invocations: "Invocations", address: "Address", *, closed: bool | None
) -> "ReadPage[Invocation]":
    """Return a function that reads a page of an address's invocations."""
    return lambda limit, before: invocations.owned_by(
        address, closed=closed, limit=limit, before=before
    )


def _requested_at_ms(found: "Invocation") -> int:
    return found.requested_at_ms


def _searched(older: "Cursor") -> str:
    return (
        f"searched the requests back to checkpoint {older.checkpoint}. Pass --all to search older"
        " requests"
    )


def _describe_deletable(closed: "Page[Invocation]") -> str:
    number = units.count(len(closed.items), "closed invocation")
    return (
        f"{'at least ' if closed.next else ''}{number} can be deleted. Pass --closed to list them,"
        " or run `nexus-tools invocation delete --closed` to reclaim their storage deposits"
    )


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
