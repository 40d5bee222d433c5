"""What has to be known of a tool or a leader before a transaction can be made."""

from nexus_tools.contracts import require_owner
from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettings
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import NotAllowedError, NotNowError, ValidationError
from nexus_tools.sui.support.ed25519 import has_small_order
from nexus_tools.sui.support.units import duration, sui
from nexus_tools.sui.types.address import Address


def check_owner(owned: Name | Leader, wallet: Address) -> None:
    """Raises `not_owner` unless the wallet owns the name or the leader."""
    hint = f"sign with the wallet of {owned.owner.owner}"
    require_owner(wallet, owned.owner.owner, owned.name, "not_owner", hint)


def check_orderer(ordered: Execution | Schedule, wallet: Address) -> None:
    """Raises `not_owner` unless the wallet owns the execution or the schedule."""
    what = f"the {type(ordered).__name__.lower()} {ordered.id}"
    hint = f"sign with the wallet of {ordered.owner}"
    require_owner(wallet, ordered.owner, what, "not_owner", hint)


def check_operator(tool: Tool, name: Name, wallet: Address) -> None:
    """Raises `not_operator` unless the wallet owns the tool's name or is its operator."""
    if wallet not in (name.owner.owner, *tool.operators.entries):
        raise NotAllowedError(
            "not_operator",
            f"{wallet} is neither the owner of {tool.fqn} nor an operator of it",
            hint="sign with the owner's wallet, or ask the owner:"
            f" `nexus-tools tool operators add {tool.fqn} {wallet} --wallet OWNER`",
        )


def check_terms(
    settings: ToolSettings | LeaderSettings, locked_mist: int, delay_ms: int, name: str
) -> None:
    """Raises `not_accepting`, `collateral_too_small` or `delay_too_long`."""
    if not settings.accepting:
        raise NotNowError(
            "not_accepting", "the registry takes no new registrations at present", hint="try later"
        )
    if locked_mist < settings.collateral_mist:
        raise ValidationError(
            "collateral_too_small",
            f"{name} is to lock {sui(locked_mist)}, the registry asks for"
            f" {sui(settings.collateral_mist)}",
            hint=f"lock {sui(settings.collateral_mist)} or more: without --collateral, it is so",
        )
    if settings.unregister_delay_ms > delay_ms:
        raise NotNowError(
            "delay_too_long",
            f"the collateral of {name} would stay for {duration(settings.unregister_delay_ms)}"
            f" after it is unregistered, and {duration(delay_ms)} were agreed to",
            hint="look at the terms again, and agree to the longer delay",
        )


def check_locked(collateral: Collateral, name: str) -> None:
    """Raises `claimed` if all of the collateral was claimed."""
    if collateral.is_claimed:
        raise NotNowError(
            "claimed",
            f"the collateral of {name} was claimed",
            hint="to re-register it locks new collateral",
        )


def check_shortfall(collateral: Collateral, name: str) -> int:
    """What a collateral lacks, in MIST. Raises `claimed` or `nothing_to_top_up`."""
    check_locked(collateral, name)
    if collateral.is_whole:
        raise NotNowError(
            "nothing_to_top_up",
            f"the collateral of {name} is whole: {sui(collateral.balance_mist)}",
        )
    return collateral.shortfall_mist


def check_slash(collateral: Collateral, name: str, amount_mist: int) -> None:
    """Raises `claimed`, or `slash_too_large` for more than half of what was locked."""
    check_locked(collateral, name)
    if collateral.slashable_mist < amount_mist <= collateral.balance_mist:
        raise ValidationError(
            "slash_too_large",
            f"{sui(amount_mist)} of the collateral of {name} is too much: all that is slashed of it"
            " comes to half of what was locked at most",
            hint=f"at most {sui(collateral.slashable_mist)} can be slashed still",
        )


def check_key(key: bytes) -> None:
    """Raises `public_key_invalid` for a key of small order: anybody signs anything with it.

    The chain, which verifies as ZIP 215 says, takes it for a key like any other.
    """
    if has_small_order(key):
        raise ValidationError(
            "public_key_invalid",
            f"{key.hex()} is a key of small order: one signature of it fits every message",
            hint="`nexus-tools tool key new` and `nexus-tools leader key new` make a good one",
        )


def due_at_ms(collateral: Collateral) -> int | None:
    """When the slash that was proposed last can be executed."""
    return collateral.slash.due_at_ms if collateral.slash else None
