"""The signatures of test-only functions in modules of the framework."""

from collections.abc import Mapping

_TEST_UTILS = """
public native fun destroy<T>(value: T);
public native fun create_one_time_witness<T: drop>(): T;

public fun assert_eq<T: drop>(left: T, right: T) { assert_ref_eq(&left, &right) }

public fun assert_ref_eq<T>(left: &T, right: &T) {
    if (left != right) {
        std::debug::print(left);
        std::debug::print(right);
        abort 0
    }
}

public fun print(text: vector<u8>) { std::debug::print(&text.to_ascii_string()) }
"""

_TX_CONTEXT = """
public native fun new(
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
): TxContext;
public native fun new_from_hint(
    sender: address,
    hint: u64,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
): TxContext;
public native fun dummy(): TxContext;
public native fun create(
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
    rgp: u64,
    gas_price: u64,
    gas_budget: u64,
    sponsor: Option<address>,
): TxContext;
public native fun dummy_tx_hash_with_hint(hint: u64): vector<u8>;
public native fun ids_created(ctx: &TxContext): u64;
public native fun gas_budget(ctx: &TxContext): u64;
public native fun get_ids_created(ctx: &TxContext): u64;
public native fun last_created_object_id(ctx: &TxContext): address;
public native fun increment_epoch_number(ctx: &mut TxContext);
public native fun increment_epoch_timestamp(ctx: &mut TxContext, ms: u64);
"""

_CLOCK = """
public native fun create_for_testing(ctx: &mut TxContext): sui::clock::Clock;
public native fun share_for_testing(clock: sui::clock::Clock);
public native fun increment_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun set_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun destroy_for_testing(clock: sui::clock::Clock);
"""

_BALANCE = """
public native fun create_for_testing<T>(value: u64): sui::balance::Balance<T>;
public native fun destroy_for_testing<T>(balance: sui::balance::Balance<T>): u64;
public native fun create_supply_for_testing<T>(): sui::balance::Supply<T>;
"""

_COIN = """
public native fun mint_for_testing<T>(value: u64, ctx: &mut TxContext): sui::coin::Coin<T>;
public native fun burn_for_testing<T>(coin: sui::coin::Coin<T>): u64;
public native fun create_treasury_cap_for_testing<T>(
    ctx: &mut TxContext,
): sui::coin::TreasuryCap<T>;
"""

_EVENT = """
public native fun num_events(): u32;
public native fun events_by_type<T: copy + drop>(): vector<T>;
"""

_ECDSA_K1 = """
public struct KeyPair has drop { private_key: vector<u8>, public_key: vector<u8> }

public fun private_key(self: &KeyPair): &vector<u8> { &self.private_key }
public fun public_key(self: &KeyPair): &vector<u8> { &self.public_key }

public native fun secp256k1_sign(
    private_key: &vector<u8>,
    msg: &vector<u8>,
    hash: u8,
    recoverable: bool,
): vector<u8>;
public native fun secp256k1_keypair_from_seed(seed: &vector<u8>): KeyPair;
"""

_RANDOM = """
public native fun create_for_testing(ctx: &mut TxContext);
public native fun update_randomness_state_for_testing(
    random: &mut sui::random::Random,
    round: u64,
    bytes: vector<u8>,
    ctx: &TxContext,
);
public native fun generator_seed(generator: &sui::random::RandomGenerator): &vector<u8>;
public native fun generator_counter(generator: &sui::random::RandomGenerator): u16;
public native fun generator_buffer(generator: &sui::random::RandomGenerator): &vector<u8>;
public native fun new_generator_for_testing(): sui::random::RandomGenerator;
public native fun new_generator_from_seed_for_testing(
    seed: vector<u8>,
): sui::random::RandomGenerator;
"""

_PACKAGE = """
public native fun test_claim<T: drop>(witness: T, ctx: &mut TxContext): sui::package::Publisher;
public native fun test_publish(package: ID, ctx: &mut TxContext): sui::package::UpgradeCap;
public native fun test_upgrade(ticket: sui::package::UpgradeTicket): sui::package::UpgradeReceipt;
"""

_AUTHENTICATOR_STATE = """
public native fun create_active_jwk(
    iss: std::string::String,
    kid: std::string::String,
    kty: std::string::String,
    epoch: u64,
): sui::authenticator_state::ActiveJwk;
public native fun create_for_testing(ctx: &TxContext);
public native fun update_authenticator_state_for_testing(
    state: &mut sui::authenticator_state::AuthenticatorState,
    jwks: vector<sui::authenticator_state::ActiveJwk>,
    ctx: &TxContext,
);
public native fun expire_jwks_for_testing(
    state: &mut sui::authenticator_state::AuthenticatorState,
    min_epoch: u64,
    ctx: &TxContext,
);
public native fun get_active_jwks_for_testing(
    state: &sui::authenticator_state::AuthenticatorState,
    ctx: &TxContext,
): vector<sui::authenticator_state::ActiveJwk>;
"""

_COIN_REGISTRY = """
public native fun create_coin_data_registry_for_testing(
    ctx: &mut TxContext,
): sui::coin_registry::CoinRegistry;
public native fun unwrap_for_testing<T>(
    init: sui::coin_registry::CurrencyInitializer<T>,
): sui::coin_registry::Currency<T>;
public native fun finalize_unwrap_for_testing<T>(
    init: sui::coin_registry::CurrencyInitializer<T>,
    ctx: &mut TxContext,
): (sui::coin_registry::Currency<T>, sui::coin_registry::MetadataCap<T>);
public native fun migrate_legacy_metadata_for_testing<T>(
    registry: &mut sui::coin_registry::CoinRegistry,
    legacy: &sui::coin::CoinMetadata<T>,
    ctx: &mut TxContext,
): sui::coin_registry::Currency<T>;
"""

_DENY_LIST = """
public native fun reserved_addresses(): vector<address>;
public native fun create_for_test(ctx: &mut TxContext);
public native fun create_for_testing(ctx: &mut TxContext);
public native fun new_for_testing(ctx: &mut TxContext): sui::deny_list::DenyList;
"""

_TOKENS = """
public native fun new_policy_for_testing<T>(
    ctx: &mut TxContext,
): (sui::token::TokenPolicy<T>, sui::token::TokenPolicyCap<T>);
public native fun burn_policy_for_testing<T>(
    policy: sui::token::TokenPolicy<T>,
    cap: sui::token::TokenPolicyCap<T>,
);
public native fun mint_for_testing<T>(amount: u64, ctx: &mut TxContext): sui::token::Token<T>;
public native fun burn_for_testing<T>(token: sui::token::Token<T>);
"""

_TRANSFER_POLICY = """
public native fun new_for_testing<T>(
    ctx: &mut TxContext,
): (sui::transfer_policy::TransferPolicy<T>, sui::transfer_policy::TransferPolicyCap<T>);
"""

FRAMEWORK: Mapping[str, str] = {
    "std::bit_vector": "public native fun word_size(): u64;\n",
    "std::unit_test": "public native fun destroy<T>(value: T);\n",
    "sui::accumulator": "public native fun create_for_testing(ctx: &TxContext);\n",
    "sui::authenticator_state": _AUTHENTICATOR_STATE,
    "sui::balance": _BALANCE,
    "sui::clock": _CLOCK,
    "sui::coin": _COIN,
    "sui::coin_registry": _COIN_REGISTRY,
    "sui::deny_list": _DENY_LIST,
    "sui::ecdsa_k1": _ECDSA_K1,
    "sui::event": _EVENT,
    "sui::object": "public native fun last_created(ctx: &TxContext): ID;\n",
    "sui::package": _PACKAGE,
    "sui::random": _RANDOM,
    "sui::test_utils": _TEST_UTILS,
    "sui::token": _TOKENS,
    "sui::transfer_policy": _TRANSFER_POLICY,
    "sui::tx_context": _TX_CONTEXT,
}
"""The test-only functions by module."""

UNIT_TEST_MACROS = """
public macro fun assert_eq<$T: drop>($left: $T, $right: $T) {
    let left = $left;
    let right = $right;
    std::unit_test::assert_ref_eq!(&left, &right)
}

public macro fun assert_ref_eq<$T>($left: &$T, $right: &$T) {
    let left = $left;
    let right = $right;
    if (left != right) {
        std::debug::print(left);
        std::debug::print(right);
        assert!(false)
    }
}
"""
