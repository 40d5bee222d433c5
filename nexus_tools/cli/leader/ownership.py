"""The commands `nexus-tools leader offer` and `accept`, which transfer a leader."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    Session,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.leader.own import LEADER, change_leader, require_single
from nexus_tools.cli.shared.offer import CANCEL_OFFER, OFFERED, describe_offer, offer_recipient
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry

_OFFERED_LEADER = click.option(
    "--leader",
    "leader_name",
    help="ID or name of the offered leader. Required if several leaders are offered to the wallet.",
)


@click.command()
@OFFERED
@CANCEL_OFFER
@LEADER
@transaction_command
async def offer(
    session: Session, recipient: str | None, leader_name: str | None, *, cancel: bool
) -> None:
    """Offer the leader to RECIPIENT, an address or the alias of a key.

    Nothing changes until RECIPIENT accepts. Use --cancel to withdraw the offer.
    """
    to = offer_recipient(session, recipient, cancel=cancel)

    def describe(_: "LeaderRegistry", __: "Sent", subject: str) -> tuple[str, dict[str, Any]]:
        return describe_offer(subject, recipient), {
            "pending_owner": None if to is None else str(to)
        }

    await change_leader(
        session, leader_name, lambda leaders, leader: leaders.offer(leader, to), describe
    )


@click.command()
@_OFFERED_LEADER
@transaction_command
async def accept(session: Session, leader_name: str | None) -> None:
    """Accept the leader that was offered to your wallet.

    The leader's name and collateral stay unchanged. The transaction also makes you its only worker
    and removes its keys, so that the former owner can no longer act for the leader. Its track
    record counts only closings of its present workers, so the record starts again.
    """
    from nexus_tools.registry import MAX_SCANNED
    from nexus_tools.tool import format_public_key

    wallet = session.own_address()
    async with session.nexus() as nexus:
        leaders = nexus.leaders
        if leader_name is not None and leader_name.startswith("0x"):
            found = await leaders.find(leader_name)
        else:
            newest = await leaders.list(limit=MAX_SCANNED)
            offered = tuple(item for item in newest.items if item.owner.pending_owner == wallet)
            none = f"no leader is offered to {wallet}"
            hint = f"Ask the owner to run `nexus-tools leader offer {wallet} --wallet OWNER`."
            if newest.next is not None:
                hint = "Pass the ID of the leader with --leader."
            found = require_single(offered, leader_name, none, hint)
        removed = {
            "workers_removed": [str(entry) for entry in found.workers.entries if entry != wallet],
            "keys_removed": [format_public_key(key) for key in found.keys.keys],
        }
        done = f"accepted the leader {found.name} from {found.owner.owner}"
        collateral = units.sui(found.collateral.balance_mist)
        lost = f"{len(removed['workers_removed'])} workers and {len(removed['keys_removed'])} keys"
        sent = await confirm_and_execute(
            session,
            leaders,
            lambda service: service.accept(found.id),
            question=lambda simulated: confirmation_prompt(
                f"{done}. Its name and collateral of {collateral} stay unchanged. You become its"
                f" only worker, {lost} of the former owner are removed, and its track record starts"
                " again",
                simulated,
            ),
        )
    report(session.output, sent, done, {"leader": str(found.id), **removed})
    if not session.dry_run:
        session.output.note(
            "next: add your workers with `nexus-tools leader worker add`, and your keys with"
            " `nexus-tools leader key add`"
        )
