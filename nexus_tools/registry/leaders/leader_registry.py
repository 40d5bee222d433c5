"""The registry of leaders, with methods to register, find and change leaders."""

from collections.abc import Callable, Sequence
from typing import TypeVarTuple

from msgspec.structs import astuple

from nexus_tools.contracts import Sent, require_admin
from nexus_tools.contracts.move_bindings import leader as calls
from nexus_tools.contracts.move_bindings import leader_registry, slashing
from nexus_tools.contracts.move_bindings.admin import Admin
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.registry.leaders.listing import LeaderListing
from nexus_tools.registry.preconditions import (
    check_key,
    check_owner,
    check_registration_terms,
    check_shortfall,
    check_slash,
    slash_executable_at_ms,
)
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import Argument

Ts = TypeVarTuple("Ts")


@validate_arguments
class LeaderRegistry(LeaderListing):
    """The leaders of a deployment. The owner of a leader must sign its changes."""

    subject = "The leader"

    # --- Registration

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
        """Register a leader, lock its collateral, and return its ID.

        `workers` are the addresses that may close invocations for the leader, by default the
        wallet. `keys` are Ed25519 public keys of 32 bytes that verify the leader's requests to
        tools. The default of `collateral_mist` is the required minimum. The owner consents to an
        unregister delay of at most `max_delay_ms`, by default the current delay.

        `expected_length` is the length of the registry when the caller looked for a leader with
        this name. If the registry has grown since then, the chain refuses the registration. In a
        dry run, the returned ID is from the simulation.

        Raises `leaders_changed`, `not_accepting`, `collateral_too_small`, `delay_too_long`,
        `name_too_long` or `public_key_invalid`.
        """
        settings = await self.settings()
        builder, package = TransactionBuilder(), self.deployment.package
        terms = _terms(builder, settings, collateral_mist, max_delay_ms)
        worker_addresses = (self.client.address,) if workers is None else tuple(workers)
        if expected_length is not None:
            leader_registry.check_length(builder, package, self._registry, expected_length)
        leader = calls.register(builder, package, self._registry, *terms, name, worker_addresses)
        for key in keys:
            check_key(key)
            calls.add_key(builder, package, leader, self._registry, key)
        if activate:
            calls.activate(builder, package, leader, self._registry)
        calls.share(builder, package, leader)
        sent = await self.send(builder)
        return sent, self.emitted(sent, calls.LeaderRegistered).leader

    async def activate(self, leader: Address) -> Sent:
        """Allow new invocations to name the leader. Raises `not_owner` or `already_active`."""
        return await self._call_as_owner(calls.activate, leader, self._registry)

    async def deactivate(self, leader: Address) -> Sent:
        """Stop accepting new invocations. Raises `not_owner` or `not_active`."""
        return await self._call_as_owner(calls.deactivate, leader)

    async def unregister(self, leader: Address) -> Sent:
        """Start the timer after which the collateral can be claimed.

        Raises `not_owner`, `already_unregistered` or `already_claimed`.
        """
        current = await self._require_owned(leader)
        at_ms = current.collateral.claimable_at_ms
        return await self.call(calls.unregister, leader, possible_at_ms=at_ms)

    async def cancel_unregister(self, leader: Address) -> Sent:
        """Stop the timer. Raises `not_owner` or `not_unregistered`."""
        return await self._call_as_owner(calls.cancel_unregister, leader, self._registry)

    async def claim(self, leader: Address) -> Sent:
        """Transfer the collateral to the address balance of the wallet.

        The part that is locked for a pending slash is not transferred. Call `claim` again after the
        slash is executed or cancelled. Raises `not_owner`, `not_unregistered`, `delay_not_over`,
        `locked_for_slash` or `already_claimed`.
        """
        current = await self._require_owned(leader)
        at_ms = current.collateral.claimable_at_ms
        return await self.call(calls.claim, leader, possible_at_ms=at_ms)

    async def re_register(
        self,
        leader: Address,
        *,
        collateral_mist: int | None = None,
        max_delay_ms: int | None = None,
    ) -> Sent:
        """Register a leader again after its collateral was claimed.

        `collateral_mist` and `max_delay_ms` have the same meaning as in `register`. Raises
        `not_owner`, `not_claimed`, `not_accepting` or `delay_too_long`.
        """
        await self._require_owned(leader)
        builder = TransactionBuilder()
        terms = _terms(builder, await self.settings(), collateral_mist, max_delay_ms)
        calls.re_register(builder, self.deployment.package, leader, self._registry, *terms)
        return await self.send(builder)

    async def top_up(self, leader: Address) -> Sent:
        """Restore slashed collateral. Raises `not_owner` or `nothing_to_top_up`."""
        current = await self._require_owned(leader)
        shortfall_mist = check_shortfall(current.collateral, f"the leader {current.name}")
        return await self.pay(calls.top_up, leader, self._registry, amount_mist=shortfall_mist)

    # --- Workers, keys and ownership

    async def add_worker(self, leader: Address, worker: Address) -> Sent:
        """Let an address close invocations for the leader and receive the leader's fees.

        Raises `not_owner`, `already_listed` or `too_many_entries`.
        """
        return await self._call_as_owner(calls.add_worker, leader, self._registry, worker)

    async def remove_worker(self, leader: Address, worker: Address) -> Sent:
        """Remove a worker. Raises `not_owner` or `not_listed`."""
        return await self._call_as_owner(calls.remove_worker, leader, worker)

    async def add_key(self, leader: Address, key: bytes) -> Sent:
        """Add an Ed25519 public key of 32 bytes, which verifies the leader's requests to tools.

        Raises `not_owner`, `public_key_invalid`, `invalid_key`, `duplicate_key` or `too_many_keys`.
        """
        await self._require_owned(leader)
        check_key(key)
        return await self._call_as_owner(calls.add_key, leader, self._registry, key)

    async def remove_key(self, leader: Address, key: bytes) -> Sent:
        """Remove a key. Raises `not_owner` or `unknown_key`."""
        return await self._call_as_owner(calls.remove_key, leader, key)

    async def offer(self, leader: Address, to: Address | None) -> Sent:
        """Offer the leader to an address. With None, withdraw the offer. Raises `not_owner`."""
        return await self._call_as_owner(calls.offer, leader, to)

    async def accept(self, leader: Address) -> Sent:
        """Accept the ownership of a leader, set the wallet as its only worker, and remove its keys.

        Raises `not_offered`.
        """
        return await self.call(calls.accept, leader, (self.client.address,))

    # --- Admin

    async def configure(self, settings: leader_registry.LeaderSettings) -> Sent:
        """Change the settings for leaders and invocations.

        Raises `not_admin` or `invalid_settings`.
        """
        await self._require_admin()
        to = (self._registry, self.deployment.admin)
        # Omit the last field, which is the revision, because the chain increments it.
        return await self.call(leader_registry.configure, *to, *astuple(settings)[:-1])

    async def propose_slash(
        self, leader: Address, amount_mist: int, reason: str, evidence: bytes
    ) -> Sent:
        """Propose to burn part of a leader's collateral, with a reason of 1 to 500 bytes.

        `evidence` is the SHA-256 digest of the evidence. Raises `leader_unknown` and the errors of
        `ToolRegistry.propose_slash`.
        """
        await self._require_admin()
        current = await self.get(leader)
        check_slash(current.collateral, f"the leader {current.name}", amount_mist)
        by_admin = self._by_admin(leader)
        return await self.call(
            slashing.propose_for_leader, *by_admin, amount_mist, reason, evidence
        )

    async def execute_slash(self, leader: Address) -> Sent:
        """Burn the proposed amount. Raises `not_admin`, `no_slash_pending` or `slash_not_due`."""
        await self._require_admin()
        at_ms = slash_executable_at_ms((await self.get(leader)).collateral)
        return await self.call(
            slashing.execute_for_leader, *self._by_admin(leader), possible_at_ms=at_ms
        )

    async def cancel_slash(self, leader: Address) -> Sent:
        """Cancel a proposed slash. Raises `not_admin` or `no_slash_pending`."""
        await self._require_admin()
        return await self.call(slashing.cancel_for_leader, leader, self.deployment.admin)

    # --- Rights

    def _by_admin(self, leader: Address) -> tuple[Address, Address, Address]:
        """Return the first arguments of the admin's Move functions."""
        return leader, self.deployment.admin, self._registry

    async def _require_admin(self) -> None:
        require_admin(self.client.address, await self.read(self.deployment.admin, Admin))

    async def _require_owned(self, leader: Address) -> Leader:
        """Return the leader, if the wallet owns it. Raises `leader_unknown` or `not_owner`."""
        current = await self.get(leader)
        check_owner(current, self.client.address)
        return current

    async def _call_as_owner(
        self,
        function: Callable[[TransactionBuilder, Package, Address, *Ts], object],
        leader: Address,
        *arguments: *Ts,
    ) -> Sent:
        await self._require_owned(leader)
        return await self.call(function, leader, *arguments)


def _terms(
    builder: TransactionBuilder,
    settings: leader_registry.LeaderSettings,
    collateral_mist: int | None,
    max_delay_ms: int | None,
) -> tuple[Argument, int]:
    """Return the collateral coin and the accepted delay, after checking the registration terms."""
    locked_mist = settings.collateral_mist if collateral_mist is None else collateral_mist
    delay_ms = settings.unregister_delay_ms if max_delay_ms is None else max_delay_ms
    check_registration_terms(settings, locked_mist, delay_ms, "the leader")
    return builder.split_coins(builder.gas, [locked_mist])[0], delay_ms
