/// A list of up to 16 different addresses or IDs.
///
/// Tools list their operators and the leaders that they accept. Leaders list their workers.
module nexus_tools::roster;

// === Errors ===

/// The entry is already on the list.
const EAlreadyListed: u64 = 0;
/// The entry is not on the list.
const ENotListed: u64 = 1;
/// The list already has 16 entries: remove one first.
const ETooManyEntries: u64 = 2;

// === Constants ===

const MAX_ENTRIES: u64 = 16;

// === Structs ===

/// A list of up to 16 entries, in the order in which the entries were added.
public struct Roster<T: copy + drop + store> has copy, drop, store {
    entries: vector<T>,
}

// === Views ===

/// Return the entries.
public fun entries<T: copy + drop + store>(self: &Roster<T>): &vector<T> { &self.entries }

/// Return whether the list is empty.
public fun is_empty<T: copy + drop + store>(self: &Roster<T>): bool { self.entries.is_empty() }

/// Return whether the entry is on the list.
public fun contains<T: copy + drop + store>(self: &Roster<T>, entry: &T): bool {
    self.entries.contains(entry)
}

// === Package functions ===

/// Return a list of these entries. Aborts with `EAlreadyListed` or `ETooManyEntries`.
public(package) fun from_vector<T: copy + drop + store>(entries: vector<T>): Roster<T> {
    let mut roster = Roster { entries: vector[] };
    entries.do!(|entry| roster.add(entry));
    roster
}

/// Add an entry. Aborts with `EAlreadyListed` or `ETooManyEntries`.
public(package) fun add<T: copy + drop + store>(self: &mut Roster<T>, entry: T) {
    assert!(!self.contains(&entry), EAlreadyListed);
    assert!(self.entries.length() < MAX_ENTRIES, ETooManyEntries);
    self.entries.push_back(entry);
}

/// Remove an entry. Aborts with `ENotListed`.
public(package) fun remove<T: copy + drop + store>(self: &mut Roster<T>, entry: &T) {
    let (listed, i) = self.entries.index_of(entry);
    assert!(listed, ENotListed);
    self.entries.remove(i);
}
