"""The registry of leaders: their collateral, their activity, and the terms of invocations."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from nexus_tools.errors import NotFoundError
from nexus_tools.package import PackageClient, Sent, leader_field_id
from nexus_tools.package.move import leader_registry as calls
from nexus_tools.registry.checks import check_shortfall, due_at_ms
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.type_tag import OBJECT_ID, field_tag


@dataclass(frozen=True, slots=True)
class RegisteredLeader:
    """A leader by the id of its cap, with its record and whether it is active."""

    id: Address
    record: calls.Leader
    active: bool

    @property
    def state(self) -> str:
        """`active`, `inactive`, `suspended` after a slash, or `unregistered`."""
        if self.active:
            return "active"
        if self.record.collateral.unregistered_at_ms is not None:
            return "unregistered"
        return "inactive" if self.record.collateral.is_whole else "suspended"


class LeaderRegistry(PackageClient):
    """The leaders of a deployment. Verbs name a leader by its `LeaderCap`, which the wallet has."""

    # --- Reading

    async def state(self) -> calls.LeaderRegistry:
        """The registry itself: version, settings, active leaders."""
        return await self.read(self._registry, calls.LeaderRegistry)

    async def settings(self) -> calls.LeaderSettings:
        """What new leaders and new invocations have to keep to."""
        return (await self.state()).settings

    async def get(self, leader: Address) -> RegisteredLeader:
        """A leader. Raises `unknown_leader`."""
        state = await self.state()
        value = await self.client.object(leader_field_id(state.leaders.id, leader))
        if value is None:
            raise NotFoundError(
                "unknown_leader",
                f"there is no leader {leader}",
                hint="it was never registered, or has claimed its collateral",
            )
        kind = field_tag(OBJECT_ID, self.deployment.type_of(calls.Leader))
        record = self.deployment.decode_entry(value, kind)
        return RegisteredLeader(leader, record, leader in state.active)

    async def caps(self, owner: Address | None = None) -> tuple[Address, ...]:
        """The ids of the leader caps that an address has; without one, the wallet's."""
        caps = await self.owned(owner or self.client.address, calls.LeaderCap)
        return tuple(cap.id for cap in caps)

    @property
    def _registry(self) -> Address:
        return self.deployment.leader_registry

    # --- A leader's life

    async def register(
        self, name: str, *, activate: bool = False, collateral_mist: int | None = None
    ) -> tuple[Sent, Address]:
        """Lock the collateral; gives the new leader's id, that of its `LeaderCap`.

        Without `collateral_mist` it is the least that the registry takes. Raises `not_admitted`,
        `not_accepting`, `collateral_too_small` or `name_too_long`. In a dry run the id is that of
        the simulation.
        """
        settings = await self.settings()
        locked_mist = settings.collateral_mist if collateral_mist is None else collateral_mist
        builder = TransactionBuilder()
        collateral = builder.split_coins(builder.gas, [locked_mist])[0]
        terms = (collateral, settings.unregister_delay_ms)
        cap = calls.register(builder, self.deployment.package, self._registry, *terms, name)
        if activate:
            calls.activate(builder, self.deployment.package, self._registry, cap)
        builder.transfer_objects([cap], self.client.address)
        sent = await self.send(builder)
        return sent, self.emitted(sent, calls.LeaderRegistered).leader

    async def activate(self, leader: Address) -> Sent:
        """Become responsible for new invocations. Raises `already_active`, `not_in_force`."""
        return await self.call(calls.activate, self._registry, leader)

    async def deactivate(self, leader: Address) -> Sent:
        """Get no new invocations. Raises `not_active`."""
        return await self.call(calls.deactivate, self._registry, leader)

    async def unregister(self, leader: Address) -> Sent:
        """Deactivate and start the timer. Raises `already_unregistered`."""
        return await self.call(calls.unregister, self._registry, leader)

    async def cancel_unregister(self, leader: Address) -> Sent:
        """Stop the timer; the leader stays inactive. Raises `not_unregistered`."""
        return await self.call(calls.cancel_unregister, self._registry, leader)

    async def claim(self, leader: Address) -> Sent:
        """Take the collateral back into the gas coin; the leader is no more.

        What a pending slash holds back is claimed by a second call, once that is decided, and only
        that ends the leader. Raises `unknown_leader`, `not_unregistered`, `delay_not_over` or
        `held_back`.
        """
        collateral = (await self.get(leader)).record.collateral
        builder, package = TransactionBuilder(), self.deployment.package
        coin = calls.claim(builder, package, self._registry, leader)
        builder.merge_coins(builder.gas, [coin])
        if collateral.pending_slash(await self.client.now_ms()) is None:
            calls.delete(builder, package, self._registry, leader)
        return await self.send(builder, possible_at_ms=collateral.claimable_at_ms)

    async def top_up(self, leader: Address) -> Sent:
        """Bring back what was slashed. Raises `unknown_leader` or `nothing_to_top_up`."""
        collateral = (await self.get(leader)).record.collateral
        shortfall_mist = check_shortfall(collateral, f"the leader {leader}")
        return await self.pay(calls.top_up, self._registry, leader, amount_mist=shortfall_mist)

    # --- Admin

    async def configure(self, settings: calls.LeaderSettings) -> Sent:
        """Set what new leaders and invocations have to keep to. Raises `invalid_settings`."""
        cap = self.deployment.require_admin_cap()
        return await self.call(calls.configure, self._registry, cap, *astuple(settings))

    async def admit(self, addresses: Sequence[Address] | None) -> Sent:
        """Let only these addresses register as leaders; with None, anyone."""
        cap = self.deployment.require_admin_cap()
        return await self.call(calls.admit, self._registry, cap, addresses)

    async def propose_slash(
        self, leader: Address, amount_mist: int, reason: str, evidence: bytes
    ) -> Sent:
        """Propose to burn of a leader's collateral, for a reason of 1 to 500 bytes.

        `evidence` is the SHA-256 digest of what proves it. Raises `admin_cap_unknown`,
        `unknown_leader`, and for the rest as `ToolRegistry.propose_slash` does.
        """
        by_admin = (self._registry, self.deployment.require_admin_cap(), leader)
        return await self.call(calls.propose_slash, *by_admin, amount_mist, reason, evidence)

    async def execute_slash(self, leader: Address) -> Sent:
        """Burn what was proposed. Raises `unknown_leader`, `no_slash_pending` or `not_due`."""
        by_admin = (self._registry, self.deployment.require_admin_cap(), leader)
        collateral = (await self.get(leader)).record.collateral
        return await self.call(calls.execute_slash, *by_admin, possible_at_ms=due_at_ms(collateral))

    async def cancel_slash(self, leader: Address) -> Sent:
        """Take back what was proposed. Raises `unknown_leader` or `no_slash_pending`."""
        by_admin = (self._registry, self.deployment.require_admin_cap(), leader)
        return await self.call(calls.cancel_slash, *by_admin)
