"""The admin role of a deployment, and its transfer to another address."""

from nexus_tools.contracts import PackageClient, Sent, require_admin
from nexus_tools.contracts.move_bindings import admin as calls
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.types.address import Address


@validate_arguments
class Administration(PackageClient):
    """The admin role of a deployment.

    The admin changes settings and slashes collateral with methods of `ToolRegistry` and
    `LeaderRegistry`.
    """

    async def state(self) -> Admin:
        """Return the admin object, which contains the current admin and the offer of the role."""
        return await self.read(self.deployment.admin, Admin)

    async def offer(self, to: Address | None) -> Sent:
        """Offer the role to an address, or withdraw the offer with None. Raises `not_admin`."""
        require_admin(self.client.address, await self.state())
        return await self.call(calls.offer, self.deployment.admin, to)

    async def accept(self) -> Sent:
        """Accept the role that was offered to the wallet. Raises `not_offered`."""
        return await self.call(calls.accept, self.deployment.admin)
