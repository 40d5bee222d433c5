"""A package that is published on a network, by its id."""

from typing import TYPE_CHECKING

from nexus_tools.errors import NotFoundError

if TYPE_CHECKING:
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.types.address import Address
    from nexus_tools.sui.types.object import MovePackage


async def require_package(client: "SuiClient", package_id: "Address") -> "MovePackage":
    """The package with this id. Raises `package_unknown`."""
    from nexus_tools.sui.types.object import MovePackage

    value = await client.object(package_id)
    if value is None or not isinstance(value.data, MovePackage):
        raise NotFoundError(
            "package_unknown",
            f"{client.network.name} knows no package {package_id}",
            hint="check the id and the network: --network NAME",
        )
    return value.data
