"""Preconditions of transactions on tools and leaders, checked before a transaction is sent."""

from nexus_tools.contracts import require_owner
from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettings
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import NotAllowedError, ValidationError, WrongStateError
from nexus_tools.sui.support.ed25519 import has_small_order
from nexus_tools.sui.support.units import duration, sui
from nexus_tools.sui.types.address import Address


def check_owner(owned: Name | Leader, wallet: Address) -> None:
    """Raise `not_owner` unless the wallet owns the name or the leader."""
    hint = f"Sign with the wallet of {owned.owner.owner}."
    require_owner(wallet, owned.owner.owner, owned.name, "not_owner", hint)


def check_execution_owner(ordered: Execution | Schedule, wallet: Address) -> None:
    """Raise `not_owner` unless the wallet owns the execution or the schedule."""
    label = f"the {type(ordered).__name__.lower()} {ordered.id}"
    hint = f"Sign with the wallet of {ordered.owner}."
    require_owner(wallet, ordered.owner, label, "not_owner", hint)


def check_operator(tool: Tool, name: Name, wallet: Address) -> None:
    """Raise `not_operator` unless the wallet owns the tool's name or is its operator."""
    if wallet not in (name.owner.owner, *tool.operators.entries):
        raise NotAllowedError(
            "not_operator",
            f"{wallet} is neither the owner nor an operator of {tool.fqn}",
            hint="Sign with the owner's wallet, or ask the owner to run"
            f" `nexus-tools tool operators add {tool.fqn} {wallet} --wallet OWNER`.",
        )


def check_registration_terms(
    settings: ToolSettings | LeaderSettings, locked_mist: int, delay_ms: int, name: str
) -> None:
    """Check that the settings allow the collateral and the unregister delay of a registration.

    Raises `not_accepting`, `collateral_too_small` or `delay_too_long`.
    """
    if not settings.accepting:
        raise WrongStateError(
            "not_accepting",
            "the registry currently does not accept new registrations",
            hint="Try again later.",
        )
    if locked_mist < settings.collateral_mist:
        raise ValidationError(
            "collateral_too_small",
            f"the collateral of {name} is too small: expected at least"
            f" {sui(settings.collateral_mist)}, got {sui(locked_mist)}",
            hint=f"Lock at least {sui(settings.collateral_mist)}, the default of --collateral.",
        )
    if settings.unregister_delay_ms > delay_ms:
        raise WrongStateError(
            "delay_too_long",
            f"the unregister delay of {name} would be {duration(settings.unregister_delay_ms)},"
            f" longer than the accepted {duration(delay_ms)}",
            hint="Review the terms again, and accept the longer delay.",
        )


def accepts_any_leader_error(fqn: str) -> ValidationError:
    """Return the error for a tool with a price that accepts any leader."""
    return ValidationError(
        "accepts_any_leader",
        f"{fqn} has a price but accepts any leader. A leader receives the answer before it pays",
        hint="List leaders that you trust. Run `nexus-tools leader list` to see their track"
        " records.",
    )


def signing_key_missing_error(fqn: str, hint: str) -> ValidationError:
    """Return the error for a tool that requires signed answers but has no key."""
    return ValidationError(
        "signing_key_missing", f"{fqn} requires signed answers but has no key", hint=hint
    )


def check_not_claimed(collateral: Collateral, name: str) -> None:
    """Raise `already_claimed` if the collateral was claimed."""
    if collateral.is_claimed:
        raise WrongStateError(
            "already_claimed",
            f"the collateral of {name} was claimed",
            hint="Re-register it with new collateral.",
        )


def check_shortfall(collateral: Collateral, name: str) -> int:
    """Return the missing collateral in MIST. Raises `already_claimed` or `nothing_to_top_up`."""
    check_not_claimed(collateral, name)
    if collateral.is_sufficient:
        raise WrongStateError(
            "nothing_to_top_up",
            f"the collateral of {name} is complete: {sui(collateral.balance_mist)}",
        )
    return collateral.shortfall_mist


def check_slash(collateral: Collateral, name: str, amount_mist: int) -> None:
    """Check that the collateral is not claimed, and that at most half of it is slashed in total.

    Raises `already_claimed` or `slash_too_large`.
    """
    check_not_claimed(collateral, name)
    if collateral.slashable_mist < amount_mist <= collateral.balance_mist:
        raise ValidationError(
            "slash_too_large",
            f"cannot slash {sui(amount_mist)} of the collateral of {name}: all slashes together are"
            " limited to half of the locked amount",
            hint=f"Slash at most {sui(collateral.slashable_mist)}.",
        )


def check_key(key: bytes) -> None:
    """Raise `public_key_invalid` for a key of small order.

    Anyone can forge signatures of a small-order key, and the chain accepts them, because it
    verifies signatures by ZIP 215.
    """
    if has_small_order(key):
        raise ValidationError(
            "public_key_invalid",
            f"{key.hex()} is a key of small order, so anyone can forge its signatures",
            hint="Create a key with `nexus-tools tool key new` or `nexus-tools leader key new`.",
        )


def slash_executable_at_ms(collateral: Collateral) -> int | None:
    """Return the earliest execution time of the last proposed slash in ms since 1970, or None."""
    return collateral.slash.executable_at_ms if collateral.slash else None
