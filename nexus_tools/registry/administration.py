"""The administration of a deployment: whose it is, and how it is passed on."""

from nexus_tools.contracts import PackageClient, Sent, require_admin
from nexus_tools.contracts.move_bindings import admin as calls
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.types.address import Address


@checks_arguments
class Administration(PackageClient):
    """Who changes settings and slashes: `ToolRegistry` and `LeaderRegistry` have those verbs."""

    async def state(self) -> Admin:
        """The administration itself: who the admin is, and to whom it is offered."""
        return await self.read(self.deployment.admin, Admin)

    async def offer(self, to: Address | None) -> Sent:
        """Offer it to an address; with None, take the offer back. Raises `not_admin`."""
        require_admin(self.client.address, await self.state())
        return await self.call(calls.offer, self.deployment.admin, to)

    async def accept(self) -> Sent:
        """Take over what was offered to the wallet. Raises `not_offered`."""
        return await self.call(calls.accept, self.deployment.admin)
