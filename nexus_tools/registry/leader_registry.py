"""The registry of leaders: their collateral, their activity, and the terms of invocations."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from nexus_tools.bindings.runtime import Package
from nexus_tools.errors import NotFoundError, NotNowError
from nexus_tools.package import PackageClient, Sent, leader_field_id
from nexus_tools.package.move import leader_registry as calls
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.type_tag import OBJECT_ID, field_tag
from nexus_tools.units import utc


@dataclass(frozen=True, slots=True)
class RegisteredLeader:
    """A leader by the id of its cap, with its record and whether it is active."""

    id: Address
    record: calls.Leader
    active: bool


class LeaderRegistry(PackageClient):
    """The leaders of a deployment. Verbs name a leader by its `LeaderCap`, which the wallet has."""

    # --- Reading

    async def state(self) -> calls.LeaderRegistry:
        """The registry itself: version, settings, active leaders."""
        return await self.read(self.deployment.leader_registry, calls.LeaderRegistry)

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
        record = self.deployment.decode_entry(value, ADDRESS, calls.Leader.bcs, kind)
        return RegisteredLeader(leader, record, leader in state.active)

    async def caps(self, owner: Address | None = None) -> tuple[Address, ...]:
        """The ids of the leader caps that an address has; without one, the wallet's."""
        kind = self.deployment.type_of(calls.LeaderCap)
        values = await self.client.owned_objects(owner or self.client.address, kind)
        return tuple(value.id for value in values)

    @property
    def _registry(self) -> tuple[Package, Address]:
        """What every function of the module begins with."""
        return self.deployment.package, self.deployment.leader_registry

    # --- A leader's life

    async def register(self, name: str, *, activate: bool = False) -> tuple[Sent, Address]:
        """Lock the collateral; gives the new leader's id, that of its `LeaderCap`.

        Raises `not_admitted` or `name_too_long`. In a dry run the id is that of the simulation.
        """
        collateral_mist = (await self.settings()).collateral_mist
        builder = TransactionBuilder()
        collateral = builder.split_coins(builder.gas, [collateral_mist])[0]
        cap = calls.register(builder, *self._registry, collateral, name)
        if activate:
            calls.activate(builder, *self._registry, cap)
        builder.transfer_objects([cap], self.client.address)
        sent = await self.send(builder)
        return sent, self.emitted(sent, calls.LeaderRegistered).leader

    async def activate(self, leader: Address) -> Sent:
        """Become responsible for new invocations. Raises `already_active`, `not_in_force`."""
        builder = TransactionBuilder()
        calls.activate(builder, *self._registry, leader)
        return await self.send(builder)

    async def deactivate(self, leader: Address) -> Sent:
        """Get no new invocations. Raises `not_active`."""
        builder = TransactionBuilder()
        calls.deactivate(builder, *self._registry, leader)
        return await self.send(builder)

    async def unregister(self, leader: Address) -> Sent:
        """Deactivate and start the timer. Raises `already_unregistered`."""
        builder = TransactionBuilder()
        calls.unregister(builder, *self._registry, leader)
        return await self.send(builder)

    async def cancel_unregister(self, leader: Address) -> Sent:
        """Stop the timer; the leader stays inactive. Raises `not_unregistered`."""
        builder = TransactionBuilder()
        calls.cancel_unregister(builder, *self._registry, leader)
        return await self.send(builder)

    async def claim(self, leader: Address) -> Sent:
        """Take the collateral back into the gas coin; the leader is no more.

        Raises `unknown_leader`, `not_unregistered` or `delay_not_over`.
        """
        claimable_at_ms = (await self.get(leader)).record.collateral.claimable_at_ms
        now_ms = await self.client.now_ms()
        if claimable_at_ms is None:
            raise NotNowError(
                "not_unregistered",
                f"the leader {leader} is not unregistered",
                hint="unregister it first",
            )
        if now_ms < claimable_at_ms:
            raise NotNowError(
                "delay_not_over",
                f"the unregister delay is not over: claimable at {utc(claimable_at_ms, now_ms)}",
                hint="claim the collateral then",
                details={"claimable_at_ms": claimable_at_ms, "now_ms": now_ms},
            )
        builder = TransactionBuilder()
        coin = calls.claim(builder, *self._registry, leader)
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder, possible_at_ms=claimable_at_ms)

    async def top_up(self, leader: Address) -> Sent:
        """Bring back what was slashed. Raises `unknown_leader` or `nothing_to_top_up`."""
        collateral = (await self.get(leader)).record.collateral
        if collateral.is_whole:
            raise NotNowError(
                "nothing_to_top_up", f"the collateral of the leader {leader} is whole"
            )
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [collateral.shortfall_mist])[0]
        calls.top_up(builder, *self._registry, leader, coin)
        return await self.send(builder)

    # --- Admin

    async def configure(self, settings: calls.LeaderSettings) -> Sent:
        """Set what new leaders and invocations have to keep to. Raises `invalid_settings`."""
        builder = TransactionBuilder()
        calls.configure(
            builder, *self._registry, self.deployment.require_admin_cap(), *astuple(settings)
        )
        return await self.send(builder)

    async def admit(self, addresses: Sequence[Address] | None) -> Sent:
        """Let only these addresses register as leaders; with None, anyone."""
        builder = TransactionBuilder()
        calls.admit(builder, *self._registry, self.deployment.require_admin_cap(), addresses)
        return await self.send(builder)

    async def slash(self, leader: Address, amount_mist: int, reason: str) -> Sent:
        """Take of a leader's collateral, into the gas coin. Raises `unknown_leader` or `empty`."""
        builder = TransactionBuilder()
        coin = calls.slash(
            builder,
            *self._registry,
            self.deployment.require_admin_cap(),
            leader,
            amount_mist,
            reason,
        )
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder)
