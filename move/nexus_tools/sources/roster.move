/// A list of up to 16 addresses or ids, each of which is on it once: the operators of a tool, the
/// leaders that it accepts, the workers of a leader.
module nexus_tools::roster;

// === Errors ===

/// It is listed already.
const EAlreadyListed: u64 = 0;
/// It is not listed.
const ENotListed: u64 = 1;
/// The list has 16 entries already: remove one first.
const ERosterFull: u64 = 2;

// === Constants ===

const MAX_ENTRIES: u64 = 16;

// === Structs ===

/// Up to 16 entries, in the order in which they were added.
public struct Roster<T: copy + drop + store> has copy, drop, store {
    entries: vector<T>,
}

// === Views ===

/// The entries.
public fun entries<T: copy + drop + store>(self: &Roster<T>): &vector<T> { &self.entries }

/// Whether there is no entry.
public fun is_empty<T: copy + drop + store>(self: &Roster<T>): bool { self.entries.is_empty() }

/// Whether the entry is on the list.
public fun contains<T: copy + drop + store>(self: &Roster<T>, entry: &T): bool {
    self.entries.contains(entry)
}

// === Package functions ===

/// A list of these entries. Aborts with `EAlreadyListed` or `ERosterFull`.
public(package) fun of<T: copy + drop + store>(entries: vector<T>): Roster<T> {
    let mut roster = Roster { entries: vector[] };
    entries.do!(|entry| roster.add(entry));
    roster
}

/// Adds an entry. Aborts with `EAlreadyListed` or `ERosterFull`.
public(package) fun add<T: copy + drop + store>(self: &mut Roster<T>, entry: T) {
    assert!(!self.contains(&entry), EAlreadyListed);
    assert!(self.entries.length() < MAX_ENTRIES, ERosterFull);
    self.entries.push_back(entry);
}

/// Removes an entry. Aborts with `ENotListed`.
public(package) fun remove<T: copy + drop + store>(self: &mut Roster<T>, entry: &T) {
    let (listed, i) = self.entries.index_of(entry);
    assert!(listed, ENotListed);
    self.entries.remove(i);
}
