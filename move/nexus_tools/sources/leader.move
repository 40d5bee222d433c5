/// A leader, which dispatches invocations to tools and closes them.
///
/// Anyone can register a leader by locking collateral. The owner controls the leader. Workers are
/// addresses whose keys are on servers. Workers can only close invocations that name the leader,
/// and they receive the leader's fees. A leader is never deleted, so its track record stays under
/// one ID.
///
/// A request must name an active leader. A leader is active if it accepts invocations and its
/// collateral is active. A leader that stops accepting invocations can still close invocations that
/// name it. A slashed leader is suspended, and cannot close invocations until its owner tops up the
/// collateral.
///
/// The exit paths (`deactivate`, `unregister`, `claim`) and the functions that remove a right
/// (`remove_worker`, `remove_key`) work with every version of the package and under all settings.
module nexus_tools::leader;

use nexus_tools::admin::Admin;
use nexus_tools::collateral::{Self, Collateral};
use nexus_tools::keys::{Self, Keys};
use nexus_tools::leader_registry::LeaderRegistry;
use nexus_tools::owner::{Self, Owner};
use nexus_tools::roster::{Self, Roster};
use std::string::String;
use sui::clock::Clock;
use sui::coin::Coin;
use sui::derived_object;
use sui::event;
use sui::sui::SUI;

// === Errors ===

/// The name is longer than 200 bytes: shorten it.
const ENameTooLong: u64 = 0;
/// The leader is already active.
const EAlreadyActive: u64 = 1;
/// The leader is not active.
const ENotActive: u64 = 2;
/// The leader is suspended, unregistered or claimed: top up the collateral, cancel the
/// unregistration or re-register the leader.
const ECollateralInactive: u64 = 3;

// === Constants ===

const MAX_NAME_BYTES: u64 = 200;

// === Events ===

/// A leader was registered.
public struct LeaderRegistered has copy, drop {
    leader: ID,
    name: String,
    owner: address,
    workers: vector<address>,
    index: u64,
    registered_at_ms: u64,
}

/// A leader started or stopped accepting new invocations.
public struct LeaderActivityChanged has copy, drop {
    leader: ID,
    active: bool,
}

/// A worker of a leader was added or removed.
public struct LeaderWorkerChanged has copy, drop {
    leader: ID,
    worker: address,
    added: bool,
}

/// A leader has a new owner and new workers, and its keys were removed.
public struct LeaderTakenOver has copy, drop {
    leader: ID,
    workers: vector<address>,
}

/// A signing key of a leader was added or removed.
public struct LeaderKeyChanged has copy, drop {
    leader: ID,
    key: vector<u8>,
    added: bool,
}

// === Structs ===

/// A registered leader, which is a shared object. The ID is derived from the registry and the index
/// of the leader.
public struct Leader has key {
    id: UID,
    /// The name that the owner chose.
    name: String,
    owner: Owner,
    /// Whether the owner accepts new invocations.
    accepting: bool,
    /// The addresses that may close invocations for the leader.
    workers: Roster<address>,
    /// The keys that sign the leader's requests to tools.
    keys: Keys,
    collateral: Collateral,
    /// The index in the order of registration, counted from 0.
    index: u64,
    registered_at_ms: u64,
}

// === Public functions: registration ===

/// Register a leader that is not active yet and that the sender owns.
///
/// The caller must share the leader with `share` in the same transaction. The caller may lock more
/// than the minimum collateral, and accepts an unregister delay of at most `max_delay_ms`. Aborts
/// with `ENameTooLong`, `leader_registry::ENotAccepting`, and as `roster::from_vector` and
/// `collateral::lock` do.
public fun register(
    registry: &mut LeaderRegistry,
    collateral: Coin<SUI>,
    max_delay_ms: u64,
    name: String,
    workers: vector<address>,
    clock: &Clock,
    ctx: &mut TxContext,
): Leader {
    registry.check_version();
    assert!(name.length() <= MAX_NAME_BYTES, ENameTooLong);
    let index = registry.append();
    let mut leader = Leader {
        id: derived_object::claim(registry.uid_mut(), index),
        name,
        owner: owner::new(ctx),
        accepting: false,
        workers: roster::from_vector(workers),
        keys: keys::empty(),
        collateral: collateral::empty(),
        index,
        registered_at_ms: clock.timestamp_ms(),
    };
    event::emit(LeaderRegistered {
        leader: object::id(&leader),
        name,
        owner: ctx.sender(),
        workers,
        index,
        registered_at_ms: leader.registered_at_ms,
    });
    leader.lock(registry, collateral, max_delay_ms, clock);
    leader
}

/// Share a new leader.
public fun share(self: Leader) { transfer::share_object(self) }

/// Start the delay after which the owner can claim the collateral. New invocations can no longer
/// name the leader. Aborts with `owner::ENotOwner`, and as `collateral::unregister` does.
public fun unregister(self: &mut Leader, clock: &Clock, ctx: &TxContext) {
    self.owner.check(ctx);
    let leader = object::id(self);
    self.collateral.unregister(leader, clock);
}

/// Stop the unregister delay. Aborts with `owner::ENotOwner` or `collateral::ENotUnregistered`.
public fun cancel_unregister(self: &mut Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    self.authorize(registry, ctx);
    let leader = object::id(self);
    self.collateral.cancel_unregister(leader);
}

/// Pay the remaining collateral to the owner's address balance.
///
/// If a pending slash locks a part of the collateral, call this function again after the slash was
/// executed or cancelled, or has expired. Aborts with `owner::ENotOwner`, and as
/// `collateral::claim` does.
public fun claim(self: &mut Leader, clock: &Clock, ctx: &TxContext) {
    self.owner.check(ctx);
    let leader = object::id(self);
    self.collateral.claim(leader, clock, ctx);
}

/// Register a claimed leader again under the current settings. Aborts with `owner::ENotOwner`,
/// `leader_registry::ENotAccepting`, and as `collateral::lock` does.
public fun re_register(
    self: &mut Leader,
    registry: &LeaderRegistry,
    collateral: Coin<SUI>,
    max_delay_ms: u64,
    clock: &Clock,
    ctx: &TxContext,
) {
    self.authorize(registry, ctx);
    self.lock(registry, collateral, max_delay_ms, clock);
    self.registered_at_ms = clock.timestamp_ms();
}

/// Restore slashed collateral. Aborts with `owner::ENotOwner`, and as `collateral::top_up` does.
public fun top_up(
    self: &mut Leader,
    registry: &LeaderRegistry,
    coin: Coin<SUI>,
    ctx: &TxContext,
) {
    self.authorize(registry, ctx);
    let leader = object::id(self);
    self.collateral.top_up(leader, coin);
}

// === Public functions: activity ===

/// Accept new invocations. Aborts with `owner::ENotOwner`, `ECollateralInactive` or
/// `EAlreadyActive`.
public fun activate(self: &mut Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    self.authorize(registry, ctx);
    assert!(self.collateral.is_active(), ECollateralInactive);
    assert!(!self.accepting, EAlreadyActive);
    self.accepting = true;
    event::emit(LeaderActivityChanged { leader: object::id(self), active: true });
}

/// Stop accepting new invocations. The leader can still close invocations that name it. Aborts with
/// `owner::ENotOwner` or `ENotActive`.
public fun deactivate(self: &mut Leader, ctx: &TxContext) {
    self.owner.check(ctx);
    assert!(self.accepting, ENotActive);
    self.accepting = false;
    event::emit(LeaderActivityChanged { leader: object::id(self), active: false });
}

// === Public functions: workers, keys and ownership ===

/// Allow an address to close invocations for the leader. Aborts with `owner::ENotOwner`, and as
/// `roster::add` does.
public fun add_worker(
    self: &mut Leader,
    registry: &LeaderRegistry,
    worker: address,
    ctx: &TxContext,
) {
    self.authorize(registry, ctx);
    self.workers.add(worker);
    event::emit(LeaderWorkerChanged { leader: object::id(self), worker, added: true });
}

/// Remove a worker. Aborts with `owner::ENotOwner` or `roster::ENotListed`.
public fun remove_worker(self: &mut Leader, worker: address, ctx: &TxContext) {
    self.owner.check(ctx);
    self.workers.remove(&worker);
    event::emit(LeaderWorkerChanged { leader: object::id(self), worker, added: false });
}

/// Add an Ed25519 public key that signs the leader's requests to tools. Aborts with
/// `owner::ENotOwner`, and as `keys::add` does.
public fun add_key(self: &mut Leader, registry: &LeaderRegistry, key: vector<u8>, ctx: &TxContext) {
    self.authorize(registry, ctx);
    self.keys.add(key);
    event::emit(LeaderKeyChanged { leader: object::id(self), key, added: true });
}

/// Remove a public key. Aborts with `owner::ENotOwner` or `keys::EUnknownKey`.
public fun remove_key(self: &mut Leader, key: vector<u8>, ctx: &TxContext) {
    self.owner.check(ctx);
    self.keys.remove(&key);
    event::emit(LeaderKeyChanged { leader: object::id(self), key, added: false });
}

/// Offer the leader to an address. With none, withdraw the offer. Aborts with `owner::ENotOwner`.
public fun offer(self: &mut Leader, pending_owner: Option<address>, ctx: &TxContext) {
    let leader = object::id(self);
    self.owner.offer(leader, pending_owner, ctx);
}

/// Make the sender the owner. `workers` replace the workers of the previous owner, and all keys are
/// removed. Aborts with `owner::ENotOffered`, and as `roster::from_vector` does.
public fun accept(self: &mut Leader, workers: vector<address>, ctx: &TxContext) {
    let leader = object::id(self);
    self.owner.accept(leader, ctx);
    self.workers = roster::from_vector(workers);
    self.keys = keys::empty();
    event::emit(LeaderTakenOver { leader, workers });
}

// === Views ===

/// Return whether new invocations can name the leader.
public fun is_active(self: &Leader): bool { self.accepting && self.collateral.is_active() }

/// Return whether an address may close invocations for the leader.
public fun is_worker(self: &Leader, worker: address): bool { self.workers.contains(&worker) }

/// Return the name.
public fun name(self: &Leader): String { self.name }

/// Return the owner and the address to which the leader is offered.
public fun owner(self: &Leader): &Owner { &self.owner }

/// Return the keys that sign the leader's requests to tools.
public fun keys(self: &Leader): &Keys { &self.keys }

/// Return the collateral and its terms.
public fun collateral(self: &Leader): &Collateral { &self.collateral }

// === Package functions ===

/// Return the ID and the collateral of the leader, for the admin. Aborts with `owner::ENotOwner`.
public(package) fun collateral_mut(
    self: &mut Leader,
    admin: &Admin,
    ctx: &TxContext,
): (ID, &mut Collateral) {
    admin.check(ctx);
    (object::id(self), &mut self.collateral)
}

// === Private functions ===

/// Lock the collateral under the current settings.
fun lock(
    self: &mut Leader,
    registry: &LeaderRegistry,
    coin: Coin<SUI>,
    max_delay_ms: u64,
    clock: &Clock,
) {
    registry.check_accepting();
    let (leader, settings) = (object::id(self), registry.settings());
    let (min_mist, delay_ms) = (settings.collateral_mist(), settings.unregister_delay_ms());
    self.collateral.lock(leader, coin, min_mist, delay_ms, max_delay_ms, clock);
}

/// Abort with `version::EWrongVersion` or `owner::ENotOwner` unless the owner uses this version of
/// the package.
fun authorize(self: &Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    registry.check_version();
    self.owner.check(ctx);
}
