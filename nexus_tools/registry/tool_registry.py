"""The registry of tools: registering, finding, changing and ending them."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.errors import NotFoundError
from nexus_tools.registry.calls import tool as calls
from nexus_tools.registry.calls import tool_registry as registry_calls
from nexus_tools.registry.ids import tool_id
from nexus_tools.registry.listing import ToolFilter, read_tools
from nexus_tools.registry.objects import (
    TOOL_REGISTRY,
    ToolRegistryObject,
    ToolSettings,
    decode,
)
from nexus_tools.registry.objects.tool import TOOL, Tool
from nexus_tools.registry.package_client import PackageClient, Sent
from nexus_tools.registry.registration import (
    Registration,
    RegistryView,
    add_registrations,
    cap_ids,
    registrations_to_send,
)
from nexus_tools.registry.tool_changes import ToolChanges
from nexus_tools.registry.tool_checks import (
    OwnedTool,
    check_claimable,
    check_claimed,
    check_has_bond,
    check_shortfall,
    check_unregistered,
    check_unregistrable,
    operating_cap,
    owned_tool,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import ToolFqn


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool after `register`; `new` if this call registered it."""

    fqn: ToolFqn
    tool: Address
    owner_cap: Address
    new: bool


@dataclass(frozen=True, slots=True)
class RegisterResult:
    """What `register` did; `sent` is None if everything was registered before."""

    tools: tuple[RegisteredTool, ...]
    sent: Sent | None


class ToolRegistry(PackageClient):
    """The tools of a deployment.

    Every verb first checks what the chain would refuse and says it in words; then it sends one
    transaction. Owner and operator caps are found on chain. Besides the errors that are named,
    every method raises as `SuiClient` does, and `object_unknown` for a wrong deployment.
    """

    # --- Reading

    async def state(self) -> ToolRegistryObject:
        """The registry itself: version, settings, number of tools."""
        return await self.read(
            self.deployment.tool_registry, "tool_registry", "ToolRegistry", TOOL_REGISTRY
        )

    async def settings(self) -> ToolSettings:
        """What a new registration has to keep to."""
        return (await self.state()).settings

    async def find(self, fqn: ToolFqn) -> Tool | None:
        """The tool with this FQN, or None, with one request."""
        value = await self.client.object(tool_id(self.deployment.tool_registry, fqn))
        return None if value is None else decode(value, self.deployment.type("tool", "Tool"), TOOL)

    async def get(self, fqn: ToolFqn) -> Tool:
        """The tool with this FQN, with one request. Raises `tool_unknown`."""
        tool = await self.find(fqn)
        if tool is None:
            raise NotFoundError(
                "tool_unknown",
                f"{fqn} is not registered on {self.client.network.name}",
                hint="check the spelling and the version: `tool list` shows what there is",
            )
        return tool

    async def list(self, tool_filter: ToolFilter | None = None) -> tuple[Tool, ...]:
        """All tools that pass, in the order of their registration, read in parallel."""
        return await read_tools(
            self.client, self.deployment, await self.state(), tool_filter or ToolFilter()
        )

    # --- Registration

    async def register(self, *registrations: Registration) -> RegisterResult:
        """Register tools in one atomic transaction, under owner caps that the wallet has or gets.

        Those that the wallet has already registered alike are left as they are. Raises as
        `registration.registrations_to_send` does.
        """
        sender = self.client.address
        fqns = [registration.fqn for registration in registrations]
        view = await self._view(fqns)
        missing = registrations_to_send(registrations, view, sender)
        sent: Sent | None = None
        if missing:
            builder = TransactionBuilder()
            add_registrations(builder, self.deployment, missing, view, sender)
            sent = await self.send(builder)
        caps = cap_ids(self.deployment.tool_registry, fqns)
        new = {registration.fqn for registration in missing}
        tools = [
            RegisteredTool(
                fqn,
                tool_id(self.deployment.tool_registry, fqn),
                caps[fqn.unversioned],
                fqn in new,
            )
            for fqn in fqns
        ]
        return RegisterResult(tuple(tools), sent)

    async def _view(self, fqns: Sequence[ToolFqn]) -> RegistryView:
        caps = cap_ids(self.deployment.tool_registry, fqns)
        ids = [tool_id(self.deployment.tool_registry, fqn) for fqn in fqns]
        state = await self.state()
        found = await self.client.objects([*ids, *caps.values()])
        tool_type = self.deployment.type("tool", "Tool")
        tools = {
            fqn: decode(value, tool_type, TOOL)
            for fqn, value in zip(fqns, found[: len(ids)], strict=True)
            if value is not None
        }
        owned = zip(caps, found[len(ids) :], strict=True)
        return RegistryView(
            state.settings, tools, {name: cap for name, cap in owned if cap is not None}
        )

    # --- The end and the return of a tool

    async def unregister(self, fqn: ToolFqn) -> Sent:
        """Start the timer after which the collateral can be claimed.

        Raises `not_owner`, `already_released` or `claimed`.
        """
        owned = await self._owned(fqn)
        check_unregistrable(owned.tool, await self.client.now_ms())
        builder = TransactionBuilder()
        calls.unregister(builder, self.deployment, owned.tool.id, owned.cap)
        return await self.send(builder)

    async def cancel_unregister(self, fqn: ToolFqn) -> Sent:
        """Stop the timer. Raises `not_owner`, `release_not_started` or `claimed`."""
        owned = await self._owned(fqn)
        check_unregistered(owned.tool)
        builder = TransactionBuilder()
        calls.cancel_unregister(builder, self.deployment, owned.tool.id, owned.cap)
        return await self.send(builder)

    async def claim(self, fqn: ToolFqn) -> Sent:
        """Take the collateral back, into the gas coin.

        Raises `not_owner`, `release_not_started`, `delay_not_over` or `claimed`.
        """
        owned = await self._owned(fqn)
        check_claimable(owned.tool, await self.client.now_ms())
        builder = TransactionBuilder()
        coin = calls.claim_collateral(builder, self.deployment, owned.tool.id, owned.cap)
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder, possible_at_ms=owned.tool.claimable_at_ms)

    async def re_register(self, fqn: ToolFqn) -> Sent:
        """Bring a claimed tool back, with new collateral. Raises `not_owner` or `not_claimed`."""
        owned = await self._owned(fqn)
        check_claimed(owned.tool)
        builder = TransactionBuilder()
        collateral_mist = (await self.settings()).collateral_mist
        coin = builder.split_coins(builder.gas, [collateral_mist])[0]
        calls.re_register(builder, self.deployment, owned.tool.id, owned.cap, coin)
        return await self.send(builder)

    async def top_up(self, fqn: ToolFqn) -> Sent:
        """Make a slashed bond whole again. Raises `not_owner`, `claimed` or `nothing_to_top_up`."""
        owned = await self._owned(fqn)
        shortfall_mist = check_shortfall(owned.tool)
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [shortfall_mist])[0]
        calls.top_up(builder, self.deployment, owned.tool.id, owned.cap, coin)
        return await self.send(builder)

    # --- Updates

    async def update(
        self,
        fqn: ToolFqn,
        *,
        url: str | None = None,
        description: str | None = None,
        timeout_ms: int | None = None,
        price_mist: int | None = None,
        payout: Address | None = None,
    ) -> Sent:
        """Change what is given, in one transaction; requested invocations keep their terms.

        The owner may change everything, an operator URL, timeout and price. Raises `not_owner`,
        `not_operator`, `nothing_to_update`, or as `ToolDefinition.parse` does.
        """
        changes = ToolChanges(url, description, timeout_ms, price_mist, payout)
        tool = await self.get(fqn)
        changes.check(tool)
        if changes.need_owner:
            owned = owned_tool(tool, await self.client.object(tool.owner), self.client.address)
            cap, operator = owned.cap, False
        else:
            cap, operator = await operating_cap(self.client, self.deployment, tool)
        builder = TransactionBuilder()
        changes.add(builder, self.deployment, tool.id, cap, operator=operator)
        return await self.send(builder)

    # --- Operators

    async def issue_operator_cap(self, fqn: ToolFqn, operator: Address) -> Sent:
        """Give an address the right to run the tool. Raises `not_owner`."""
        owned = await self._owned(fqn)
        builder = TransactionBuilder()
        cap = calls.issue_operator_cap(builder, self.deployment, owned.tool.id, owned.cap)
        builder.transfer_objects([cap], operator)
        return await self.send(builder)

    async def revoke_operator_cap(self, fqn: ToolFqn, operator_cap: Address) -> Sent:
        """Take the right from an operator cap. Raises `not_owner` or `unknown_operator`."""
        owned = await self._owned(fqn)
        builder = TransactionBuilder()
        calls.revoke_operator_cap(builder, self.deployment, owned.tool.id, owned.cap, operator_cap)
        return await self.send(builder)

    async def burn_operator_cap(self, operator_cap: Address) -> Sent:
        """Delete an operator cap that the wallet has."""
        builder = TransactionBuilder()
        calls.burn_operator_cap(builder, self.deployment, operator_cap)
        return await self.send(builder)

    # --- Admin

    async def verify(self, fqn: ToolFqn, *, verified: bool = True) -> Sent:
        """Vouch for a tool, or cease to. Raises `admin_cap_unknown`."""
        tool = await self.get(fqn)
        builder = TransactionBuilder()
        calls.verify(builder, self.deployment, tool.id, verified=verified)
        return await self.send(builder)

    async def slash(self, fqn: ToolFqn, amount_mist: int, reason: str) -> Sent:
        """Take of a tool's collateral, into the gas coin. Raises `claimed` or `empty`."""
        tool = await self.get(fqn)
        check_has_bond(tool)
        builder = TransactionBuilder()
        coin = calls.slash(builder, self.deployment, tool.id, amount_mist, reason)
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder)

    async def configure(self, settings: ToolSettings) -> Sent:
        """Set what new registrations have to keep to. Raises `invalid_settings`."""
        builder = TransactionBuilder()
        registry_calls.configure(builder, self.deployment, settings)
        return await self.send(builder)

    # --- Caps

    async def _owned(self, fqn: ToolFqn) -> OwnedTool:
        tool = await self.get(fqn)
        return owned_tool(tool, await self.client.object(tool.owner), self.client.address)
