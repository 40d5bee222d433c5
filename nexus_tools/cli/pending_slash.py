"""What a proposed slash means for a tool or a leader, as commands print it."""

from typing import TYPE_CHECKING, Any

from nexus_tools import units

if TYPE_CHECKING:
    from nexus_tools.package.move.collateral import Collateral
    from nexus_tools.package.move.leader_registry import LeaderCollateralClaimed
    from nexus_tools.package.move.tool import ToolCollateralClaimed


def pending_slash(collateral: "Collateral | None", now_ms: int) -> dict[str, Any] | None:
    """The slash that is proposed, as JSON; None if none is pending."""
    slash = collateral and collateral.pending_slash(now_ms)
    if not slash:
        return None
    return {
        "amount_mist": slash.amount_mist,
        "reason": slash.reason,
        "evidence_sha256": slash.evidence.hex(),
        "due_at_ms": slash.due_at_ms,
        "void_at_ms": slash.void_at_ms,
    }


def slash_in_words(slash: dict[str, Any] | None) -> str | None:
    """What is proposed, in a line; None if none is pending."""
    if slash is None:
        return None
    due, void = (units.utc(slash[name]) for name in ("due_at_ms", "void_at_ms"))
    return f"{units.sui(slash['amount_mist'])} from {due} until {void}: {slash['reason']}"


def claimed_in_words(event: "ToolCollateralClaimed | LeaderCollateralClaimed", whose: str) -> str:
    """What a claim brought, and what is left of the collateral."""
    claimed = f"claimed {units.sui(event.amount_mist)} from {whose}"
    if not event.held_back_mist:
        return claimed
    return (
        f"{claimed}; a pending slash holds {units.sui(event.held_back_mist)} back:"
        " claim again when it is decided"
    )
