"""Descriptions of collateral: its state, proposed slashes, and results of collateral commands.

The command groups `tool`, `leader`, `status` and `doctor` use this module.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import with_current_options
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import PackageClient, Sent
    from nexus_tools.contracts.move_bindings.collateral import Collateral
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.contracts.move_bindings.tool_registry import ToolSettings
    from nexus_tools.sui.types.address import Address

_MAX_SLASHES = 1_000
_SLASHES_AT_ONCE = 100

DescribeResult = Callable[["PackageClient", "Sent", str], tuple[str, dict[str, Any]]]
"""Describes what a transaction did with the collateral of a named tool or leader, as text and as
facts in MIST and in ms since 1970."""


# --- The state


def collateral_document(collateral: "Collateral", now_ms: int) -> dict[str, Any]:
    """Return collateral and its terms as JSON. Claimed collateral does not have terms."""
    gone, at_ms = collateral.is_claimed, collateral.claimable_at_ms
    return {
        "collateral_mist": collateral.balance_mist,
        "required_collateral_mist": None if gone else collateral.required_mist,
        "unregister_delay_ms": None if gone else collateral.delay_ms,
        "claimable_at_ms": at_ms,
        "claimable_in_ms": None if at_ms is None else max(0, at_ms - now_ms),
        "pending_slash": _pending_slash(collateral, now_ms),
    }


def describe_collateral(document: dict[str, Any]) -> dict[str, str | None]:
    """Return texts for display: when the collateral is claimable, and the proposed slash."""
    at_ms, in_ms = document["claimable_at_ms"], document["claimable_in_ms"]
    claimable = "now" if in_ms == 0 else units.utc(at_ms, at_ms - in_ms) if at_ms else None
    slash = document["pending_slash"]
    return {"claimable": claimable, "slash": None if slash is None else _slash_in_words(slash)}


def _pending_slash(collateral: "Collateral", now_ms: int) -> dict[str, Any] | None:
    """Return the proposed slash as JSON, or None."""
    slash = collateral.pending_slash(now_ms)
    if not slash:
        return None
    return {
        "amount_mist": slash.amount_mist,
        "reason": slash.reason,
        "evidence_sha256": slash.evidence_digest.hex(),
        "executable_at_ms": slash.executable_at_ms,
        "expires_at_ms": slash.expires_at_ms,
    }


def _slash_in_words(slash: dict[str, Any]) -> str:
    start, end = (units.utc(slash[name]) for name in ("executable_at_ms", "expires_at_ms"))
    return f"{units.sui(slash['amount_mist'])} from {start} until {end}: {slash['reason']}"


# --- Suspensions


@dataclass(frozen=True, slots=True)
class Suspension:
    """A suspended tool or leader, the reason, and the command that restores it."""

    message: str
    remedy: str
    reason: str | None
    """The reason for the last slash, or None if its event was not found."""

    def __str__(self) -> str:
        return f"{self.message}. Run `{self.remedy}` to restore it"


async def find_suspensions(
    service: "PackageClient", owned: "Sequence[Tool | Leader]"
) -> tuple[Suspension, ...]:
    """Return suspensions of tools and leaders. Events are read only if there is a suspension.

    Only the admin can slash. The newest `_MAX_SLASHES` slashes are searched for the reasons.
    """
    suspended = [leader for leader in owned if leader.state == "suspended"]
    if not suspended:
        return ()
    reasons = await _slash_reasons(service, {item.id for item in suspended})
    return tuple(_suspension(item, reasons.get(item.id)) for item in suspended)


async def _slash_reasons(service: "PackageClient", ids: "set[Address]") -> "Mapping[Address, str]":
    """Return the reasons for the last slashes of objects, from the newest slashes."""
    from nexus_tools.contracts import event_filter, parse_event
    from nexus_tools.contracts.move_bindings.collateral import Slashed
    from nexus_tools.sui.client import newest_events

    reasons: dict[Address, str] = {}
    kinds = event_filter(service.deployment, Slashed)
    scanned, before = 0, None
    while scanned < _MAX_SLASHES and ids - reasons.keys():
        page = await newest_events(service.client, kinds, _SLASHES_AT_ONCE, before)
        for record in page.events:
            event = parse_event(service.deployment, record.event)
            if isinstance(event, Slashed):
                reasons.setdefault(event.object, event.reason)
        scanned, before = scanned + len(page.events), page.next
        if before is None or len(page.events) < _SLASHES_AT_ONCE:
            break
    return reasons


def _suspension(owned: "Tool | Leader", reason: str | None) -> Suspension:
    from nexus_tools.contracts.move_bindings.tool import Tool

    lacking = units.sui(owned.collateral.shortfall_mist)
    why = "" if reason is None else f" (reason: {reason!r})"
    if isinstance(owned, Tool):
        what, top_up = owned.fqn, f"tool top-up {owned.fqn}"
    else:
        what, top_up = f"leader {owned.name}", f"leader top-up --leader {owned.id}"
    message = (
        f"{what} is suspended after a slash: {lacking} of its required collateral is missing{why}"
    )
    return Suspension(message, with_current_options(f"nexus-tools {top_up}"), reason)


# --- Actions


@contextmanager
def claim_hints(unregister: str, show: str) -> Iterator[None]:
    """Add a hint to errors of a claim: the command that starts the delay or shows the state."""
    try:
        yield
    except NexusError as error:
        if error.code == "not_unregistered":
            error.hint = f"Run `{unregister}` to start the delay."
        elif error.code == "already_claimed":
            error.hint = f"The collateral has been claimed before. Run `{show}` to see the state."
        raise


def describe_collateral_terms(locked_mist: int, settings: "ToolSettings | LeaderSettings") -> str:
    """Describe the terms under which an owner locks an amount."""
    delay = units.duration(settings.unregister_delay_ms)
    return f"lock {units.sui(locked_mist)}, claimable {delay} after unregistering"


def describe_unregistration(
    service: "PackageClient", sent: "Sent", subject: str
) -> tuple[str, dict[str, Any]]:
    """Describe an unregistration: when the collateral becomes claimable."""
    from nexus_tools.contracts.move_bindings.collateral import Unregistered

    event = service.emitted(sent, Unregistered)
    claimable = units.utc(event.claimable_at_ms)
    delay = units.duration(event.claimable_at_ms - event.unregistered_at_ms)
    return (
        f"unregistered {subject}: its collateral is claimable at {claimable} (in {delay})",
        {"claimable_at_ms": event.claimable_at_ms},
    )


def describe_cancellation(
    _: "PackageClient", __: "Sent", subject: str
) -> tuple[str, dict[str, Any]]:
    """Describe a cancelled unregistration."""
    return f"cancelled the unregistration of {subject}", {}


def describe_claim(
    service: "PackageClient", sent: "Sent", subject: str
) -> tuple[str, dict[str, Any]]:
    """Describe a claim: the amount, and the part that a pending slash locks."""
    from nexus_tools.contracts.move_bindings.collateral import CollateralClaimed

    event = service.emitted(sent, CollateralClaimed)
    done = f"claimed {units.sui(event.amount_mist)} from {subject}"
    if event.locked_for_slash_mist:
        done += (
            f". For a pending slash, {units.sui(event.locked_for_slash_mist)} stay locked. Claim"
            " again after the slash is executed or has expired"
        )
    return done, {
        "amount_mist": event.amount_mist,
        "locked_for_slash_mist": event.locked_for_slash_mist,
    }


def describe_re_registration(
    service: "PackageClient", sent: "Sent", subject: str
) -> tuple[str, dict[str, Any]]:
    """Describe a re-registration: the amount that is locked again."""
    from nexus_tools.contracts.move_bindings.collateral import CollateralLocked

    amount = service.emitted(sent, CollateralLocked).amount_mist
    return f"re-registered {subject}: {units.sui(amount)} locked", {"amount_mist": amount}


def describe_top_up(
    service: "PackageClient", sent: "Sent", subject: str
) -> tuple[str, dict[str, Any]]:
    """Describe a top-up: the amount that was added."""
    from nexus_tools.contracts.move_bindings.collateral import CollateralToppedUp

    amount = service.emitted(sent, CollateralToppedUp).amount_mist
    return f"topped up {subject}: {units.sui(amount)} locked", {"amount_mist": amount}
