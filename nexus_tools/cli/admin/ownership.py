"""Who the admin is, and who becomes it: `nexus-tools admin offer | accept`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVarTuple

import click

from nexus_tools.cli.framework import Session, asked, carry_out, report, writes
from nexus_tools.cli.offer import CANCEL, OFFERED, offered_address, offered_in_words

if TYPE_CHECKING:
    from nexus_tools.package import Sent

Ts = TypeVarTuple("Ts")


@click.command()
@OFFERED
@CANCEL
@writes
async def offer(session: Session, who: str | None, *, cancel: bool) -> None:
    """Offer the administration to WHO, an address or a key by its alias, who has to accept it.

    Until then everything stays as it is, and --cancel takes the offer back.
    """
    from nexus_tools.package.move import admin

    to = offered_address(session, who, cancel=cancel)
    done = offered_in_words("the administration", who)
    await _act(session, admin.offer, to, done=done)


@click.command()
@writes
async def accept(session: Session) -> None:
    """Become the admin, to whom the administration was offered. Settings stay as they are."""
    from nexus_tools.package.move import admin

    await _act(session, admin.accept, done=f"{session.own_address()} is the admin")


async def _act(session: Session, function: Callable[..., Any], *arguments: Any, done: str) -> None:
    from nexus_tools.package import PackageClient
    from nexus_tools.package.move.admin import Admin

    async with session.nexus() as nexus:
        package = PackageClient(nexus.client, nexus.deployment, dry_run=session.dry_run)
        place = nexus.deployment.admin

        async def verb(service: PackageClient) -> "Sent":
            return await service.call(function, place, *arguments)

        sent = await carry_out(
            session, package, verb, question=lambda rehearsed: asked(done, rehearsed)
        )
        owner = (await package.read(place, Admin)).owner
    facts = {
        "admin": str(place),
        "owner": str(owner.owner),
        "offered": None if owner.offered is None else str(owner.offered),
    }
    report(session.output, sent, done, facts)
