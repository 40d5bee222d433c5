"""Ownership offers for a tool name, a leader, or the admin role."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import ACCOUNT, Session, with_current_options
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.object import Object

_MAX_OFFERS = 1_000

OFFERED = click.argument("recipient", required=False, type=ACCOUNT)
"""The recipient of an offer: an address, or the alias of a key."""

CANCEL_OFFER = click.option("--cancel", is_flag=True, help="Withdraw the offer.")


def offer_recipient(session: Session, recipient: str | None, *, cancel: bool) -> "Address | None":
    """Return the address that receives an offer, or None to withdraw the offer.

    Raises `offer_recipient_missing` unless exactly one of `recipient` and `cancel` is set, and
    `offer_to_owner`.
    """
    if (recipient is None) != cancel:
        raise UsageError(
            "offer_recipient_missing",
            "expected either a recipient or --cancel",
            hint="Pass an address or the alias of a key, or pass --cancel.",
        )
    if recipient is None:
        return None
    to = session.address_of(recipient)
    if to == session.own_address():
        raise UsageError(
            "offer_to_owner",
            f"{recipient} is your own account",
            hint="Choose another account as the recipient.",
        )
    return to


def describe_offer(what: str, recipient: str | None) -> str:
    """Describe an offer, or its withdrawal."""
    if recipient is None:
        return f"withdrew the offer of {what}"
    return f"offered {what} to {recipient}, who must accept it"


async def list_offers(nexus: "Nexus", address: "Address") -> list[dict[str, str]]:
    """Return the offers to an address as JSON: `kind`, `name`, `owner`, and the `accept` command.

    The newest `_MAX_OFFERS` offers of all owners are searched, because a node cannot list offers by
    their recipient. The offers are then read from the offered objects, so withdrawn or accepted
    offers are omitted.
    """
    from nexus_tools.contracts import event_filter, parse_event
    from nexus_tools.contracts.move_bindings.owner import OwnershipOffered
    from nexus_tools.sui.client import newest_events

    kinds = event_filter(nexus.deployment, OwnershipOffered)
    page = await newest_events(nexus.client, kinds, _MAX_OFFERS)
    offered: dict[Address, None] = {}
    for record in reversed(page.events):
        event = parse_event(nexus.deployment, record.event)
        if isinstance(event, OwnershipOffered) and event.pending_owner == address:
            offered[event.object] = None
    values = await nexus.client.objects([*offered])
    found = (_offer(nexus, value, address) for value in values if value is not None)
    return [item for item in found if item is not None]


def _offer(nexus: "Nexus", value: "Object", address: "Address") -> dict[str, str] | None:
    """Return an offer to an address in its current state, or None if it is no longer open."""
    from nexus_tools.contracts.move_bindings.admin import Admin
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.contracts.move_bindings.name import Name

    deployment = nexus.deployment
    if value.type == deployment.type_of(Name):
        name = deployment.decode(value, Name)
        owner, what, called, accept = name.owner, "name", name.name, f"tool accept {name.name}"
    elif value.type == deployment.type_of(Leader):
        leader = deployment.decode(value, Leader)
        accept = f"leader accept --leader {leader.id}"
        owner, what, called = leader.owner, "leader", leader.name
    else:
        owner = deployment.decode(value, Admin).owner
        what, called, accept = "administration", "the package", "admin accept"
    if owner.pending_owner != address:
        return None
    return {
        "kind": what,
        "name": called,
        "owner": str(owner.owner),
        "accept": with_current_options(f"nexus-tools {accept}"),
    }
