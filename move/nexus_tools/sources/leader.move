/// A leader: who carries invocations to tools and closes them.
///
/// Anyone registers a leader by locking collateral. Its owner decides everything about it; its
/// workers, addresses whose keys lie on machines, can do one thing alone: close invocations that
/// name the leader, for its fees. A leader is never deleted, so that what it did is told for ever
/// under one id.
///
/// Requesters name an active leader: one that accepts invocations, and whose collateral is in
/// force. A leader that stops stays bound to what names it already. One that was slashed is
/// suspended: it closes nothing until it tops up.
///
/// What leads out (`deactivate`, `unregister`, `claim`) and what takes a right away
/// (`remove_worker`, `remove_key`) depends on no version of the package and on no setting.
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
/// The leader is active already.
const EAlreadyActive: u64 = 1;
/// The leader is not active.
const ENotActive: u64 = 2;
/// The leader is suspended, unregistered or claimed: top it up, cancel the unregistration or
/// re-register it.
const ENotInForce: u64 = 3;

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

/// A leader can be named in new invocations, or no longer.
public struct LeaderActivityChanged has copy, drop {
    leader: ID,
    active: bool,
}

/// An address began or ceased to be a worker of a leader.
public struct LeaderWorkerChanged has copy, drop {
    leader: ID,
    worker: address,
    valid: bool,
}

/// A leader has another owner, workers of its own and no keys.
public struct LeaderHandedOver has copy, drop {
    leader: ID,
    workers: vector<address>,
}

/// A key began or ceased to be valid for a leader's signatures.
public struct LeaderKeyChanged has copy, drop {
    leader: ID,
    key: vector<u8>,
    valid: bool,
}

// === Structs ===

/// A registered leader, shared. Its id is derived from the registry and its index.
public struct Leader has key {
    id: UID,
    /// What it calls itself.
    name: String,
    owner: Owner,
    /// Whether its owner wants new invocations.
    accepting: bool,
    /// Who closes invocations in its name.
    workers: Roster<address>,
    /// What signs its requests to tools.
    keys: Keys,
    collateral: Collateral,
    /// The leader's place in the order of registrations, counted from 0.
    index: u64,
    registered_at_ms: u64,
}

// === Public functions: registration ===

/// Registers a leader, not active yet. The sender owns it. More than the least collateral may be
/// locked, and the owner consents to an unregister delay of `max_delay_ms` at most. The leader has
/// to be shared with `share` in the same transaction. Aborts with `ENameTooLong`,
/// `leader_registry::ENotAccepting`, and as `roster::of` and `collateral::lock` do.
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
        owner: owner::sender(ctx),
        accepting: false,
        workers: roster::of(workers),
        keys: keys::none(),
        collateral: collateral::none(),
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

/// Makes a new leader available to everyone.
public fun share(self: Leader) { transfer::share_object(self) }

/// Starts the timer after which the collateral can be claimed. From now on no new invocation can
/// name the leader. Aborts with `owner::ENotOwner`, and as `collateral::unregister` does.
public fun unregister(self: &mut Leader, clock: &Clock, ctx: &TxContext) {
    self.owner.check(ctx);
    let leader = object::id(self);
    self.collateral.unregister(leader, clock);
}

/// Stops the timer. Aborts with `owner::ENotOwner` or `collateral::ENotUnregistered`.
public fun cancel_unregister(self: &mut Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    self.authorize(registry, ctx);
    let leader = object::id(self);
    self.collateral.cancel_unregister(leader);
}

/// Returns what is left of the collateral to the owner's address balance. What a pending slash
/// holds back is claimed by a second call, once that is executed, cancelled or void. Aborts with
/// `owner::ENotOwner`, and as `collateral::claim` does.
public fun claim(self: &mut Leader, clock: &Clock, ctx: &TxContext) {
    self.owner.check(ctx);
    let leader = object::id(self);
    self.collateral.claim(leader, clock, ctx);
}

/// Brings a claimed leader back under the settings of today. Aborts with `owner::ENotOwner`,
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

/// Brings back what was slashed. Aborts with `owner::ENotOwner`, and as `collateral::top_up` does.
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

/// Lets new invocations name the leader. Aborts with `owner::ENotOwner`, `ENotInForce` or
/// `EAlreadyActive`.
public fun activate(self: &mut Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    self.authorize(registry, ctx);
    assert!(self.collateral.is_in_force(), ENotInForce);
    assert!(!self.accepting, EAlreadyActive);
    self.accepting = true;
    event::emit(LeaderActivityChanged { leader: object::id(self), active: true });
}

/// Spares the leader new invocations. It can still close those that name it. Aborts with
/// `owner::ENotOwner` or `ENotActive`.
public fun deactivate(self: &mut Leader, ctx: &TxContext) {
    self.owner.check(ctx);
    assert!(self.accepting, ENotActive);
    self.accepting = false;
    event::emit(LeaderActivityChanged { leader: object::id(self), active: false });
}

// === Public functions: workers, keys and ownership ===

/// Lets an address close invocations in the leader's name. Aborts with `owner::ENotOwner`, and as
/// `roster::add` does.
public fun add_worker(
    self: &mut Leader,
    registry: &LeaderRegistry,
    worker: address,
    ctx: &TxContext,
) {
    self.authorize(registry, ctx);
    self.workers.add(worker);
    event::emit(LeaderWorkerChanged { leader: object::id(self), worker, valid: true });
}

/// Takes that right from an address. Aborts with `owner::ENotOwner` or `roster::ENotListed`.
public fun remove_worker(self: &mut Leader, worker: address, ctx: &TxContext) {
    self.owner.check(ctx);
    self.workers.remove(&worker);
    event::emit(LeaderWorkerChanged { leader: object::id(self), worker, valid: false });
}

/// Adds a public key of Ed25519 that signs the leader's requests to tools. Aborts with
/// `owner::ENotOwner`, and as `keys::add` does.
public fun add_key(self: &mut Leader, registry: &LeaderRegistry, key: vector<u8>, ctx: &TxContext) {
    self.authorize(registry, ctx);
    self.keys.add(key);
    event::emit(LeaderKeyChanged { leader: object::id(self), key, valid: true });
}

/// Removes a public key. Aborts with `owner::ENotOwner` or `keys::EUnknownKey`.
public fun remove_key(self: &mut Leader, key: vector<u8>, ctx: &TxContext) {
    self.owner.check(ctx);
    self.keys.remove(&key);
    event::emit(LeaderKeyChanged { leader: object::id(self), key, valid: false });
}

/// Offers the leader to an address; with none, takes the offer back. Aborts with
/// `owner::ENotOwner`.
public fun offer(self: &mut Leader, offered: Option<address>, ctx: &TxContext) {
    let leader = object::id(self);
    self.owner.offer(leader, offered, ctx);
}

/// Makes the sender the owner, with workers of its own and without keys: what the former owner
/// added is gone, whenever it was added. Aborts with `owner::ENotOffered`, and as `roster::of`
/// does.
public fun accept(self: &mut Leader, workers: vector<address>, ctx: &TxContext) {
    let leader = object::id(self);
    self.owner.accept(leader, ctx);
    self.workers = roster::of(workers);
    self.keys = keys::none();
    event::emit(LeaderHandedOver { leader, workers });
}

// === Views ===

/// Whether new invocations can name the leader.
public fun is_active(self: &Leader): bool { self.accepting && self.collateral.is_in_force() }

/// Whether the address closes invocations in the leader's name.
public fun is_worker(self: &Leader, worker: address): bool { self.workers.contains(&worker) }

/// What the leader calls itself.
public fun name(self: &Leader): String { self.name }

/// Who owns it, and to whom it is offered.
public fun owner(self: &Leader): &Owner { &self.owner }

/// What signs its requests to tools.
public fun keys(self: &Leader): &Keys { &self.keys }

/// The collateral and its terms.
public fun collateral(self: &Leader): &Collateral { &self.collateral }

// === Package functions ===

/// What the admin slashes, with the id of the leader. Aborts with `owner::ENotOwner`.
public(package) fun collateral_mut(
    self: &mut Leader,
    admin: &Admin,
    ctx: &TxContext,
): (ID, &mut Collateral) {
    admin.check(ctx);
    (object::id(self), &mut self.collateral)
}

// === Private functions ===

/// Locks the collateral under the settings of today.
fun lock(
    self: &mut Leader,
    registry: &LeaderRegistry,
    coin: Coin<SUI>,
    max_delay_ms: u64,
    clock: &Clock,
) {
    registry.check_accepting();
    let (leader, settings) = (object::id(self), registry.settings());
    let (least_mist, delay_ms) = (settings.collateral_mist(), settings.unregister_delay_ms());
    self.collateral.lock(leader, coin, least_mist, delay_ms, max_delay_ms, clock);
}

/// Of what the owner does under this version of the package.
fun authorize(self: &Leader, registry: &LeaderRegistry, ctx: &TxContext) {
    registry.check_version();
    self.owner.check(ctx);
}
