"""What the chain would refuse about a tool, found out beforehand and said in words."""

from dataclasses import dataclass

from nexus_tools.client import SuiClient
from nexus_tools.errors import NotAllowedError, NotNowError
from nexus_tools.package import Deployment, ToolState, owner_text
from nexus_tools.package.move.collateral import Collateral
from nexus_tools.package.move.tool import OperatorCap, Tool
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import AddressOwner, Object
from nexus_tools.units import sui, utc


@dataclass(frozen=True, slots=True)
class OwnedTool:
    """A tool and the `OwnerCap` of its name, which the wallet has."""

    tool: Tool
    cap: Address


def owned_tool(tool: Tool, cap: Object | None, sender: Address) -> OwnedTool:
    """The tool with its cap, if it belongs to the sender. Raises `not_owner`."""
    if cap is None or cap.owner != AddressOwner(sender):
        owner = "nobody" if cap is None else owner_text(cap)
        raise NotAllowedError(
            "not_owner",
            f"{tool.fqn} belongs to {owner}, not to {sender}",
            hint="sign with the wallet that owns the name",
            details={"owner_cap": str(tool.owner)},
        )
    return OwnedTool(tool, tool.owner)


async def operating_cap(
    client: SuiClient, deployment: Deployment, tool: Tool
) -> tuple[Address, bool]:
    """The cap under which the wallet may run a tool, and whether it is an operator's.

    Raises `not_operator`.
    """
    cap = await client.object(tool.owner)
    if cap is not None and cap.owner == AddressOwner(client.address):
        return tool.owner, False
    kind = deployment.type_of(OperatorCap)
    for value in await client.owned_objects(client.address, kind):
        operator_cap = deployment.decode(value, OperatorCap)
        if operator_cap.tool == tool.id and operator_cap.id in tool.operators:
            return operator_cap.id, True
    raise NotAllowedError(
        "not_operator",
        f"{client.address} has neither the owner cap of {tool.fqn} nor a valid operator cap",
        hint="sign with the owner's wallet, or ask the owner for an operator cap",
    )


def check_has_collateral(tool: Tool) -> Collateral:
    """The tool's collateral. Raises `claimed`."""
    if tool.collateral is None:
        raise NotNowError(
            "claimed",
            f"the collateral of {tool.fqn} was claimed",
            hint="re-register the tool first",
        )
    return tool.collateral


def check_unregistrable(tool: Tool, now_ms: int) -> None:
    """Raises `claimed` or `already_unregistered`."""
    claimable_at_ms = check_has_collateral(tool).claimable_at_ms
    if claimable_at_ms is not None:
        raise NotNowError(
            "already_unregistered",
            f"{tool.fqn} is unregistered already: its collateral is claimable at"
            f" {utc(claimable_at_ms, now_ms)}",
            hint="claim it then, or cancel the unregistration",
            details={"claimable_at_ms": claimable_at_ms},
        )


def check_unregistered(tool: Tool) -> int:
    """When the collateral can be claimed. Raises `claimed` or `not_unregistered`."""
    claimable_at_ms = check_has_collateral(tool).claimable_at_ms
    if claimable_at_ms is None:
        raise NotNowError(
            "not_unregistered",
            f"{tool.fqn} is {tool.state}, not unregistered",
            hint="unregister it first",
        )
    return claimable_at_ms


def check_claimable(tool: Tool, now_ms: int) -> None:
    """Raises `claimed`, `not_unregistered` or `delay_not_over`."""
    claimable_at_ms = check_unregistered(tool)
    if now_ms < claimable_at_ms:
        raise NotNowError(
            "delay_not_over",
            f"the unregister delay is not over: claimable at {utc(claimable_at_ms, now_ms)}",
            hint="claim the collateral then",
            details={"claimable_at_ms": claimable_at_ms, "now_ms": now_ms},
        )


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


def check_shortfall(tool: Tool) -> int:
    """What the collateral lacks, in MIST. Raises `claimed` or `nothing_to_top_up`."""
    collateral = check_has_collateral(tool)
    if collateral.is_whole:
        raise NotNowError(
            "nothing_to_top_up",
            f"the collateral of {tool.fqn} is whole: {sui(collateral.balance_mist)}",
        )
    return collateral.shortfall_mist
