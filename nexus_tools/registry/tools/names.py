"""Unversioned names (the part of an FQN before the @), and their transfer to new owners."""

from nexus_tools.contracts import Sent
from nexus_tools.contracts.move_bindings import name as calls
from nexus_tools.contracts.move_bindings.tool import take_over
from nexus_tools.registry.preconditions import check_owner
from nexus_tools.registry.tools.listing import ToolListing
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address


@validate_arguments
class Names(ToolListing):
    """The names of a deployment, which owners can transfer."""

    async def offer(self, name: str, to: Address | None) -> Sent:
        """Offer an unversioned name to an address. With None, withdraw the offer.

        Raises `name_unknown` or `not_owner`.
        """
        current = await self.name(name)
        check_owner(current, self.client.address)
        return await self.call(calls.offer, current.id, to)

    async def accept(self, name: str) -> Sent:
        """Accept an offered name, with all its versions.

        The transaction also ends the former owner's access: the wallet becomes the payout address,
        and operators and keys are removed. Review the URLs and the lists of accepted leaders, which
        do not change.

        Raises `name_unknown` or `not_offered`.
        """
        current = await self.name(name)
        package, registry = self.deployment.package, self.deployment.tool_registry
        builder = TransactionBuilder()
        calls.accept(builder, package, current.id)
        for tool in await self.versions(name):
            leaders = tool.leaders.entries
            take_over(builder, package, tool.id, current.id, registry, leaders)
        return await self.send(builder)
