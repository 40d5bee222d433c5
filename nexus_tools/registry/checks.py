"""What has to be known of a tool or a leader before a transaction can be made."""

from nexus_tools.errors import NotAllowedError, NotNowError
from nexus_tools.package import PackageClient, has_cap, require_cap
from nexus_tools.package.move.collateral import Collateral
from nexus_tools.package.move.tool import OperatorCap, Tool
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object
from nexus_tools.units import sui


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


def collateral_of(tool: Tool) -> Collateral:
    """The tool's collateral. Raises `claimed`."""
    if tool.collateral is None:
        raise NotNowError(
            "claimed",
            f"the collateral of {tool.fqn} was claimed",
            hint="re-register the tool first",
        )
    return tool.collateral


def due_at_ms(collateral: Collateral | None) -> int | None:
    """When the slash that was proposed last can be executed."""
    slash = collateral and collateral.slash
    return slash.due_at_ms if slash else None


def check_shortfall(collateral: Collateral, name: str) -> int:
    """What the collateral of a tool or a leader lacks, in MIST. Raises `nothing_to_top_up`."""
    if collateral.is_whole:
        raise NotNowError(
            "nothing_to_top_up",
            f"the collateral of {name} is whole: {sui(collateral.balance_mist)}",
        )
    return collateral.shortfall_mist
