/// The Ed25519 keys with which a tool or a leader signs.
///
/// Keys have no time of validity: to change one, add the next, wait until everybody knows it, and
/// remove the old one.
module nexus_tools::keys;

// === Errors ===

/// A public key of Ed25519 has 32 bytes.
const EInvalidKey: u64 = 0;
/// The key is there already.
const EKeyTaken: u64 = 1;
/// There are 4 keys already: remove one first.
const ETooManyKeys: u64 = 2;
/// There is no such key: it was removed, or never added.
const EUnknownKey: u64 = 3;

// === Constants ===

const KEY_BYTES: u64 = 32;
const MAX_KEYS: u64 = 4;

// === Structs ===

/// Up to four public keys.
public struct Keys has copy, drop, store {
    keys: vector<vector<u8>>,
}

// === Views ===

/// The public keys, of 32 bytes each.
public fun keys(self: &Keys): &vector<vector<u8>> { &self.keys }

/// Whether there is no key.
public fun is_empty(self: &Keys): bool { self.keys.is_empty() }

// === Package functions ===

/// No keys.
public(package) fun none(): Keys { Keys { keys: vector[] } }

/// Adds a key. Aborts with `EInvalidKey`, `EKeyTaken` or `ETooManyKeys`.
public(package) fun add(self: &mut Keys, key: vector<u8>) {
    assert!(key.length() == KEY_BYTES, EInvalidKey);
    assert!(!self.keys.contains(&key), EKeyTaken);
    assert!(self.keys.length() < MAX_KEYS, ETooManyKeys);
    self.keys.push_back(key);
}

/// Removes a key. Aborts with `EUnknownKey`.
public(package) fun remove(self: &mut Keys, key: &vector<u8>) {
    let (known, i) = self.keys.index_of(key);
    assert!(known, EUnknownKey);
    self.keys.remove(i);
}
