"""Names: what comes before the @ of an FQN, with all its versions, and who owns it."""

from nexus_tools.contracts import Sent
from nexus_tools.contracts.move_bindings import name as calls
from nexus_tools.contracts.move_bindings.tool import take_over
from nexus_tools.registry.preconditions import check_owner
from nexus_tools.registry.tools.listing import ToolListing
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address


@checks_arguments
class Names(ToolListing):
    """The names of a deployment, which pass from one owner to the next."""

    async def offer(self, name: str, to: Address | None) -> Sent:
        """Offer an unversioned name to an address; with None, take the offer back.

        Raises `name_unknown` or `not_owner`.
        """
        found = await self.name(name)
        check_owner(found, self.client.address)
        return await self.call(calls.offer, found.id, to)

    async def accept(self, name: str) -> Sent:
        """Take over a name that was offered, with all its versions.

        In the same transaction the former owner loses what is left to it: the wallet gets the
        payouts, and there are no operators and no keys. The leaders that are listed as this is sent
        and the URLs stay: look at them. Raises `name_unknown` or `not_offered`.
        """
        found = await self.name(name)
        package, registry = self.deployment.package, self.deployment.tool_registry
        builder = TransactionBuilder()
        calls.accept(builder, package, found.id)
        for tool in await self.versions(name):
            listed = tool.leaders.entries
            take_over(builder, package, tool.id, found.id, registry, listed)
        return await self.send(builder)
