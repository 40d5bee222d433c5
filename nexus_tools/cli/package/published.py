"""Lookup of a published package by its ID."""

from typing import TYPE_CHECKING

from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.object import MovePackage


async def require_package(client: "SuiClient", package_id: "Address") -> "MovePackage":
    """Return the package with this ID. Raises `package_unknown`."""
    from nexus_tools.sui.types.object import MovePackage

    value = await client.object(package_id)
    if value is None or not isinstance(value.data, MovePackage):
        raise NotFoundError(
            "package_unknown",
            f"the package {package_id} does not exist on {client.network.name}",
            hint="Check the ID and the network (--network NAME).",
        )
    return value.data
