"""Test-only functions that are almost equivalent to private framework functions."""

from collections.abc import Callable

from nexus_tools.sui.localnet.move_test.scenario import scenario_of
from nexus_tools.sui.localnet.natives import (
    ENABLED_FEATURES,
    NativeTable,
    natives_of,
    object_id_of,
    runtime_of,
)
from nexus_tools.sui.localnet.vm import Context, Reference, TypeArguments, Value, Variant, borrow
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, ZERO, Address
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.type_tag import Primitive, StructTag

_WORD_SIZE = 1
_COIN_INDEX = 0
# The index of the metadata cap's field in a `Currency`, and the tag of its variant `Claimed`.
_METADATA_CAP_ID, _CLAIMED = 9, 0
_RESERVED = (0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xA, 0xB, 0xC, 0xD, 0xE, 0xF)
_RESERVED_LATER = (0x403, 0xDEE9)
_OBJECT_FUNDS = b"enable_object_funds_withdraw"


def call_framework(
    context: Context,
    module: str,
    name: str,
    arguments: list[Value],
    types: TypeArguments = (),
    *,
    package: bytes = SUI_FRAMEWORK,
) -> Value:
    """Call a framework function, which may be private, and return its result or None."""
    machine = scenario_of(context).machine
    function = machine.types.function(Address(package), module, name)
    assert function is not None  # these functions exist in every framework release
    results = machine.call(function, types, arguments, context)
    return results[0] if results else None


def new_uid(context: Context) -> Value:
    """Return the `UID` of a new object."""
    return [[bytes(runtime_of(context).fresh_id())]]


def _private(module: str, name: str) -> Callable[..., Value]:
    """Return a native function that calls this framework function."""

    def call(context: Context, types: TypeArguments, *arguments: Value) -> Value:
        return call_framework(context, module, name, list(arguments), types)

    return call


def _delete(context: Context, value: Value) -> None:
    runtime_of(context).delete_id(object_id_of(value))


# --- Bit vectors and random numbers


def word_size(_context: Context, _types: TypeArguments) -> int:
    """Return the number of bits in an element of a bit vector."""
    return _WORD_SIZE


def _field(index: int) -> Callable[..., Value]:
    def read(_context: Context, _types: TypeArguments, struct: Reference) -> Reference:
        return Reference(struct.read(), index)

    return read


def generator_counter(_context: Context, _types: TypeArguments, generator: Reference) -> int:
    """Return the number of blocks that a generator has produced."""
    counter: int = generator.read()[1]
    return counter


# --- Features of the protocol


def is_feature_enabled(_context: Context, _types: TypeArguments, flag: bytearray) -> bool:
    """Return whether a protocol feature is enabled in tests."""
    return bytes(flag) in ENABLED_FEATURES | {_OBJECT_FUNDS}


# --- The state of authenticators


def create_active_jwk(
    _context: Context, _types: TypeArguments, iss: Value, kid: Value, kty: Value, epoch: int
) -> Value:
    """Return the JWK of an OpenID provider, with the values that the framework uses in tests."""
    exponent, modulus, algorithm = ([bytearray(text)] for text in (b"AQAB", b"test", b"RS256"))
    return [[iss, kid], [kty, exponent, modulus, algorithm], epoch]


# --- The deny list


def reserved_addresses(_context: Context, _types: TypeArguments) -> Value:
    """Return the reserved addresses, which deny lists cannot contain."""
    return [bytes(Address.of(number)) for number in (*_RESERVED, *_RESERVED_LATER)]


def new_deny_list(context: Context, _types: TypeArguments, ctx: Reference) -> Value:
    """Return a new deny list object that is not the object 0x403."""
    lists = call_framework(context, "bag", "new", [ctx])
    coins = call_framework(context, "deny_list", "per_type_list", [ctx])
    list_type = StructTag(Address(SUI_FRAMEWORK), "deny_list", "PerTypeList", ())
    types = (Primitive.U64, list_type)
    call_framework(context, "bag", "add", [borrow(lists), _COIN_INDEX, coins], types)
    return [new_uid(context), lists]


# --- Coins


def create_registry(context: Context, _types: TypeArguments, ctx: Reference) -> Value:
    """Return a new coin registry. Aborts if the sender is not 0x0."""
    if runtime_of(context).transaction.sender != ZERO:
        call_framework(context, "coin_registry", "create", [ctx])
    return [new_uid(context)]


def unwrap_currency(context: Context, _types: TypeArguments, initializer: Value) -> Value:
    """Return the currency in a currency initializer."""
    currency, extra_fields, _ = initializer
    call_framework(context, "bag", "destroy_empty", [extra_fields])
    return currency


def finalize_currency(
    context: Context, types: TypeArguments, initializer: Value, _ctx: Reference
) -> tuple[Value, Value]:
    """Return the currency in a currency initializer, and its metadata capability."""
    currency = unwrap_currency(context, types, initializer)
    cap = [new_uid(context)]
    currency[_METADATA_CAP_ID] = Variant(_CLAIMED, [[cap[0][0][0]]])
    return currency, cap


def migrate_metadata(
    context: Context, types: TypeArguments, registry: Reference, legacy: Reference, ctx: Reference
) -> Value:
    """Return the currency made from a coin's legacy metadata, before the currency is shared."""
    arguments = [registry, legacy, ctx]
    call_framework(context, "coin_registry", "migrate_legacy_metadata", arguments, types)
    _, transfer = runtime_of(context).transfers.popitem()
    return transfer.value


# --- Tokens and transfer policies


def new_token_policy(
    context: Context, _types: TypeArguments, _ctx: Reference
) -> tuple[Value, Value]:
    """Return a policy without rules, and its capability."""
    policy = [new_uid(context), [0], [[]]]
    return policy, [new_uid(context), [policy[0][0][0]]]


def burn_token_policy(context: Context, _types: TypeArguments, policy: Value, cap: Value) -> None:
    """Delete a policy and its capability."""
    _delete(context, cap)
    _delete(context, policy)


def mint_token(context: Context, _types: TypeArguments, amount: int, _ctx: Reference) -> Value:
    """Return a new token."""
    return [new_uid(context), [amount]]


def burn_token(context: Context, _types: TypeArguments, token: Value) -> None:
    """Delete a token."""
    _delete(context, token)


def new_transfer_policy(
    context: Context, _types: TypeArguments, _ctx: Reference
) -> tuple[Value, Value]:
    """Return a policy without rules, and its capability."""
    policy = [new_uid(context), [0], [[]]]
    return policy, [new_uid(context), [policy[0][0][0]]]


# --- Packages


def upgrade(_context: Context, _types: TypeArguments, ticket: Value) -> Value:
    """Return the receipt for an upgrade ticket. The new package id is derived from the old id."""
    cap, package, _policy, _digest = ticket
    return [cap, [blake2b256(bytes(cap[0]), bytes(package[0]))]]


def _in(module: str, **functions: Callable[..., Value]) -> NativeTable:
    return natives_of(SUI_FRAMEWORK, module, **functions)


NATIVES: NativeTable = {
    **natives_of(MOVE_STDLIB, "bit_vector", word_size=word_size),
    **_in("accumulator", create_for_testing=_private("accumulator", "create")),
    **_in(
        "authenticator_state",
        create_active_jwk=create_active_jwk,
        create_for_testing=_private("authenticator_state", "create"),
        update_authenticator_state_for_testing=_private(
            "authenticator_state", "update_authenticator_state"
        ),
        expire_jwks_for_testing=_private("authenticator_state", "expire_jwks"),
        get_active_jwks_for_testing=_private("authenticator_state", "get_active_jwks"),
    ),
    **_in(
        "coin_registry",
        create_coin_data_registry_for_testing=create_registry,
        unwrap_for_testing=unwrap_currency,
        finalize_unwrap_for_testing=finalize_currency,
        migrate_legacy_metadata_for_testing=migrate_metadata,
    ),
    **_in(
        "deny_list",
        reserved_addresses=reserved_addresses,
        create_for_test=_private("deny_list", "create"),
        create_for_testing=_private("deny_list", "create"),
        new_for_testing=new_deny_list,
    ),
    **_in("package", test_upgrade=upgrade),
    **_in("protocol_config", is_feature_enabled=is_feature_enabled),
    **_in(
        "random",
        create_for_testing=_private("random", "create"),
        update_randomness_state_for_testing=_private("random", "update_randomness_state"),
        generator_seed=_field(0),
        generator_counter=generator_counter,
        generator_buffer=_field(2),
    ),
    **_in(
        "token",
        new_policy_for_testing=new_token_policy,
        burn_policy_for_testing=burn_token_policy,
        mint_for_testing=mint_token,
        burn_for_testing=burn_token,
    ),
    **_in("transfer_policy", new_for_testing=new_transfer_policy),
}
