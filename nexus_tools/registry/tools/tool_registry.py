"""The registry of tools, with methods to register, find, change and claim tools."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from msgspec.structs import astuple

from nexus_tools.contracts import Sent, require_admin
from nexus_tools.contracts.move_bindings import slashing, tool_registry
from nexus_tools.contracts.move_bindings import tool as calls
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.registry.leaders.leader_registry import LeaderRegistry
from nexus_tools.registry.leaders.listing import LeaderRef
from nexus_tools.registry.preconditions import (
    check_key,
    check_operator,
    check_owner,
    check_registration_terms,
    check_shortfall,
    check_slash,
    slash_executable_at_ms,
)
from nexus_tools.registry.tools.declarations import with_declarations
from nexus_tools.registry.tools.listing import Fqn, parse_fqn
from nexus_tools.registry.tools.names import Names
from nexus_tools.registry.tools.on_chain_calls import FunctionReader
from nexus_tools.registry.tools.registration import (
    RegisteredTool,
    RegisterResult,
    Registration,
    RegistrySnapshot,
    add_registrations,
    batches,
    check_price,
    missing_registrations,
    required_collateral_mist,
)
from nexus_tools.registry.tools.tool_changes import ToolChanges
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import MoveFunction, ToolDefinition, ToolFqn

_GAS_MIST = 20_000_000
"""The gas and storage cost of registering one tool, plus a margin."""


@validate_arguments
class ToolRegistry(Names):
    """The tools of a deployment.

    A method that writes sends one transaction. If the chain would refuse the transaction, the
    method raises the error without sending it. In addition to the documented errors, every method
    raises the errors of `SuiClient`, and `object_unknown` for a wrong deployment.
    """

    subject = "The tool"

    # --- Registration

    async def register(
        self,
        *tools: Registration | ToolDefinition,
        price_mist: int = 0,
        leaders: Sequence[LeaderRef] = (),
    ) -> RegisterResult:
        """Register tools in one atomic transaction.

        The wallet must own the tools' names, and acquires names that do not exist yet. `price_mist`
        and `leaders` apply to tools that are passed as a `ToolDefinition`. `price_mist` is the
        price of an invocation. `leaders` are the IDs or names of the accepted leaders, independent
        of other versions of the tool. If the wallet has already registered a tool with an equal
        definition, its price does not change. Raises `leader_unknown` and the errors of
        `declarations.with_declarations` and `registration.missing_registrations`.
        """
        registrations, view, missing = await self._plan(tools, price_mist, leaders)
        sent = await self._send_registrations(missing, view) if missing else None
        return self._result(registrations, view, sent)

    async def register_all(
        self,
        *tools: Registration | ToolDefinition,
        price_mist: int = 0,
        leaders: Sequence[LeaderRef] = (),
    ) -> AsyncIterator[RegisterResult]:
        """Register tools in as many transactions as needed, and yield a result for each one.

        If some tools are already registered, the first result lists them without a transaction.
        All tools are checked before the first transaction is sent. After an interruption, call
        `register_all` again to register the missing tools. Raises the errors of `register`, and
        `not_enough_sui` if the wallet cannot lock all collateral.
        """
        registrations, view, missing = await self._plan(tools, price_mist, leaders)
        groups = batches(missing)
        if len(groups) > 1:
            collateral_mist = sum(
                entry.required_collateral_mist(view.settings) for entry in missing
            )
            await self.client.check_balance(collateral_mist, _GAS_MIST * len(missing))
        existing = [entry for entry in registrations if entry.fqn in view.tools]
        if existing:
            yield self._result(existing, view, None)
        for group in groups:
            yield self._result(group, view, await self._send_registrations(group, view))

    async def _plan(
        self,
        tools: Sequence[Registration | ToolDefinition],
        price_mist: int,
        leaders: Sequence[LeaderRef],
    ) -> tuple[list[Registration], RegistrySnapshot, tuple[Registration, ...]]:
        """Return all registrations, the on-chain state, and the tools not registered yet."""
        registrations = await self._registrations(tools, price_mist, leaders)
        view = await self._snapshot([registration.fqn for registration in registrations])
        missing = missing_registrations(registrations, view, self.client.address)
        if missing:
            await self._require_leaders(*(leader for entry in missing for leader in entry.leaders))
        return registrations, view, missing

    async def _send_registrations(
        self, registrations: Sequence[Registration], view: RegistrySnapshot
    ) -> Sent:
        builder = TransactionBuilder()
        add_registrations(builder, self.deployment, registrations, view)
        return await self.send(builder)

    async def _registrations(
        self,
        tools: Sequence[Registration | ToolDefinition],
        price_mist: int,
        leaders: Sequence[LeaderRef],
    ) -> list[Registration]:
        ids = await self._leaders.ids(leaders)
        registrations = [
            tool if isinstance(tool, Registration) else Registration(tool, price_mist, leaders=ids)
            for tool in tools
        ]
        reader = FunctionReader(self.client.objects, self.deployment)
        return await with_declarations(self.client, reader, registrations)

    def _result(
        self, registrations: Sequence[Registration], view: RegistrySnapshot, sent: Sent | None
    ) -> RegisterResult:
        tools = [
            RegisteredTool(
                fqn := registration.fqn,
                self._id(fqn),
                is_new=fqn not in view.tools,
                price_mist=view.tools[fqn].price_mist
                if fqn in view.tools
                else registration.price_mist,
            )
            for registration in registrations
        ]
        return RegisterResult(tuple(tools), sent)

    async def _snapshot(self, fqns: Sequence[ToolFqn]) -> RegistrySnapshot:
        """Return the on-chain state of these tools and their names. Sends one request."""
        registry = self.deployment.tool_registry
        unversioned = [*dict.fromkeys(fqn.unversioned for fqn in fqns)]
        ids = [self._id(fqn) for fqn in fqns]
        first, *objects = await self.client.objects(
            [registry, *ids, *map(self._name_id, unversioned)]
        )
        tools = [self.decode(value, calls.Tool) for value in objects[: len(ids)]]
        owned = [self.decode(value, Name) for value in objects[len(ids) :]]
        return RegistrySnapshot(
            self.decode_existing(first, registry, tool_registry.ToolRegistry).settings,
            {fqn: tool for fqn, tool in zip(fqns, tools, strict=True) if tool},
            {name.name: name for name in owned if name},
        )

    # --- Unregistration and re-registration

    async def unregister(self, fqn: Fqn) -> Sent:
        """Start the timer after which the collateral can be claimed.

        Raises `not_owner`, `already_unregistered` or `already_claimed`.
        """
        tool = await self._owned(fqn)
        return await self.call(
            calls.unregister, tool.id, tool.name, possible_at_ms=tool.claimable_at_ms
        )

    async def cancel_unregister(self, fqn: Fqn) -> Sent:
        """Stop the timer. Raises `not_owner` or `not_unregistered`."""
        return await self.call(calls.cancel_unregister, *self._by_owner(await self._owned(fqn)))

    async def claim(self, fqn: Fqn) -> Sent:
        """Transfer the collateral to the address balance of the wallet.

        The part that is locked for a pending slash is not transferred. Call `claim` again after the
        slash is executed or cancelled.

        Raises `not_owner`, `not_unregistered`, `delay_not_over`, `locked_for_slash` or
        `already_claimed`.
        """
        tool = await self._owned(fqn)
        return await self.call(calls.claim, tool.id, tool.name, possible_at_ms=tool.claimable_at_ms)

    async def re_register(
        self, fqn: Fqn, *, collateral_mist: int | None = None, max_delay_ms: int | None = None
    ) -> Sent:
        """Register a claimed tool again, with new collateral.

        The default of `collateral_mist` is the required minimum, or more if the tool's price
        requires it. The owner consents to an unregister delay of at most `max_delay_ms`, by default
        the current delay.

        Raises `not_owner`, `not_claimed`, `not_accepting`, `collateral_too_small`, `price_too_high`
        or `delay_too_long`.
        """
        tool = await self._owned(fqn)
        settings = await self.settings()
        least_mist = required_collateral_mist(settings, tool.price_mist)
        locked_mist = least_mist if collateral_mist is None else collateral_mist
        delay_ms = settings.unregister_delay_ms if max_delay_ms is None else max_delay_ms
        check_registration_terms(settings, locked_mist, delay_ms, tool.fqn)
        check_price(tool.price_mist, locked_mist, tool.fqn)
        builder = TransactionBuilder()
        terms = (builder.split_coins(builder.gas, [locked_mist])[0], delay_ms)
        calls.re_register(builder, self.deployment.package, *self._by_owner(tool), *terms)
        return await self.send(builder)

    async def top_up(self, fqn: Fqn) -> Sent:
        """Restore slashed collateral.

        Raises `not_owner`, `already_claimed` or `nothing_to_top_up`.
        """
        tool = await self._owned(fqn)
        shortfall_mist = check_shortfall(tool.collateral, tool.fqn)
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
        min_outcome_bytes: int | None = None,
        requires_signed_outcome: bool | None = None,
        function: MoveFunction | None = None,
    ) -> Sent:
        """Change fields in one transaction. The terms of existing invocations do not change.

        The owner may change all fields. An operator may change only the URL, timeout, price and
        minimum outcome size. A new `function` of an on-chain tool must have the same witness, and
        the wallet must own the `Publisher` of its module. Raises `not_owner`, `not_operator`, and
        the errors of `declarations.with_declarations` and `ToolChanges.check`.
        """
        terms = price_mist, payout, min_outcome_bytes, requires_signed_outcome, function
        changes = ToolChanges(url, description, timeout_ms, *terms)
        tool, name = await self._with_name(fqn)
        if function is not None or (url is not None and tool.definition.function is not None):
            [registration] = await self._registrations([changes.definition(tool)], 0, ())
            changes = replace(
                changes, declaring_registration=registration if function is not None else None
            )
        changes.check(tool)
        if changes.need_the_owner:
            check_owner(name, self.client.address)
        else:
            check_operator(tool, name, self.client.address)
        builder = TransactionBuilder()
        changes.add(builder, self.deployment, tool)
        return await self.send(builder)

    # --- Leaders, operators and keys

    async def add_leader(self, fqn: Fqn, leader: LeaderRef) -> Sent:
        """Add a leader, by its ID or name, to the tool's accepted leaders.

        Raises `not_owner`, `leader_unknown`, `already_listed` or `too_many_entries`.
        """
        tool = await self._owned(fqn)
        current = await self._leaders.find(leader)
        return await self.call(calls.add_leader, *self._by_owner(tool), current.id)

    @property
    def _leaders(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment)

    async def _require_leaders(self, *leaders: Address) -> None:
        """Check that the leaders exist.

        The chain accepts any ID, even an ID that another account may later get for its leader.
        """
        await self._leaders.get_all(list(dict.fromkeys(leaders)))

    async def remove_leader(self, fqn: Fqn, leader: LeaderRef) -> Sent:
        """Remove a leader from the accepted leaders, as the owner or an operator.

        If the list becomes empty, no one can request an invocation of the tool. Raises
        `not_operator` or `not_listed`.
        """
        tool, name = await self._with_name(fqn)
        check_operator(tool, name, self.client.address)
        [leader_id] = await self._leaders.ids([leader])
        return await self.call(calls.remove_leader, tool.id, tool.name, leader_id)

    async def accept_any_leader(self, fqn: Fqn) -> Sent:
        """Accept any leader. Raises `not_owner`, or `accepts_any_leader` for a priced tool."""
        return await self.call(calls.accept_any_leader, *self._by_owner(await self._owned(fqn)))

    async def add_operator(self, fqn: Fqn, operator: Address) -> Sent:
        """Add an operator of the tool. Raises `not_owner` or `already_listed`."""
        tool = await self._owned(fqn)
        return await self.call(calls.add_operator, *self._by_owner(tool), operator)

    async def remove_operator(self, fqn: Fqn, operator: Address) -> Sent:
        """Remove an operator. Raises `not_owner` or `not_listed`."""
        tool = await self._owned(fqn)
        return await self.call(calls.remove_operator, tool.id, tool.name, operator)

    async def add_key(self, fqn: Fqn, key: bytes) -> Sent:
        """Add an Ed25519 public key of 32 bytes, which verifies the tool's responses.

        Raises `not_owner`, `public_key_invalid`, `invalid_key`, `duplicate_key` or `too_many_keys`.
        """
        tool = await self._owned(fqn)
        check_key(key)
        return await self.call(calls.add_key, *self._by_owner(tool), key)

    async def remove_key(self, fqn: Fqn, key: bytes) -> Sent:
        """Remove a key. Raises `not_owner` or `unknown_key`."""
        tool = await self._owned(fqn)
        return await self.call(calls.remove_key, tool.id, tool.name, key)

    # --- Admin

    async def propose_slash(self, fqn: Fqn, amount_mist: int, reason: str, evidence: bytes) -> Sent:
        """Propose to burn part of a tool's collateral, with a reason of 1 to 500 bytes.

        `evidence` is the SHA-256 digest of the evidence. Raises `not_admin`, `already_claimed`,
        `slash_pending`, `slash_too_large`, `invalid_slash_amount`, `invalid_reason` or
        `invalid_evidence`.
        """
        tool = await self._require_as_admin(fqn)
        check_slash(tool.collateral, tool.fqn, amount_mist)
        by_admin = self._by_admin(tool)
        return await self.call(slashing.propose_for_tool, *by_admin, amount_mist, reason, evidence)

    async def execute_slash(self, fqn: Fqn) -> Sent:
        """Burn the proposed amount. Raises `not_admin`, `no_slash_pending` or `slash_not_due`."""
        tool = await self._require_as_admin(fqn)
        return await self.call(
            slashing.execute_for_tool,
            *self._by_admin(tool),
            possible_at_ms=slash_executable_at_ms(tool.collateral),
        )

    async def cancel_slash(self, fqn: Fqn) -> Sent:
        """Cancel a proposed slash. Raises `not_admin` or `no_slash_pending`."""
        tool = await self._require_as_admin(fqn)
        return await self.call(slashing.cancel_for_tool, tool.id, self.deployment.admin)

    async def configure(self, settings: tool_registry.ToolSettings) -> Sent:
        """Change the settings for new registrations. Raises `not_admin` or `invalid_settings`."""
        deployment = self.deployment
        require_admin(self.client.address, await self.read(deployment.admin, Admin))
        to = (deployment.tool_registry, deployment.admin)
        return await self.call(tool_registry.configure, *to, *astuple(settings))

    # --- Rights

    def _by_owner(self, tool: calls.Tool) -> tuple[Address, Address, Address]:
        """Return the first arguments of the owner's Move functions."""
        return tool.id, tool.name, self.deployment.tool_registry

    def _by_admin(self, tool: calls.Tool) -> tuple[Address, Address, Address]:
        """Return the first arguments of the admin's Move functions."""
        return tool.id, self.deployment.admin, self.deployment.tool_registry

    async def _with_name(self, fqn: Fqn) -> tuple[calls.Tool, Name]:
        """Return the tool and its name. Sends one request. Raises `tool_unknown`."""
        parsed = parse_fqn(fqn)
        name_at = self._name_id(parsed.unversioned)
        value, name = await self.client.objects([self._id(parsed), name_at])
        tool = await self._require_registered(self.decode(value, calls.Tool), fqn)
        return tool, self.decode_existing(name, name_at, Name)

    async def _owned(self, fqn: Fqn) -> calls.Tool:
        """Return the tool, if the wallet owns its name. Raises `tool_unknown` or `not_owner`."""
        tool, name = await self._with_name(fqn)
        check_owner(name, self.client.address)
        return tool

    async def _require_as_admin(self, fqn: Fqn) -> calls.Tool:
        """Return the tool, if the wallet is the admin. Raises `tool_unknown` or `not_admin`."""
        admin = await self.read(self.deployment.admin, Admin)
        require_admin(self.client.address, admin)
        return await self.get(fqn)
