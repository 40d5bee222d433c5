/// The Ed25519 public keys of a tool or a leader.
///
/// Keys do not expire. To replace a key, add the new key, wait until all readers have read it, and
/// remove the old key.
module nexus_tools::keys;

// === Errors ===

/// An Ed25519 public key must be 32 bytes long.
const EInvalidKey: u64 = 0;
/// The key is already registered.
const EDuplicateKey: u64 = 1;
/// The list already has 4 keys: remove one first.
const ETooManyKeys: u64 = 2;
/// The key is not registered: it was removed, or never added.
const EUnknownKey: u64 = 3;

// === Constants ===

const KEY_BYTES: u64 = 32;
const MAX_KEYS: u64 = 4;

// === Structs ===

/// A list of up to four public keys.
public struct Keys has copy, drop, store {
    keys: vector<vector<u8>>,
}

// === Views ===

/// Return the public keys, of 32 bytes each.
public fun keys(self: &Keys): &vector<vector<u8>> { &self.keys }

/// Return whether the list is empty.
public fun is_empty(self: &Keys): bool { self.keys.is_empty() }

// === Package functions ===

/// Return an empty list.
public(package) fun empty(): Keys { Keys { keys: vector[] } }

/// Add a key. Aborts with `EInvalidKey`, `EDuplicateKey` or `ETooManyKeys`.
public(package) fun add(self: &mut Keys, key: vector<u8>) {
    assert!(key.length() == KEY_BYTES, EInvalidKey);
    assert!(!self.keys.contains(&key), EDuplicateKey);
    assert!(self.keys.length() < MAX_KEYS, ETooManyKeys);
    self.keys.push_back(key);
}

/// Remove a key. Aborts with `EUnknownKey`.
public(package) fun remove(self: &mut Keys, key: &vector<u8>) {
    let (known, i) = self.keys.index_of(key);
    assert!(known, EUnknownKey);
    self.keys.remove(i);
}
