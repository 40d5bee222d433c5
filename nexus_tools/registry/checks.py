"""What the chain would refuse of a tool or a leader, found out beforehand and said in words."""

from nexus_tools.errors import NotAllowedError, NotNowError
from nexus_tools.package import PackageClient, ToolState, has_cap, require_cap
from nexus_tools.package.move.collateral import Collateral
from nexus_tools.package.move.tool import OperatorCap, Tool
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object
from nexus_tools.units import sui, utc

# --- Who may


def check_owner(tool: Tool, cap: Object | None, sender: Address) -> None:
    """Raises `not_owner` if the sender does not have the `OwnerCap` of the tool's name."""
    hint = "sign with the wallet that owns the name"
    require_cap(sender, cap, tool.fqn, "not_owner", hint)


async def operating_cap(package: PackageClient, tool: Tool) -> tuple[Address, bool]:
    """The cap under which the wallet may run a tool, and whether it is an operator's.

    Raises `not_operator`.
    """
    wallet = package.client.address
    if has_cap(wallet, await package.client.object(tool.owner)):
        return tool.owner, False
    for cap in await package.owned(wallet, OperatorCap):
        if cap.tool == tool.id and cap.id in tool.operators:
            return cap.id, True
    raise NotAllowedError(
        "not_operator",
        f"{wallet} has neither the owner cap of {tool.fqn} nor a valid operator cap",
        hint="sign with the owner's wallet, or ask the owner for an operator cap",
    )


# --- What its collateral allows


def collateral_of(tool: Tool) -> Collateral:
    """The tool's collateral. Raises `claimed`."""
    if tool.collateral is None:
        raise NotNowError(
            "claimed",
            f"the collateral of {tool.fqn} was claimed",
            hint="re-register the tool first",
        )
    return tool.collateral


def check_claimed(tool: Tool) -> None:
    """Raises `not_claimed`."""
    if tool.collateral is not None:
        raise NotNowError(
            "not_claimed",
            f"{tool.fqn} is {tool.state}: its collateral was not claimed",
            hint="cancel the unregistration"
            if tool.state is ToolState.UNREGISTERED
            else "nothing has to be done",
        )


def check_unregistrable(collateral: Collateral, name: str, now_ms: int) -> None:
    """Raises `already_unregistered`; `name` is what errors call the tool or the leader."""
    claimable_at_ms = collateral.claimable_at_ms
    if claimable_at_ms is not None:
        raise NotNowError(
            "already_unregistered",
            f"{name} is unregistered already: its collateral is claimable at"
            f" {utc(claimable_at_ms, now_ms)}",
            hint="claim it then, or cancel the unregistration",
            details={"claimable_at_ms": claimable_at_ms},
        )


def check_unregistered(collateral: Collateral, name: str) -> int:
    """When the collateral can be claimed. Raises `not_unregistered`."""
    if collateral.claimable_at_ms is None:
        raise NotNowError(
            "not_unregistered", f"{name} is not unregistered", hint="unregister it first"
        )
    return collateral.claimable_at_ms


def check_claimable(collateral: Collateral, name: str, now_ms: int) -> int:
    """When the collateral could be claimed. Raises `not_unregistered` or `delay_not_over`."""
    claimable_at_ms = check_unregistered(collateral, name)
    if now_ms < claimable_at_ms:
        raise NotNowError(
            "delay_not_over",
            f"the unregister delay is not over: claimable at {utc(claimable_at_ms, now_ms)}",
            hint="claim the collateral then",
            details={"claimable_at_ms": claimable_at_ms, "now_ms": now_ms},
        )
    return claimable_at_ms


def check_shortfall(collateral: Collateral, name: str) -> int:
    """What the collateral lacks, in MIST. Raises `nothing_to_top_up`."""
    if collateral.is_whole:
        raise NotNowError(
            "nothing_to_top_up",
            f"the collateral of {name} is whole: {sui(collateral.balance_mist)}",
        )
    return collateral.shortfall_mist
