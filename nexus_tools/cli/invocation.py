"""`nexus-tools invocation`: what the wallet has requested, and what of it is still on chain."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Output, Session, asked, carry_out, reads, report, writes
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
    """Find invocations that you requested, and delete them for their storage rebate.

    `nexus-tools tool invoke` requests them, `nexus-tools tool outcome` shows one. Those of the
    executions of workflows are deleted by `nexus-tools workflow clean`.
    """


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Those that are closed, too.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="So many on a page."
)
@click.option("--page", type=click.IntRange(min=1), default=1, help="Which page; 1 has the newest.")
@reads
async def list_invocations(session: Session, *, everything: bool, limit: int, page: int) -> None:
    """List the invocations of the wallet that no leader has closed yet, the newest first.

    What is deleted is not listed: `nexus-tools tool outcome ID --why` tells of it. They are found
    by events, so a node tells of those that it keeps events of.

    With --json: `invocation`, `fqn`, `state`, `expired`, `requested_at_ms`, `expires_at_ms` and
    `payment_mist`, which is what is prepaid as long as nobody closes it.
    """
    async with session.nexus(signing=False) as nexus:
        with session.output.progress("reading events"):
            found = await nexus.invocations.mine(session.own_address())
            now_ms = await nexus.client.now_ms()
    found = tuple(reversed(found))
    wanted = [each for each in found if everything or not each.is_closed]
    shown = wanted[(page - 1) * limit : page * limit]
    rows = [invocation_document(each, now_ms) for each in shown]
    if not session.output.as_json:
        rows = [_for_people(row, now_ms) for row in rows]
    session.output.table(
        rows, _COLUMNS, empty="you have no invocation" if everything else "no invocation is pending"
    )
    _tell_of_the_rest(session.output, found, len(wanted) - page * limit, everything=everything)


@command.command()
@click.argument("invocation", nargs=-1)
@click.option("--closed", is_flag=True, help="All of the wallet's that are closed.")
@writes
async def delete(session: Session, invocation: tuple[str, ...], *, closed: bool) -> None:
    """Delete INVOCATION..., closed or expired, for their storage rebate, in one transaction.

    One that nobody closed in time is closed by that, and what was prepaid comes back. At most 100
    are deleted at once.
    """
    from nexus_tools.sui.types.address import Address

    if bool(invocation) == closed:
        raise UsageError("invocation_missing", "name the invocations to delete, or give --closed")
    async with session.nexus() as nexus:
        found = list(dict.fromkeys(map(Address.parse, invocation)))
        if closed:
            with session.output.progress("reading events"):
                mine = await nexus.invocations.mine(session.own_address())
            found = [each.id for each in mine if _can_be_deleted(each)]
        if not found:
            session.output.note("no closed invocation of yours is on chain")
            return
        places, left = found[:_AT_ONCE], len(found[_AT_ONCE:])
        done = f"deleted {len(places)} of your invocations"
        sent = await carry_out(
            session,
            nexus.invocations,
            lambda service: service.delete(*places),
            question=lambda rehearsed: asked(done, rehearsed),
        )
    report(session.output, sent, done, {"invocations": list(map(str, places)), "left": left})
    if left:
        session.output.note(f"{left} more are left: the same command deletes them")


def _tell_of_the_rest(
    output: Output, found: "tuple[Invocation, ...]", behind: int, *, everything: bool
) -> None:
    if behind > 0:
        output.note(f"{behind} more on the next page: --page")
    closed = sum(map(_can_be_deleted, found))
    if closed and not everything:
        output.note(
            f"{closed} closed ones are still on chain: --all shows them,"
            " `nexus-tools invocation delete --closed` brings their storage rebate"
        )


def _can_be_deleted(found: "Invocation") -> bool:
    """Whether it is closed, and belongs to no execution, which deletes its own."""
    return found.is_closed and found.attempt is None


def invocation_document(found: "Invocation", now_ms: int) -> dict[str, Any]:
    """An invocation of a list, as JSON: amounts in MIST, times in ms."""
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
