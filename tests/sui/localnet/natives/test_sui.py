import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.natives import (
    NATIVES,
    UNMETERED_LIMITS,
    NativeGas,
    ObjectRuntime,
    UnsupportedNative,
)
from nexus_tools.sui.localnet.vm import ErrorKind, OutOfGas, PrimitiveError, Reference
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, created_object_id
from nexus_tools.sui.types.object import (
    AddressOwner,
    Immutable,
    MoveObject,
    Object,
    ObjectOwner,
    Shared,
)
from nexus_tools.sui.types.type_tag import (
    SUI,
    Primitive,
    StructTag,
    VectorTag,
    coin_tag,
    parse_type_tag,
)

COIN = coin_tag(SUI)
CLOCK = parse_type_tag("0x2::clock::Clock")
BOB = Address(b"\xb0" * 32)


def coin(object_id, balance):
    return [[[bytes(object_id)]], [balance]]


def uid(object_id):
    return Reference([[[bytes(object_id)]]], 0)


def stored(call, object_id, owner, version=1):
    contents = bytes(object_id) + (9).to_bytes(8, "little")
    data = MoveObject(COIN, has_public_transfer=True, version=version, contents=contents)
    call.objects[object_id] = Object(data, owner, Digest(bytes(32)), 0)


# --- The table


def test_all_framework_natives_are_in_the_table():
    declared = set()
    for address, package in load_framework().items():
        for data in package.modules:
            module = deserialize(data)
            declared |= {
                (address, module.name, module.function_id(definition.handle)[2])
                for definition in module.function_definitions
                if definition.code is None
            }
    assert set(NATIVES) == declared


def test_unsupported_native_is_reported_to_move_code(call):
    some = [coin(Address.of(9), 5), 1, [], []]
    with pytest.raises(UnsupportedNative, match="not supported by the localnet: parties other"):
        call("transfer", "party_transfer_impl", *some, types=(COIN,))


# --- Addresses


def test_address_is_a_big_endian_number(call):
    assert call("address", "to_u256", bytes(Address.of(0x1234))) == 0x1234
    assert call("address", "from_u256", 0x1234) == bytes(Address.of(0x1234))
    assert call("address", "from_u256", 2**256 - 1) == b"\xff" * 32


def test_address_has_32_bytes(call):
    assert call("address", "from_bytes", bytearray(range(32))) == bytes(range(32))
    assert call.aborts("address", "from_bytes", bytearray(31)) == 0


# --- The transaction


def test_fresh_ids_are_derived_from_digest_and_counted(call):
    made = [call("tx_context", "fresh_object_address", call.context()) for _ in range(2)]
    assert made == [created_object_id(call.DIGEST, number) for number in range(2)]
    assert call("tx_context", "native_ids_created") == 2
    assert list(call.runtime.new_ids) == made


def test_id_can_be_derived_for_any_number(call):
    digest = bytearray(call.DIGEST)
    assert call("tx_context", "derive_id", digest, 5) == created_object_id(call.DIGEST, 5)


def test_transaction_properties_are_readable(call):
    names = ("native_epoch", "native_epoch_timestamp_ms", "native_rgp", "native_gas_price")
    assert [call("tx_context", name) for name in names] == [7, 7_000, 1_000, 1_100]
    assert call("tx_context", "native_gas_budget") == 5_000_000
    assert call("tx_context", "native_sender") == call.SENDER
    assert call("tx_context", "native_sponsor") == []


# --- Ids of fields and derived objects: vectors of Mysten's TypeScript SDK


def test_field_id_matches_typescript_sdk(call):
    parent = Address.parse("0xbef336120c90707eb387d72dde9c0e9f6fea37b9f02b1ba8de271c64ad7b6db0")
    types = (Primitive.U64,)
    found = call("dynamic_field", "hash_type_and_key", bytes(parent), 0, types=types)
    assert found.hex() == "6552700b707460a3f48d8348f7531c4bba7a9546b4cf445ba265ad2ba06b1bb3"


@pytest.mark.parametrize(
    ("tag", "key", "expected"),
    [
        (
            VectorTag(Primitive.U8),
            bytearray(b"foo"),
            "a2b411aa9588c398d8e3bc97dddbdd430b5ded7f81545d05e33916c3ca0f30c3",
        ),
        (Primitive.U8, 1, "4de7696edddfb592a8dc7c8b66053b1557eb4fa1a9194322562aabf3da9e9239"),
    ],
)
def test_derived_id_matches_typescript_sdk(call, tag, key, expected):
    found = call("derived_object", "derive_address", [bytes(Address.of(2))], key, types=(tag,))
    assert found.hex() == expected


def test_derived_id_matches_nexus_tool_registry(call):
    registry = Address.parse("0x940f0dd81d4e4ae2cd476ff61ca5699e0d9356e1874d6c4ba3a5bdf28e67b9e9")
    key = [bytearray(b"xyz.taluslabs.math.i64.add@1")]
    tag = parse_type_tag("0x1::ascii::String")
    found = call("derived_object", "derive_address", [bytes(registry)], key, types=(tag,))
    assert found.hex() == "63152163bf12d54f38742656cba5d37a05e89d3ef5df7e9d22062e7bff0aed35"


# --- Objects


def test_deleted_new_id_leaves_no_trace(call):
    made = call("object", "new", call.context())
    call("object", "delete", made)
    assert not call.runtime.new_ids
    assert not call.runtime.deleted_ids


def test_deleted_old_id_is_recorded(call):
    call("object", "delete_impl", bytes(BOB))
    assert list(call.runtime.deleted_ids) == [BOB]
    call("object", "record_new_uid", bytes(BOB))
    assert not call.runtime.deleted_ids
    assert not call.runtime.new_ids


def test_first_field_of_object_is_its_id(call):
    value = [coin(BOB, 5)]
    found = call("object", "borrow_uid", Reference(value, 0), types=(COIN,))
    assert found.read() is value[0][0]


def test_at_most_2048_ids_are_created(call):
    for _ in range(2_048):
        call("tx_context", "fresh_id")
    with pytest.raises(PrimitiveError) as failure:
        call("tx_context", "fresh_id")
    assert failure.value.kind is ErrorKind.MEMORY_LIMIT_EXCEEDED
    place = failure.value.location
    assert (place.module, place.function_name, place.instruction) == ("tx_context", "fresh_id", 0)


# --- Transfers


def test_objects_are_transferred_to_their_owners(call):
    call.runtime.record_new_id(BOB)
    for function, arguments, owner in (
        ("transfer_impl", (bytes(BOB),), AddressOwner(BOB)),
        ("freeze_object_impl", (), Immutable()),
        ("share_object_impl", (), Shared(0)),
    ):
        call("transfer", function, coin(BOB, 1), *arguments, types=(COIN,))
        assert call.runtime.transfers[BOB].owner == owner


def test_only_new_objects_can_be_shared(call):
    assert call.aborts("transfer", "share_object_impl", coin(BOB, 1), types=(COIN,)) == 0


def test_object_is_received_once_at_its_version_and_type(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, AddressOwner(parent), version=4)

    def receive(version=4, tag=COIN, parent=parent):
        arguments = (bytes(parent), [bytes(child)], version)
        return ("transfer", "receive_impl", *arguments), {"types": (tag,)}

    for wrong, code in (
        (receive(version=3), 3),
        (receive(parent=BOB), 3),
        (receive(tag=CLOCK), 2),
    ):
        assert call.aborts(*wrong[0], **wrong[1]) == code
    right = receive()
    assert call(*right[0], **right[1]) == coin(child, 9)
    assert call.aborts(*right[0], **right[1]) == 3


# --- Dynamic fields


def test_child_is_found_only_through_its_parent(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, ObjectOwner(parent))
    assert call("dynamic_field", "has_child_object", bytes(parent), bytes(child)) is True
    other = call("dynamic_field", "has_child_object", bytes(BOB), bytes(child))
    assert other is False


def test_child_is_found_by_its_type(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, ObjectOwner(parent))
    found = [
        call(
            "dynamic_field",
            "has_child_object_with_ty",
            bytes(parent),
            bytes(child),
            types=(tag,),
        )
        for tag in (COIN, CLOCK)
    ]
    assert found == [True, False]


def test_child_is_changed_in_place(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, ObjectOwner(parent))
    for _ in range(2):
        borrowed = call(
            "dynamic_field", "borrow_child_object_mut", uid(parent), bytes(child), types=(COIN,)
        )
        borrowed.read()[1][0] += 1
    ((_, used),) = call.runtime.children.used()
    assert used.cell == [coin(child, 11)]
    assert used.writable


def test_read_only_child_is_not_marked_as_changed(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, ObjectOwner(parent))
    call("dynamic_field", "borrow_child_object", uid(parent), bytes(child), types=(COIN,))
    ((_, used),) = call.runtime.children.used()
    assert not used.writable


@pytest.mark.parametrize(("tag", "child", "code"), [(COIN, 3, 1), (CLOCK, 2, 2)])
def test_missing_child_or_wrong_type_aborts(call, tag, child, code):
    stored(call, Address.of(2), ObjectOwner(Address.of(1)))
    name = "borrow_child_object"
    arguments = (uid(Address.of(1)), bytes(Address.of(child)))
    assert call.aborts("dynamic_field", name, *arguments, types=(tag,)) == code


def test_removed_child_no_longer_exists(call):
    parent, child = Address.of(1), Address.of(2)
    stored(call, child, ObjectOwner(parent))
    arguments = (bytes(parent), bytes(child))
    taken = call("dynamic_field", "remove_child_object", *arguments, types=(COIN,))
    assert taken == coin(child, 9)
    assert call("dynamic_field", "has_child_object", *arguments) is False
    assert call.aborts("dynamic_field", "remove_child_object", *arguments, types=(COIN,)) == 1


def test_at_most_1000_children_are_read(call):
    for number in range(1_000):
        call("dynamic_field", "has_child_object", bytes(BOB), bytes(Address.of(number)))
    with pytest.raises(PrimitiveError) as failure:
        call("dynamic_field", "has_child_object", bytes(BOB), bytes(Address.of(1_000)))
    assert failure.value.kind is ErrorKind.MEMORY_LIMIT_EXCEEDED
    assert failure.value.location.function_name == "has_child_object"


def test_transaction_without_gas_may_read_16_times_as_many_children(call):
    call.runtime = ObjectRuntime(
        call.transaction,
        {},
        call.objects.get,
        call.machine.types.decode,
        NativeGas(10**12),
        limits=UNMETERED_LIMITS,
    )
    for number in range(16_000):
        call("dynamic_field", "has_child_object", bytes(BOB), bytes(Address.of(number)))
    with pytest.raises(PrimitiveError, match="MEMORY_LIMIT_EXCEEDED"):
        call("dynamic_field", "has_child_object", bytes(BOB), bytes(Address.of(16_000)))


# --- Events, witnesses, features, gas


def test_event_is_encoded_when_emitted(call):
    tag = StructTag(Address.of(2), "object", "ID")
    value = [bytes(BOB)]
    call("event", "emit", value, types=(tag,))
    value[0] = bytes(32)
    (event,) = call.runtime.take_events()
    assert (event.type, event.contents) == (tag, bytes(BOB))
    assert call.runtime.take_events() == []


@pytest.mark.parametrize(
    ("tag", "witness"), [(SUI, True), (COIN, False), (CLOCK, False), (Primitive.U8, False)]
)
def test_one_time_witness_is_named_like_its_module(call, tag, witness):
    value = Reference([[True]], 0)
    assert call("types", "is_one_time_witness", value, types=(tag,)) is witness


def test_unknown_features_are_disabled(call):
    flags = (b"enable_party_transfer", b"enable_allowances", b"")
    found = [call("protocol_config", "is_feature_enabled", bytearray(flag)) for flag in flags]
    assert found == [True, False, False]


def test_native_cost_rises_with_bytes(call, ref):
    costs = []
    for size in (0, 1_000):
        before = call.runtime.gas.used
        call("hash", "blake2b256", ref(bytes(size)))
        costs.append(call.runtime.gas.used - before)
    assert costs == [10, 10 + 2 * 1_000 + 2 * 8]  # two for each byte and each block of 128


def test_native_runs_out_of_gas(call, ref):
    call.runtime.gas = NativeGas(1_000)
    with pytest.raises(OutOfGas):
        call("hash", "blake2b256", ref(bytes(1_000)))
