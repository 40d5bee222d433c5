"""The registry of leaders: registering, finding and changing them, and the terms of invocations."""

from collections.abc import Callable, Sequence
from typing import TypeVarTuple

from msgspec.structs import astuple

from nexus_tools.contracts import PackageClient, Sent, leader_id, require_admin
from nexus_tools.contracts.move_bindings import leader as calls
from nexus_tools.contracts.move_bindings import leader_registry, slashing
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.registry.preconditions import (
    check_key,
    check_owner,
    check_shortfall,
    check_slash,
    check_terms,
    due_at_ms,
)
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import Argument

Ts = TypeVarTuple("Ts")


LeaderName = Address | str
"""A leader: its id, or the name that it gave itself."""


@checks_arguments
class LeaderRegistry(PackageClient):
    """The leaders of a deployment. Verbs name a leader by its id, and its owner signs."""

    subject = "The leader"

    # --- Reading

    async def state(self) -> leader_registry.LeaderRegistry:
        """The registry itself: version, settings, number of leaders."""
        return await self.read(self._registry, leader_registry.LeaderRegistry)

    async def settings(self) -> leader_registry.LeaderSettings:
        """What new leaders and new invocations have to keep to."""
        return (await self.state()).settings

    async def get(self, leader: Address) -> Leader:
        """A leader. Raises `unknown_leader`."""
        return (await self.get_all([leader]))[0]

    async def get_all(self, leaders: Sequence[Address]) -> tuple[Leader, ...]:
        """These leaders, in this order. Raises `unknown_leader`."""
        found = []
        for place, leader in zip(leaders, await self.find_all(leaders, Leader), strict=True):
            if leader is None:
                raise NotFoundError(
                    "unknown_leader",
                    f"there is no leader {place}",
                    hint="`nexus-tools leader list` shows which there are",
                )
            found.append(leader)
        return tuple(found)

    async def find(self, leader: LeaderName, among: Sequence[Leader] | None = None) -> Leader:
        """Return the leader with an id, or with a name that it alone has `among` these or all.

        Text that begins with 0x is an id, whatever leaders call themselves. Raises `unknown_leader`
        or `leader_ambiguous`.
        """
        place = _id_in(leader)
        if place is not None:
            return await self.get(place)
        meant = await self.list() if among is None else among
        found = [each for each in meant if each.name == leader]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFoundError(
                "unknown_leader",
                f"no leader is called {leader[:80]!r}",
                hint="`nexus-tools leader list` shows which there are",
            )
        raise UsageError(
            "leader_ambiguous",
            f"{len(found)} leaders call themselves {leader[:80]!r}",
            hint=f"name one by its id: {', '.join(str(each.id) for each in found)}",
        )

    async def ids(self, leaders: Sequence[LeaderName]) -> tuple[Address, ...]:
        """Return the ids of leaders, given by ids or names, each once. Raises as `find`.

        An id is taken as it is.
        """
        ids = {each: _id_in(each) for each in leaders}
        named = [each for each, place in ids.items() if place is None]
        known = await self.list() if named else ()
        for each in named:
            ids[each] = (await self.find(each, known)).id
        return tuple(dict.fromkeys(place for place in ids.values() if place))

    async def list(self) -> tuple[Leader, ...]:
        """All leaders, in the order of their registration."""
        length = (await self.state()).length
        ids = [leader_id(self._registry, index) for index in range(length)]
        return tuple(leader for leader in await self.find_all(ids, Leader) if leader is not None)

    async def owned_by(self, owner: Address | None = None) -> tuple[Leader, ...]:
        """The leaders that an address owns; without one, the wallet's."""
        address = owner or self.client.address
        return tuple(leader for leader in await self.list() if leader.owner.owner == address)

    async def worked_by(self, worker: Address | None = None) -> tuple[Leader, ...]:
        """The leaders of which an address is a worker; without one, the wallet's."""
        address = worker or self.client.address
        return tuple(leader for leader in await self.list() if address in leader.workers.entries)

    @property
    def _registry(self) -> Address:
        return self.deployment.leader_registry

    # --- A leader's life

    async def register(
        self,
        name: str,
        *,
        workers: Sequence[Address] | None = None,
        keys: Sequence[bytes] = (),
        activate: bool = False,
        collateral_mist: int | None = None,
        max_delay_ms: int | None = None,
        expected_length: int | None = None,
    ) -> tuple[Sent, Address]:
        """Lock the collateral; gives the new leader's id.

        `workers` close invocations in its name: without any, the wallet does. `keys` are Ed25519
        keys of 32 bytes that sign its requests to tools. Without `collateral_mist` it is the least
        that the registry takes, and without `max_delay_ms` the owner consents to the unregister
        delay of now. `expected_length` is the length of the registry when the caller looked for a
        leader of this name: the chain refuses to register another one if it has grown since.
        Raises `leaders_changed`, `not_accepting`, `collateral_too_small`, `delay_too_long`,
        `name_too_long` or `public_key_invalid`. In a dry run the id is that of the simulation.
        """
        settings = await self.settings()
        builder, package = TransactionBuilder(), self.deployment.package
        terms = _terms(builder, settings, collateral_mist, max_delay_ms)
        wanted = (self.client.address,) if workers is None else tuple(workers)
        if expected_length is not None:
            leader_registry.check_length(builder, package, self._registry, expected_length)
        leader = calls.register(builder, package, self._registry, *terms, name, wanted)
        for key in keys:
            check_key(key)
            calls.add_key(builder, package, leader, self._registry, key)
        if activate:
            calls.activate(builder, package, leader, self._registry)
        calls.share(builder, package, leader)
        sent = await self.send(builder)
        return sent, self.emitted(sent, calls.LeaderRegistered).leader

    async def activate(self, leader: Address) -> Sent:
        """Let new invocations name the leader. Raises `not_owner`, `already_active`."""
        return await self._call_as_owner(calls.activate, leader, self._registry)

    async def deactivate(self, leader: Address) -> Sent:
        """Spare it new invocations. Raises `not_owner` or `not_active`."""
        return await self._call_as_owner(calls.deactivate, leader)

    async def unregister(self, leader: Address) -> Sent:
        """Start the timer after which the collateral can be claimed.

        Raises `not_owner`, `already_unregistered` or `claimed`.
        """
        found = await self._owned(leader)
        at_ms = found.collateral.claimable_at_ms
        return await self.call(calls.unregister, leader, possible_at_ms=at_ms)

    async def cancel_unregister(self, leader: Address) -> Sent:
        """Stop the timer. Raises `not_owner` or `not_unregistered`."""
        return await self._call_as_owner(calls.cancel_unregister, leader, self._registry)

    async def claim(self, leader: Address) -> Sent:
        """Take the collateral back, into the address balance.

        What a pending slash holds back is claimed by a second call, once that is decided. Raises
        `not_owner`, `not_unregistered`, `delay_not_over`, `held_back` or `claimed`.
        """
        found = await self._owned(leader)
        at_ms = found.collateral.claimable_at_ms
        return await self.call(calls.claim, leader, possible_at_ms=at_ms)

    async def re_register(
        self,
        leader: Address,
        *,
        collateral_mist: int | None = None,
        max_delay_ms: int | None = None,
    ) -> Sent:
        """Bring a claimed leader back; terms as of `register`.

        Raises `not_owner`, `not_claimed`, `not_accepting` or `delay_too_long`.
        """
        await self._owned(leader)
        builder = TransactionBuilder()
        terms = _terms(builder, await self.settings(), collateral_mist, max_delay_ms)
        calls.re_register(builder, self.deployment.package, leader, self._registry, *terms)
        return await self.send(builder)

    async def top_up(self, leader: Address) -> Sent:
        """Bring back what was slashed. Raises `not_owner` or `nothing_to_top_up`."""
        found = await self._owned(leader)
        shortfall_mist = check_shortfall(found.collateral, f"the leader {found.name}")
        return await self.pay(calls.top_up, leader, self._registry, amount_mist=shortfall_mist)

    # --- Workers, keys and ownership

    async def add_worker(self, leader: Address, worker: Address) -> Sent:
        """Let an address close invocations in the leader's name, for its fees.

        Raises `not_owner`, `already_listed` or `roster_full`.
        """
        return await self._call_as_owner(calls.add_worker, leader, self._registry, worker)

    async def remove_worker(self, leader: Address, worker: Address) -> Sent:
        """Take that right from an address. Raises `not_owner` or `not_listed`."""
        return await self._call_as_owner(calls.remove_worker, leader, worker)

    async def add_key(self, leader: Address, key: bytes) -> Sent:
        """Let an Ed25519 key, of 32 bytes, sign the leader's requests to tools.

        Raises `not_owner`, `public_key_invalid`, `invalid_key`, `key_taken` or `too_many_keys`.
        """
        await self._owned(leader)
        check_key(key)
        return await self._call_as_owner(calls.add_key, leader, self._registry, key)

    async def remove_key(self, leader: Address, key: bytes) -> Sent:
        """Let a key sign no longer. Raises `not_owner` or `unknown_key`."""
        return await self._call_as_owner(calls.remove_key, leader, key)

    async def offer(self, leader: Address, to: Address | None) -> Sent:
        """Offer the leader to an address; with None, take the offer back. Raises `not_owner`."""
        return await self._call_as_owner(calls.offer, leader, to)

    async def accept(self, leader: Address) -> Sent:
        """Take over a leader that was offered: the wallet is its only worker, and it has no keys.

        Raises `not_offered`.
        """
        return await self.call(calls.accept, leader, (self.client.address,))

    # --- Admin

    async def configure(self, settings: leader_registry.LeaderSettings) -> Sent:
        """Set what leaders and invocations have to keep to.

        Raises `not_admin` or `invalid_settings`.
        """
        await self._require_admin()
        to = (self._registry, self.deployment.admin)
        # The chain counts the revision.
        return await self.call(leader_registry.configure, *to, *astuple(settings)[:-1])

    async def propose_slash(
        self, leader: Address, amount_mist: int, reason: str, evidence: bytes
    ) -> Sent:
        """Propose to burn of a leader's collateral, for a reason of 1 to 500 bytes.

        `evidence` is the SHA-256 digest of what proves it. Raises `not_admin`, `unknown_leader`,
        and for the rest as `ToolRegistry.propose_slash` does.
        """
        await self._require_admin()
        found = await self.get(leader)
        check_slash(found.collateral, f"the leader {found.name}", amount_mist)
        by_admin = self._by_admin(leader)
        return await self.call(
            slashing.propose_for_leader, *by_admin, amount_mist, reason, evidence
        )

    async def execute_slash(self, leader: Address) -> Sent:
        """Burn what was proposed. Raises `not_admin`, `no_slash_pending` or `not_due`."""
        await self._require_admin()
        at_ms = due_at_ms((await self.get(leader)).collateral)
        return await self.call(
            slashing.execute_for_leader, *self._by_admin(leader), possible_at_ms=at_ms
        )

    async def cancel_slash(self, leader: Address) -> Sent:
        """Take back what was proposed. Raises `not_admin` or `no_slash_pending`."""
        await self._require_admin()
        return await self.call(slashing.cancel_for_leader, leader, self.deployment.admin)

    # --- Rights

    def _by_admin(self, leader: Address) -> tuple[Address, Address, Address]:
        """What the admin's functions begin with."""
        return leader, self.deployment.admin, self._registry

    async def _require_admin(self) -> None:
        require_admin(self.client.address, await self.read(self.deployment.admin, Admin))

    async def _owned(self, leader: Address) -> Leader:
        """The leader, if the wallet owns it. Raises `unknown_leader` or `not_owner`."""
        found = await self.get(leader)
        check_owner(found, self.client.address)
        return found

    async def _call_as_owner(
        self,
        function: Callable[[TransactionBuilder, Package, Address, *Ts], object],
        leader: Address,
        *arguments: *Ts,
    ) -> Sent:
        await self._owned(leader)
        return await self.call(function, leader, *arguments)


def _id_in(leader: LeaderName) -> Address | None:
    """Return the id that stands there; None for a name."""
    if isinstance(leader, Address):
        return leader
    return Address.parse_whole(leader) if leader.startswith("0x") else None


def _terms(
    builder: TransactionBuilder,
    settings: leader_registry.LeaderSettings,
    collateral_mist: int | None,
    max_delay_ms: int | None,
) -> tuple[Argument, int]:
    """The collateral to lock and the delay to consent to. Raises as the chain would."""
    locked_mist = settings.collateral_mist if collateral_mist is None else collateral_mist
    delay_ms = settings.unregister_delay_ms if max_delay_ms is None else max_delay_ms
    check_terms(settings, locked_mist, delay_ms, "the leader")
    return builder.split_coins(builder.gas, [locked_mist])[0], delay_ms
