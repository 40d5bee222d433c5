/// Package upgrades that are announced 14 days before their execution.
///
/// The owner of an `UpgradeCap` can replace the code of its package at any time, and break every
/// promise of the package. `lock` stores the cap permanently in an `UpgradeLock`. From then on, the
/// owner of the lock must propose each upgrade, with the digest of its modules and dependencies.
/// Anyone can execute the upgrade from the 14th to the 21st day after the proposal. The owner can
/// cancel a proposal, or make the package immutable at any time.
///
/// Only a package in its first version can be locked. So a lock proves that all later versions were
/// announced. The ID of a lock is derived from the ID of the package's first version.
///
/// The code of every published version remains callable. If an upgrade fixes a flaw, the package
/// itself must refuse calls from older versions.
module upgrade_lock::upgrade_lock;

use std::string::String;
use sui::clock::Clock;
use sui::derived_object;
use sui::event;
use sui::package::{UpgradeCap, UpgradeReceipt, UpgradeTicket};

// === Errors ===

/// The sender is not the owner of the lock: sign with the owner's key.
const ENotOwner: u64 = 0;
/// The package was upgraded before: only its first version can be locked.
const EAlreadyUpgraded: u64 = 1;
/// An upgrade of the package was authorized: commit it first.
const EUpgradeInProgress: u64 = 2;
/// The package digest must be 32 bytes long: propose the digest of the modules and dependencies.
const EInvalidDigest: u64 = 3;
/// The URL of the sources must be 1 to 500 bytes long.
const EInvalidSources: u64 = 4;
/// Another upgrade is already proposed: cancel it first, or wait until it has expired.
const EProposalPending: u64 = 5;
/// No upgrade is proposed: propose one first.
const ENoProposal: u64 = 6;
/// The 14 days since the proposal are not over: execute the upgrade later.
const ETooEarly: u64 = 7;
/// The proposal expired 21 days after it was made: propose the upgrade again.
const EProposalExpired: u64 = 8;
/// The package is immutable and can never be upgraded again.
const EImmutable: u64 = 9;
/// The lock is not offered to the sender: ask its owner to offer it.
const ENotOffered: u64 = 10;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Time in which users can examine a proposal and stop using the package. The notice is a constant,
/// because an admin could change a setting.
const NOTICE_MS: u64 = 14 * DAY_MS;
/// Time after the notice in which a proposal can be executed. A proposal expires, so that an owner
/// cannot make proposals in advance for later use.
const WINDOW_MS: u64 = 7 * DAY_MS;
const DIGEST_BYTES: u64 = 32;
const MAX_SOURCES_BYTES: u64 = 500;

// === Events ===

/// The upgrades of a package were locked.
public struct PackageLocked has copy, drop {
    lock: ID,
    package: ID,
    owner: address,
}

/// An upgrade was proposed. The upgrade can be executed from `executable_at_ms` until
/// `expires_at_ms`.
public struct UpgradeProposed has copy, drop {
    lock: ID,
    package: ID,
    digest: vector<u8>,
    sources: String,
    executable_at_ms: u64,
    expires_at_ms: u64,
}

/// A proposal was cancelled.
public struct UpgradeCancelled has copy, drop {
    lock: ID,
    package: ID,
    digest: vector<u8>,
}

/// A proposed upgrade was executed. `new_package` is the ID of the new version.
public struct UpgradeExecuted has copy, drop {
    lock: ID,
    package: ID,
    new_package: ID,
    version: u64,
}

/// A package was made immutable, so it can never be upgraded again.
public struct PackageMadeImmutable has copy, drop {
    lock: ID,
    package: ID,
}

/// The owner offered the lock to another address. An offer to the owner's own address withdraws an
/// earlier offer.
public struct OwnershipOffered has copy, drop {
    lock: ID,
    package: ID,
    pending_owner: address,
}

/// The address to which the lock was offered became its owner.
public struct OwnershipAccepted has copy, drop {
    lock: ID,
    package: ID,
    previous_owner: address,
    owner: address,
}

// === Structs ===

/// The single shared object from which the IDs of all locks are derived.
public struct LockRegistry has key {
    id: UID,
}

/// The shared lock of one package. Because the type does not have `store`, the lock can be neither
/// wrapped nor transferred.
public struct UpgradeLock has key {
    id: UID,
    /// The first version of the package.
    package: ID,
    owner: address,
    pending_owner: Option<address>,
    /// The cap, or none after the package was made immutable.
    cap: Option<UpgradeCap>,
    /// The last proposal. An expired proposal remains until another proposal replaces it.
    proposal: Option<Proposal>,
}

/// A proposed upgrade.
public struct Proposal has copy, drop, store {
    /// The package digest, which covers all modules and the IDs of all dependencies.
    digest: vector<u8>,
    /// The URL of the sources. Only the digest is binding. To verify the sources, compile them and
    /// compare the digests.
    sources: String,
    proposed_at_ms: u64,
    /// The time in ms from which anyone can execute the proposal.
    executable_at_ms: u64,
    /// The time in ms from which no one can execute the proposal.
    expires_at_ms: u64,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(LockRegistry { id: object::new(ctx) });
}

// === Locking ===

/// Lock the upgrades of a package in its first version. The sender owns the lock.
///
/// The policy of the cap does not change. Aborts with `EUpgradeInProgress` or `EAlreadyUpgraded`.
public fun lock(locks: &mut LockRegistry, cap: UpgradeCap, ctx: &mut TxContext) {
    let package = cap.package();
    // A cap that has authorized an upgrade has no package until the upgrade is committed. If this
    // function accepted such a cap, the upgrade could be committed without a proposal.
    assert!(package.to_address() != @0x0, EUpgradeInProgress);
    assert!(cap.version() == 1, EAlreadyUpgraded);
    let lock = UpgradeLock {
        id: derived_object::claim(&mut locks.id, package),
        package,
        owner: ctx.sender(),
        pending_owner: option::none(),
        cap: option::some(cap),
        proposal: option::none(),
    };
    event::emit(PackageLocked { lock: object::id(&lock), package, owner: lock.owner });
    transfer::share_object(lock);
}

// === Upgrades ===

/// Propose an upgrade and announce it with an event. Aborts with `ENotOwner`, `EImmutable`,
/// `EProposalPending`, `EInvalidDigest` or `EInvalidSources`.
public fun propose(
    self: &mut UpgradeLock,
    digest: vector<u8>,
    sources: String,
    clock: &Clock,
    ctx: &TxContext,
) {
    self.check_owner(ctx);
    assert!(self.cap.is_some(), EImmutable);
    assert!(!self.proposal.is_some_and!(|proposal| !proposal.is_void(clock)), EProposalPending);
    assert!(digest.length() == DIGEST_BYTES, EInvalidDigest);
    assert!(!sources.is_empty() && sources.length() <= MAX_SOURCES_BYTES, EInvalidSources);
    let proposed_at_ms = clock.timestamp_ms();
    let executable_at_ms = proposed_at_ms + NOTICE_MS;
    let expires_at_ms = executable_at_ms + WINDOW_MS;
    event::emit(UpgradeProposed {
        lock: object::id(self),
        package: self.package,
        digest,
        sources,
        executable_at_ms,
        expires_at_ms,
    });
    self.proposal =
        option::some(Proposal { digest, sources, proposed_at_ms, executable_at_ms, expires_at_ms });
}

/// Cancel a proposal. Aborts with `ENotOwner` or `ENoProposal`.
///
/// From the 14th day on, anyone can execute the proposal before the owner cancels it.
public fun cancel(self: &mut UpgradeLock, ctx: &TxContext) {
    self.check_owner(ctx);
    assert!(self.proposal.is_some(), ENoProposal);
    let Proposal { digest, .. } = self.proposal.extract();
    event::emit(UpgradeCancelled { lock: object::id(self), package: self.package, digest });
}

/// Execute a proposal, and return the ticket for the upgrade. The sender may be anyone.
///
/// Pass the ticket to the command `Upgrade`, and pass the receipt of the command to `commit`. The
/// ticket and the receipt cannot be stored, so the transaction fails unless it contains the
/// upgrade. Aborts with `ENoProposal`, `ETooEarly` or `EProposalExpired`.
public fun authorize(self: &mut UpgradeLock, clock: &Clock): UpgradeTicket {
    assert!(self.proposal.is_some(), ENoProposal);
    let proposal = self.proposal.extract();
    assert!(clock.timestamp_ms() >= proposal.executable_at_ms, ETooEarly);
    assert!(!proposal.is_void(clock), EProposalExpired);
    // The owner may have restricted the policy of the cap before locking it.
    let cap = self.cap.borrow_mut();
    let policy = cap.policy();
    cap.authorize(policy, proposal.digest)
}

/// Complete an upgrade. Aborts with `EImmutable`, and as `sui::package::commit_upgrade` does.
public fun commit(self: &mut UpgradeLock, receipt: UpgradeReceipt) {
    assert!(self.cap.is_some(), EImmutable);
    let cap = self.cap.borrow_mut();
    cap.commit(receipt);
    event::emit(UpgradeExecuted {
        lock: self.id.to_inner(),
        package: self.package,
        new_package: cap.package(),
        version: cap.version(),
    });
}

/// Make the package immutable permanently, and cancel the current proposal. Aborts with `ENotOwner`
/// or `EImmutable`.
public fun make_immutable(self: &mut UpgradeLock, ctx: &TxContext) {
    self.check_owner(ctx);
    assert!(self.cap.is_some(), EImmutable);
    self.cap.extract().make_immutable();
    self.proposal = option::none();
    event::emit(PackageMadeImmutable { lock: object::id(self), package: self.package });
}

// === Ownership ===

/// Offer the lock to an address, and replace an earlier offer.
///
/// To withdraw an offer, offer the lock to the owner's own address. An offer does not affect a
/// proposal. Aborts with `ENotOwner`.
public fun offer(self: &mut UpgradeLock, to: address, ctx: &TxContext) {
    self.check_owner(ctx);
    self.pending_owner = option::some(to);
    let (lock, package) = (object::id(self), self.package);
    event::emit(OwnershipOffered { lock, package, pending_owner: to });
}

/// Make the sender the owner of a lock that was offered to it. Aborts with `ENotOffered`.
public fun accept(self: &mut UpgradeLock, ctx: &TxContext) {
    assert!(self.pending_owner.contains(&ctx.sender()), ENotOffered);
    self.pending_owner = option::none();
    let previous_owner = self.owner;
    self.owner = ctx.sender();
    event::emit(OwnershipAccepted {
        lock: object::id(self),
        package: self.package,
        previous_owner,
        owner: self.owner,
    });
}

// === Views ===

/// Return the ID of a package's lock, even if the package is not locked.
public fun lock_id(locks: &LockRegistry, package: ID): ID {
    derived_object::derive_address(object::id(locks), package).to_id()
}

/// Return whether a package is locked. `package` is the ID of its first version.
public fun is_locked(locks: &LockRegistry, package: ID): bool {
    derived_object::exists(&locks.id, package)
}

/// Return the first version of the package.
public fun package(self: &UpgradeLock): ID { self.package }

/// Return the owner, which proposes upgrades.
public fun owner(self: &UpgradeLock): address { self.owner }

/// Return the address to which the lock is offered, or none.
public fun pending_owner(self: &UpgradeLock): Option<address> { self.pending_owner }

/// Return the last proposal, which may have expired, or none.
public fun proposal(self: &UpgradeLock): Option<Proposal> { self.proposal }

/// Return whether the package can never be upgraded again.
public fun is_immutable(self: &UpgradeLock): bool { self.cap.is_none() }

/// Return the package digest of the proposed upgrade.
public fun digest(self: &Proposal): vector<u8> { self.digest }

/// Return the URL of the sources.
public fun sources(self: &Proposal): String { self.sources }

/// Return the time of the proposal, in ms.
public fun proposed_at_ms(self: &Proposal): u64 { self.proposed_at_ms }

/// Return the time in ms from which the proposal can be executed.
public fun executable_at_ms(self: &Proposal): u64 { self.executable_at_ms }

/// Return the time in ms from which the proposal can no longer be executed.
public fun expires_at_ms(self: &Proposal): u64 { self.expires_at_ms }

// === Private functions ===

fun check_owner(self: &UpgradeLock, ctx: &TxContext) {
    assert!(ctx.sender() == self.owner, ENotOwner);
}

fun is_void(self: &Proposal, clock: &Clock): bool {
    clock.timestamp_ms() >= self.expires_at_ms
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }
