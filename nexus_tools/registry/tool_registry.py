"""The registry of tools: registering, finding, changing and claiming them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from nexus_tools import units
from nexus_tools.client import how_to_fund
from nexus_tools.errors import NexusError, NotFoundError, NotNowError
from nexus_tools.package import Sent, owner_cap_id, tool_id
from nexus_tools.package.move import tool as calls
from nexus_tools.package.move import tool_registry
from nexus_tools.registry.checks import (
    check_owner,
    check_shortfall,
    collateral_of,
    due_at_ms,
    operating_cap,
)
from nexus_tools.registry.listing import ToolListing
from nexus_tools.registry.registration import (
    Registration,
    RegistryView,
    add_registrations,
    batches,
    registrations_to_send,
)
from nexus_tools.registry.tool_changes import ToolChanges
from nexus_tools.spelling import suggestion
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.object import AddressOwner, ConsensusAddressOwner
from nexus_tools.tool import ToolDefinition, ToolFqn

Fqn = ToolFqn | str
"""A tool by its name: parsed, or as it is written."""

_HOW_TO_FIND = "check the spelling and the version: `nexus-tools tool list` shows what there is"
_LOOKED_AT = 1_000  # names that are read for a suggestion, 50 with each request
_ALIKE = 0.9  # FQNs of one domain are alike for the most part, whatever they name


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool after `register`; `new` if it was registered now.

    `price_mist` is what an invocation costs: of a tool that was registered before, what it cost
    already. `update` changes it.
    """

    fqn: ToolFqn
    tool: Address
    owner_cap: Address
    new: bool
    price_mist: int


@dataclass(frozen=True, slots=True)
class RegisterResult:
    """What `register` did; `sent` is None if everything was registered before."""

    tools: tuple[RegisteredTool, ...]
    sent: Sent | None


class ToolRegistry(ToolListing):
    """The tools of a deployment.

    Every verb sends one transaction, and what the chain would refuse is not sent, but raised in
    words. Owner and operator caps are found on chain. Besides the errors that are named,
    every method raises as `SuiClient` does, and `object_unknown` for a wrong deployment.
    """

    # --- Reading

    async def settings(self) -> tool_registry.ToolSettings:
        """What a new registration has to keep to."""
        return (await self.state()).settings

    async def find(self, fqn: Fqn) -> calls.Tool | None:
        """The tool with this FQN, or None, with one request. Raises `fqn_invalid`."""
        return self.decoded(await self.client.object(self._id(_parsed(fqn))), calls.Tool)

    def _id(self, fqn: ToolFqn) -> Address:
        return tool_id(self.deployment.tool_registry, fqn)

    def _owner_cap(self, name: str) -> Address:
        return owner_cap_id(self.deployment.tool_registry, name)

    async def get(self, fqn: Fqn) -> calls.Tool:
        """The tool with this FQN, with one request. Raises `tool_unknown`."""
        return await self._registered(await self.find(fqn), fqn)

    async def owner(self, tool: calls.Tool) -> Address | None:
        """The address that has the owner cap of a tool's name; None if no address has it."""
        cap = await self.client.object(tool.owner)
        match cap and cap.owner:
            case AddressOwner(address) | ConsensusAddressOwner(address=address):
                return address
        return None

    async def _registered(self, tool: calls.Tool | None, fqn: Fqn) -> calls.Tool:
        if tool is None:
            raise NotFoundError(
                "tool_unknown",
                f"{fqn} is not registered on {self.client.network.name}",
                hint=suggestion(
                    str(fqn), await self._newest_names(), otherwise=_HOW_TO_FIND, cutoff=_ALIKE
                ),
            )
        return tool

    async def _newest_names(self) -> list[str]:
        """The FQNs among which a misspelt one is looked for; none if they cannot be read."""
        try:
            state = await self.state()
            size = state.fqns.size
            return [str(fqn) for fqn in await self.fqns(state, max(0, size - _LOOKED_AT), size)]
        except NexusError:
            return []

    # --- Registration

    async def register(
        self, *tools: Registration | ToolDefinition, price_mist: int = 0
    ) -> RegisterResult:
        """Register tools in one atomic transaction, under owner caps that the wallet has or gets.

        An invocation of what is given as a definition costs `price_mist`, whatever another version
        of the tool costs. Those that the wallet has already registered alike are left as they are,
        with the price that they have. Raises as `registration.registrations_to_send` does.
        """
        sender = self.client.address
        registrations = _registrations(tools, price_mist)
        view = await self._view([registration.fqn for registration in registrations])
        missing = registrations_to_send(registrations, view, sender)
        sent: Sent | None = None
        if missing:
            builder = TransactionBuilder()
            add_registrations(builder, self.deployment, missing, view, sender)
            sent = await self.send(builder)
        return self._result(registrations, view, sent)

    async def register_all(
        self, *tools: Registration | ToolDefinition, price_mist: int = 0
    ) -> AsyncIterator[RegisterResult]:
        """Register any number of tools, in as many transactions as it takes; gives what each did.

        Those that are registered already come first, without a transaction. Everything is checked
        before the first one is sent; whoever is interrupted calls it again, for what is missing.
        Raises as `register` does, and `not_enough_sui` if the collateral of all cannot be paid.
        """
        registrations = _registrations(tools, price_mist)
        view = await self._view([registration.fqn for registration in registrations])
        missing = registrations_to_send(registrations, view, self.client.address)
        parts = batches(missing)
        if len(parts) > 1:
            await self._check_collateral(sum(each.locks_mist(view.settings) for each in missing))
        known = [each for each in registrations if each.fqn in view.tools]
        if known:
            yield self._result(known, view, None)
        for part in parts:
            yield await self.register(*part)

    async def _check_collateral(self, total_mist: int) -> None:
        balance = await self.client.balance(self.client.address)
        if balance < total_mist:
            lacking = total_mist - balance
            funding = how_to_fund(self.client.network, self.client.address, lacking)
            raise NotNowError(
                "not_enough_sui",
                f"the collateral of all is {units.sui(total_mist)}, the wallet has"
                f" {units.sui(balance)}",
                hint=f"{funding}, or register fewer tools at a time",
            )

    def _result(
        self, registrations: Sequence[Registration], view: RegistryView, sent: Sent | None
    ) -> RegisterResult:
        tools = [
            RegisteredTool(
                fqn := registration.fqn,
                self._id(fqn),
                self._owner_cap(fqn.unversioned),
                new=fqn not in view.tools,
                price_mist=view.tools[fqn].price_mist
                if fqn in view.tools
                else registration.price_mist,
            )
            for registration in registrations
        ]
        return RegisterResult(tuple(tools), sent)

    async def _view(self, fqns: Sequence[ToolFqn]) -> RegistryView:
        """What the chain has of these names, with one request."""
        registry = self.deployment.tool_registry
        caps = {fqn.unversioned: self._owner_cap(fqn.unversioned) for fqn in fqns}
        ids = [self._id(fqn) for fqn in fqns]
        first, *found = await self.client.objects([registry, *ids, *caps.values()])
        tools = [self.decoded(value, calls.Tool) for value in found[: len(ids)]]
        owned = zip(caps, found[len(ids) :], strict=True)
        return RegistryView(
            self.existing(first, registry, tool_registry.ToolRegistry).settings,
            {fqn: tool for fqn, tool in zip(fqns, tools, strict=True) if tool},
            {name: cap for name, cap in owned if cap},
        )

    # --- The end and the return of a tool

    async def unregister(self, fqn: Fqn) -> Sent:
        """Start the timer after which the collateral can be claimed.

        Raises `not_owner`, `already_unregistered` or `claimed`.
        """
        tool = await self._owned(fqn)
        return await self.call(
            calls.unregister, tool.id, tool.owner, possible_at_ms=tool.claimable_at_ms
        )

    async def cancel_unregister(self, fqn: Fqn) -> Sent:
        """Stop the timer. Raises `not_owner`, `not_unregistered` or `claimed`."""
        return await self.call(calls.cancel_unregister, *self._by_owner(await self._owned(fqn)))

    async def claim(self, fqn: Fqn) -> Sent:
        """Take the collateral back, into the gas coin.

        What a pending slash holds back is claimed by a second call, once that is decided. Raises
        `not_owner`, `not_unregistered`, `delay_not_over`, `held_back` or `claimed`.
        """
        tool = await self._owned(fqn)
        return await self.collect(
            calls.claim, tool.id, tool.owner, possible_at_ms=tool.claimable_at_ms
        )

    async def re_register(self, fqn: Fqn) -> Sent:
        """Bring a claimed tool back, with new collateral.

        As much as the registry asks for, and more if the price of the tool needs it. Raises
        `not_owner`, `not_claimed` or `not_accepting`.
        """
        tool = await self._owned(fqn)
        settings = await self.settings()
        collateral_mist = max(settings.collateral_mist, 2 * tool.price_mist)
        builder = TransactionBuilder()
        collateral = builder.split_coins(builder.gas, [collateral_mist])[0]
        terms = (collateral, settings.unregister_delay_ms)
        calls.re_register(builder, self.deployment.package, *self._by_owner(tool), *terms)
        return await self.send(builder)

    async def top_up(self, fqn: Fqn) -> Sent:
        """Bring back what was slashed. Raises `not_owner`, `claimed` or `nothing_to_top_up`."""
        tool = await self._owned(fqn)
        shortfall_mist = check_shortfall(collateral_of(tool), tool.fqn)
        return await self.pay(calls.top_up, *self._by_owner(tool), amount_mist=shortfall_mist)

    # --- Updates

    async def update(
        self,
        fqn: Fqn,
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
            check_owner(tool, await self.client.object(tool.owner), self.client.address)
            cap, operator = tool.owner, False
        else:
            cap, operator = await operating_cap(self, tool)
        builder = TransactionBuilder()
        changes.add(builder, self.deployment, tool.id, cap, operator=operator)
        return await self.send(builder)

    # --- Operators

    async def issue_operator_cap(self, fqn: Fqn, operator: Address) -> Sent:
        """Give an address the right to run the tool. Raises `not_owner`."""
        tool = await self._owned(fqn)
        builder = TransactionBuilder()
        cap = calls.issue_operator_cap(builder, self.deployment.package, *self._by_owner(tool))
        builder.transfer_objects([cap], operator)
        return await self.send(builder)

    async def revoke_operator_cap(self, fqn: Fqn, operator_cap: Address) -> Sent:
        """Take the right from an operator cap. Raises `not_owner` or `unknown_operator`."""
        tool = await self._owned(fqn)
        return await self.call(calls.revoke_operator_cap, tool.id, tool.owner, operator_cap)

    async def burn_operator_cap(self, operator_cap: Address) -> Sent:
        """Delete an operator cap that the wallet has."""
        return await self.call(calls.burn_operator_cap, operator_cap)

    # --- Admin

    async def propose_slash(self, fqn: Fqn, amount_mist: int, reason: str, evidence: bytes) -> Sent:
        """Propose to burn of a tool's collateral, for a reason of 1 to 500 bytes.

        `evidence` is the SHA-256 digest of what proves it. Raises `admin_cap_unknown`, `claimed`,
        `slash_pending`, `slash_too_large`, `wrong_slash`, `invalid_reason` or `invalid_evidence`.
        """
        by_admin = self._by_admin(await self.get(fqn))
        return await self.call(calls.propose_slash, *by_admin, amount_mist, reason, evidence)

    async def execute_slash(self, fqn: Fqn) -> Sent:
        """Burn what was proposed. Raises `claimed`, `no_slash_pending` or `not_due`."""
        tool = await self.get(fqn)
        return await self.call(
            calls.execute_slash, *self._by_admin(tool), possible_at_ms=due_at_ms(tool.collateral)
        )

    async def cancel_slash(self, fqn: Fqn) -> Sent:
        """Take back what was proposed. Raises `claimed` or `no_slash_pending`."""
        tool, cap = await self.get(fqn), self.deployment.require_admin_cap()
        return await self.call(calls.cancel_slash, tool.id, cap)

    async def configure(self, settings: tool_registry.ToolSettings) -> Sent:
        """Set what new registrations have to keep to. Raises `invalid_settings`."""
        return await self.call(
            tool_registry.configure,
            self.deployment.tool_registry,
            self.deployment.require_admin_cap(),
            *astuple(settings),
        )

    # --- Caps

    def _by_owner(self, tool: calls.Tool) -> tuple[Address, Address, Address]:
        """What the owner's functions begin with."""
        return tool.id, tool.owner, self.deployment.tool_registry

    def _by_admin(self, tool: calls.Tool) -> tuple[Address, Address, Address]:
        """What the admin's functions begin with."""
        return tool.id, self.deployment.require_admin_cap(), self.deployment.tool_registry

    async def _owned(self, fqn: Fqn) -> calls.Tool:
        """The tool, if the wallet has the owner cap of its name, with one request."""
        name = _parsed(fqn)
        ids = [self._id(name), self._owner_cap(name.unversioned)]
        value, cap = await self.client.objects(ids)
        tool = await self._registered(self.decoded(value, calls.Tool), fqn)
        check_owner(tool, cap, self.client.address)
        return tool


def _registrations(
    tools: Sequence[Registration | ToolDefinition], price_mist: int
) -> list[Registration]:
    return [
        each if isinstance(each, Registration) else Registration(each, price_mist) for each in tools
    ]


def _parsed(fqn: Fqn) -> ToolFqn:
    return ToolFqn.parse(fqn) if isinstance(fqn, str) else fqn
