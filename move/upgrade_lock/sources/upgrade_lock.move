/// Upgrades of a package that everybody sees 14 days before they happen.
///
/// Whoever has the `UpgradeCap` of a package can replace its code at any moment, and with it whatever
/// the package promised. `lock` takes the cap in, for good: from then on an upgrade is proposed, named
/// by the digest of its modules and dependencies, and carried out by anybody between the 14th and the
/// 21st day after. The owner of the lock may cancel it, or make the package immutable at once.
///
/// Only a package in its first version can be locked. So the existence of a lock says that every later
/// version waited, and nobody has to ask what was published before. The id of a lock follows from the
/// id of that first version.
///
/// The code of every published version stays callable for ever: what an upgrade repairs has to be
/// refused to older versions by the package itself.
module upgrade_lock::upgrade_lock;

use std::string::String;
use sui::clock::Clock;
use sui::derived_object;
use sui::event;
use sui::package::{UpgradeCap, UpgradeReceipt, UpgradeTicket};

// === Errors ===

/// Only the owner of the lock does this: sign with its key.
const ENotOwner: u64 = 0;
/// The package was upgraded before: only one in its first version can be locked.
const EAlreadyUpgraded: u64 = 1;
/// An upgrade of the package is under way: finish it first.
const EUpgrading: u64 = 2;
/// A package digest has 32 bytes: propose the digest of modules and dependencies.
const EWrongDigest: u64 = 3;
/// The address of the sources is empty or longer than 500 bytes: give one that fits.
const EWrongSources: u64 = 4;
/// Another upgrade is proposed: cancel it first, or wait until it is void.
const EProposed: u64 = 5;
/// No upgrade is proposed: propose one first.
const ENothingProposed: u64 = 6;
/// The 14 days since the proposal are not over: execute the upgrade later.
const ETooEarly: u64 = 7;
/// The proposal is void, 21 days after it was made: propose the upgrade again.
const EVoid: u64 = 8;
/// The package is immutable: it is never upgraded again.
const EImmutable: u64 = 9;
/// The lock is not offered to you: ask its owner to offer it.
const ENotOffered: u64 = 10;

// === Constants ===

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How long everybody can look at a proposal, and leave. A constant: a setting could be set.
const NOTICE_MS: u64 = 14 * DAY_MS;
/// How long after the notice a proposal can be executed. A right to upgrade is not kept in store.
const WINDOW_MS: u64 = 7 * DAY_MS;
const DIGEST_BYTES: u64 = 32;
const MAX_SOURCES_BYTES: u64 = 500;

// === Events ===

/// The upgrades of a package are locked from now on.
public struct PackageLocked has copy, drop {
    lock: ID,
    package: ID,
    owner: address,
}

/// An upgrade was proposed, which can be executed from `executable_at_ms` until `void_at_ms`.
public struct UpgradeProposed has copy, drop {
    lock: ID,
    package: ID,
    digest: vector<u8>,
    sources: String,
    executable_at_ms: u64,
    void_at_ms: u64,
}

/// A proposal was taken back.
public struct UpgradeCancelled has copy, drop {
    lock: ID,
    package: ID,
    digest: vector<u8>,
}

/// The proposed upgrade was carried out: `upgraded` is the id of the new version.
public struct UpgradeExecuted has copy, drop {
    lock: ID,
    package: ID,
    upgraded: ID,
    version: u64,
}

/// Nobody can upgrade the package any more.
public struct PackageMadeImmutable has copy, drop {
    lock: ID,
    package: ID,
}

/// The owner offered the lock to another address; to itself: it took an offer back.
public struct OwnerOffered has copy, drop {
    lock: ID,
    package: ID,
    offered: address,
}

/// The lock has another owner.
public struct OwnerChanged has copy, drop {
    lock: ID,
    package: ID,
    previous: address,
    owner: address,
}

// === Structs ===

/// From which the ids of all locks are derived. There is one, shared.
public struct Locks has key {
    id: UID,
}

/// The lock of one package, shared. Without `store` it can be neither wrapped nor given away.
public struct UpgradeLock has key {
    id: UID,
    /// The first version of the package.
    package: ID,
    owner: address,
    offered: Option<address>,
    /// None once the package is immutable.
    cap: Option<UpgradeCap>,
    /// One at a time. A void one stays until another takes its place.
    proposal: Option<Proposal>,
}

/// An upgrade that its owner wants.
public struct Proposal has copy, drop, store {
    /// The package digest: of all modules and the ids of all dependencies.
    digest: vector<u8>,
    /// Where the sources are. The digest alone binds: compile what is there, and compare.
    sources: String,
    proposed_at_ms: u64,
    /// From then on anybody executes it.
    executable_at_ms: u64,
    /// From then on nobody does.
    void_at_ms: u64,
}

// === Init ===

fun init(ctx: &mut TxContext) {
    transfer::share_object(Locks { id: object::new(ctx) });
}

// === Locking ===

/// Locks the upgrades of a package in its first version; the sender owns the lock.
///
/// The policy of the cap stays as it is. Aborts with `EUpgrading` or `EAlreadyUpgraded`.
public fun lock(locks: &mut Locks, cap: UpgradeCap, ctx: &mut TxContext) {
    let package = cap.package();
    // A cap that has authorized an upgrade has no package until the upgrade is committed: locked in
    // between, it could be committed here without a proposal.
    assert!(package.to_address() != @0x0, EUpgrading);
    assert!(cap.version() == 1, EAlreadyUpgraded);
    let lock = UpgradeLock {
        id: derived_object::claim(&mut locks.id, package),
        package,
        owner: ctx.sender(),
        offered: option::none(),
        cap: option::some(cap),
        proposal: option::none(),
    };
    event::emit(PackageLocked { lock: object::id(&lock), package, owner: lock.owner });
    transfer::share_object(lock);
}

// === Upgrades ===

/// Proposes an upgrade, and tells everybody. Aborts with `ENotOwner`, `EImmutable`, `EProposed`,
/// `EWrongDigest` or `EWrongSources`.
public fun propose(
    self: &mut UpgradeLock,
    digest: vector<u8>,
    sources: String,
    clock: &Clock,
    ctx: &TxContext,
) {
    self.check_owner(ctx);
    assert!(self.cap.is_some(), EImmutable);
    assert!(!self.proposal.is_some_and!(|proposal| !proposal.is_void(clock)), EProposed);
    assert!(digest.length() == DIGEST_BYTES, EWrongDigest);
    assert!(!sources.is_empty() && sources.length() <= MAX_SOURCES_BYTES, EWrongSources);
    let proposed_at_ms = clock.timestamp_ms();
    let executable_at_ms = proposed_at_ms + NOTICE_MS;
    let void_at_ms = executable_at_ms + WINDOW_MS;
    event::emit(UpgradeProposed {
        lock: object::id(self),
        package: self.package,
        digest,
        sources,
        executable_at_ms,
        void_at_ms,
    });
    self.proposal =
        option::some(Proposal { digest, sources, proposed_at_ms, executable_at_ms, void_at_ms });
}

/// Takes a proposal back. Aborts with `ENotOwner` or `ENothingProposed`.
///
/// From the 14th day on anybody can execute it, also just before this.
public fun cancel(self: &mut UpgradeLock, ctx: &TxContext) {
    self.check_owner(ctx);
    assert!(self.proposal.is_some(), ENothingProposed);
    let Proposal { digest, .. } = self.proposal.extract();
    event::emit(UpgradeCancelled { lock: object::id(self), package: self.package, digest });
}

/// Executes the proposal, by anybody: gives the ticket for the command `Upgrade`, whose receipt goes
/// to `commit`. Neither can be kept, so that without the upgrade nothing of the transaction happens.
///
/// Aborts with `ENothingProposed`, `ETooEarly` or `EVoid`.
public fun authorize(self: &mut UpgradeLock, clock: &Clock): UpgradeTicket {
    assert!(self.proposal.is_some(), ENothingProposed);
    let proposal = self.proposal.extract();
    assert!(clock.timestamp_ms() >= proposal.executable_at_ms, ETooEarly);
    assert!(!proposal.is_void(clock), EVoid);
    // The cap may have been restricted before it was locked.
    let cap = self.cap.borrow_mut();
    let policy = cap.policy();
    cap.authorize(policy, proposal.digest)
}

/// Completes the upgrade. Aborts with `EImmutable`, and as `sui::package::commit_upgrade`.
public fun commit(self: &mut UpgradeLock, receipt: UpgradeReceipt) {
    assert!(self.cap.is_some(), EImmutable);
    let cap = self.cap.borrow_mut();
    cap.commit(receipt);
    event::emit(UpgradeExecuted {
        lock: self.id.to_inner(),
        package: self.package,
        upgraded: cap.package(),
        version: cap.version(),
    });
}

/// Gives up all upgrades, at once and for ever, a proposed one too. Aborts with `ENotOwner` or
/// `EImmutable`.
public fun make_immutable(self: &mut UpgradeLock, ctx: &TxContext) {
    self.check_owner(ctx);
    assert!(self.cap.is_some(), EImmutable);
    self.cap.extract().make_immutable();
    self.proposal = option::none();
    event::emit(PackageMadeImmutable { lock: object::id(self), package: self.package });
}

// === Ownership ===

/// Offers the lock to an address, in place of any other; to oneself, to take an offer back. A
/// proposal goes on. Aborts with `ENotOwner`.
public fun offer(self: &mut UpgradeLock, to: address, ctx: &TxContext) {
    self.check_owner(ctx);
    self.offered = option::some(to);
    event::emit(OwnerOffered { lock: object::id(self), package: self.package, offered: to });
}

/// Takes over a lock that was offered to the sender. Aborts with `ENotOffered`.
public fun accept(self: &mut UpgradeLock, ctx: &TxContext) {
    assert!(self.offered.contains(&ctx.sender()), ENotOffered);
    self.offered = option::none();
    let previous = self.owner;
    self.owner = ctx.sender();
    event::emit(OwnerChanged {
        lock: object::id(self),
        package: self.package,
        previous,
        owner: self.owner,
    });
}

// === Views ===

/// The id that the lock of a package has, if it is locked.
public fun lock_id(locks: &Locks, package: ID): ID {
    derived_object::derive_address(object::id(locks), package).to_id()
}

/// Whether a package, named by its first version, is locked.
public fun is_locked(locks: &Locks, package: ID): bool {
    derived_object::exists(&locks.id, package)
}

/// The first version of the package.
public fun package(self: &UpgradeLock): ID { self.package }

/// Who proposes upgrades.
public fun owner(self: &UpgradeLock): address { self.owner }

/// To whom the lock is offered.
public fun offered(self: &UpgradeLock): Option<address> { self.offered }

/// What is proposed, or was and is void.
public fun proposal(self: &UpgradeLock): Option<Proposal> { self.proposal }

/// Whether the package is never upgraded again.
public fun is_immutable(self: &UpgradeLock): bool { self.cap.is_none() }

/// The package digest of the proposed upgrade.
public fun digest(self: &Proposal): vector<u8> { self.digest }

/// Where the sources are said to be.
public fun sources(self: &Proposal): String { self.sources }

/// When it was proposed.
public fun proposed_at_ms(self: &Proposal): u64 { self.proposed_at_ms }

/// From when on it can be executed.
public fun executable_at_ms(self: &Proposal): u64 { self.executable_at_ms }

/// From when on it cannot be executed any more.
public fun void_at_ms(self: &Proposal): u64 { self.void_at_ms }

// === Private functions ===

fun check_owner(self: &UpgradeLock, ctx: &TxContext) {
    assert!(ctx.sender() == self.owner, ENotOwner);
}

fun is_void(self: &Proposal, clock: &Clock): bool {
    clock.timestamp_ms() >= self.void_at_ms
}

// === Test-only functions ===

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(ctx) }
