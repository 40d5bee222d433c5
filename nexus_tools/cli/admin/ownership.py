"""The commands `nexus-tools admin offer` and `accept`, which transfer the admin role."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.shared.offer import CANCEL_OFFER, OFFERED, describe_offer, offer_recipient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nexus_tools.contracts import Sent
    from nexus_tools.registry import Administration

    Verb = Callable[[Administration], Awaitable[Sent]]


@click.command()
@OFFERED
@CANCEL_OFFER
@transaction_command
async def offer(session: Session, recipient: str | None, *, cancel: bool) -> None:
    """Offer the admin role to RECIPIENT, an address or the alias of a key.

    Nothing changes until RECIPIENT accepts. Use --cancel to withdraw the offer.
    """
    to = offer_recipient(session, recipient, cancel=cancel)
    done = describe_offer("the administration", recipient)
    await _act(session, lambda administration: administration.offer(to), done)


@click.command()
@transaction_command
async def accept(session: Session) -> None:
    """Accept the admin role that was offered to you. Settings stay unchanged."""
    done = f"{session.own_address()} is now the admin"
    await _act(session, lambda administration: administration.accept(), done)


async def _act(session: Session, verb: "Verb", done: str) -> None:
    from nexus_tools.registry import Administration

    async with session.nexus() as nexus:
        administration = Administration(nexus.client, nexus.deployment, dry_run=session.dry_run)
        sent = await confirm_and_execute(
            session,
            administration,
            verb,
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
        owner = (await administration.state()).owner
    facts = {
        "owner": str(owner.owner),
        "pending_owner": None if owner.pending_owner is None else str(owner.pending_owner),
    }
    report(session.output, sent, done, facts)
