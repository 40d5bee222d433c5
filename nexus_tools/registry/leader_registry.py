"""The registry of leaders: their collateral, their activity, and the terms of invocations."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from nexus_tools.errors import NotFoundError
from nexus_tools.package import PackageClient, Sent, leader_field_id
from nexus_tools.package.move import leader_registry as calls
from nexus_tools.registry.checks import check_shortfall
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

    async def register(self, name: str, *, activate: bool = False) -> tuple[Sent, Address]:
        """Lock the collateral; gives the new leader's id, that of its `LeaderCap`.

        Raises `not_admitted` or `name_too_long`. In a dry run the id is that of the simulation.
        """
        collateral_mist = (await self.settings()).collateral_mist
        builder = TransactionBuilder()
        collateral = builder.split_coins(builder.gas, [collateral_mist])[0]
        cap = calls.register(builder, self.deployment.package, self._registry, collateral, name)
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

        Raises `unknown_leader`, `not_unregistered` or `delay_not_over`.
        """
        claimable_at_ms = (await self.get(leader)).record.collateral.claimable_at_ms
        return await self.collect(
            calls.claim, self._registry, leader, possible_at_ms=claimable_at_ms
        )

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

    async def slash(self, leader: Address, amount_mist: int, reason: str) -> Sent:
        """Take of a leader's collateral, into the gas coin. Raises `unknown_leader` or `empty`."""
        cap = self.deployment.require_admin_cap()
        return await self.collect(calls.slash, self._registry, cap, leader, amount_mist, reason)
