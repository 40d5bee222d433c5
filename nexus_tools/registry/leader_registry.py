"""The registry of leaders: their bonds, their activity, and the terms of invocations."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.errors import NotFoundError, NotNowError
from nexus_tools.registry.aborts import moment
from nexus_tools.registry.calls import leader_registry as calls
from nexus_tools.registry.events import LeaderRegistered
from nexus_tools.registry.ids import leader_field_id
from nexus_tools.registry.objects import (
    LEADER_CAP,
    LEADER_ENTRY,
    LEADER_REGISTRY,
    Leader,
    LeaderRegistryObject,
    LeaderSettings,
    decode,
)
from nexus_tools.registry.package_client import PackageClient, Sent
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.type_tag import OBJECT_ID, StructTag


@dataclass(frozen=True, slots=True)
class RegisteredLeader:
    """A leader by the id of its cap, with its record and whether it is active."""

    id: Address
    record: Leader
    active: bool


class LeaderRegistry(PackageClient):
    """The leaders of a deployment. Verbs name a leader by its `LeaderCap`, which the wallet has."""

    # --- Reading

    async def state(self) -> LeaderRegistryObject:
        """The registry itself: version, settings, active leaders."""
        return await self.read(
            self.deployment.leader_registry, "leader_registry", "LeaderRegistry", LEADER_REGISTRY
        )

    async def settings(self) -> LeaderSettings:
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
                hint="it was never registered, or has claimed its bond",
            )
        record_type = self.deployment.type("leader_registry", "Leader")
        kind = StructTag(SUI_FRAMEWORK, "dynamic_field", "Field", (OBJECT_ID, record_type))
        record = decode(value, kind, LEADER_ENTRY).value
        return RegisteredLeader(leader, record, leader in state.active)

    async def caps(self, owner: Address | None = None) -> tuple[Address, ...]:
        """The ids of the leader caps that an address has; without one, the wallet's."""
        kind = self.deployment.type("leader_registry", "LeaderCap")
        values = await self.client.owned_objects(owner or self.client.address, kind)
        return tuple(decode(value, kind, LEADER_CAP).id for value in values)

    # --- A leader's life

    async def register_leader(self, name: str, *, activate: bool = False) -> tuple[Sent, Address]:
        """Lock the bond; gives the new leader's id, that of its `LeaderCap`.

        Raises `not_admitted` or `name_too_long`. In a dry run the id is that of the simulation.
        """
        bond_mist = (await self.settings()).bond_mist
        builder = TransactionBuilder()
        bond = builder.split_coins(builder.gas, [bond_mist])[0]
        cap = calls.register_leader(builder, self.deployment, bond, name)
        if activate:
            calls.activate(builder, self.deployment, cap)
        builder.transfer_objects([cap], self.client.address)
        sent = await self.send(builder)
        return sent, self.emitted(sent, LeaderRegistered).leader

    async def activate(self, leader: Address) -> Sent:
        """Become responsible for new invocations. Raises `already_active`, `bond_not_in_force`."""
        builder = TransactionBuilder()
        calls.activate(builder, self.deployment, leader)
        return await self.send(builder)

    async def deactivate(self, leader: Address) -> Sent:
        """Get no new invocations. Raises `not_active`."""
        builder = TransactionBuilder()
        calls.deactivate(builder, self.deployment, leader)
        return await self.send(builder)

    async def unregister(self, leader: Address) -> Sent:
        """Deactivate and start the timer of the bond. Raises `already_released`."""
        builder = TransactionBuilder()
        calls.unregister(builder, self.deployment, leader)
        return await self.send(builder)

    async def cancel_unregister(self, leader: Address) -> Sent:
        """Stop the timer; the leader stays inactive. Raises `release_not_started`."""
        builder = TransactionBuilder()
        calls.cancel_unregister(builder, self.deployment, leader)
        return await self.send(builder)

    async def claim_bond(self, leader: Address) -> Sent:
        """Take the bond back into the gas coin and end the leader.

        Raises `unknown_leader`, `release_not_started` or `delay_not_over`.
        """
        claimable_at_ms = (await self.get(leader)).record.bond.reclaimable_at_ms
        now_ms = await self.client.now_ms()
        if claimable_at_ms is None:
            raise NotNowError(
                "release_not_started",
                f"the leader {leader} is not unregistered",
                hint="unregister it first",
            )
        if now_ms < claimable_at_ms:
            raise NotNowError(
                "delay_not_over",
                f"the unregister delay is not over: claimable at {moment(claimable_at_ms, now_ms)}",
                hint="claim the bond then",
                details={"claimable_at_ms": claimable_at_ms, "now_ms": now_ms},
            )
        builder = TransactionBuilder()
        coin = calls.claim_bond(builder, self.deployment, leader)
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder, possible_at_ms=claimable_at_ms)

    async def top_up(self, leader: Address) -> Sent:
        """Make a slashed bond whole again. Raises `unknown_leader` or `nothing_to_top_up`."""
        bond = (await self.get(leader)).record.bond
        if bond.is_whole:
            raise NotNowError("nothing_to_top_up", f"the bond of the leader {leader} is whole")
        builder = TransactionBuilder()
        coin = builder.split_coins(builder.gas, [bond.shortfall_mist])[0]
        calls.top_up(builder, self.deployment, leader, coin)
        return await self.send(builder)

    # --- Admin

    async def configure(self, settings: LeaderSettings) -> Sent:
        """Set what new leaders and invocations have to keep to. Raises `invalid_settings`."""
        builder = TransactionBuilder()
        calls.configure(builder, self.deployment, settings)
        return await self.send(builder)

    async def admit(self, addresses: Sequence[Address] | None) -> Sent:
        """Let only these addresses register as leaders; with None, anyone."""
        builder = TransactionBuilder()
        calls.admit(builder, self.deployment, addresses)
        return await self.send(builder)

    async def slash(self, leader: Address, amount_mist: int, reason: str) -> Sent:
        """Take of a leader's bond, into the gas coin. Raises `unknown_leader` or `empty`."""
        builder = TransactionBuilder()
        coin = calls.slash(builder, self.deployment, leader, amount_mist, reason)
        builder.merge_coins(builder.gas, [coin])
        return await self.send(builder)
