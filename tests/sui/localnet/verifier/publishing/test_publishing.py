"""Modules that satisfy Move but violate Sui's rules, sent to a node."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.signature import SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    Success,
)
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN

DEPENDENCIES = (Address.of(1), Address.of(2))
KEY = Ed25519PrivateKey.from_private_bytes(b"\x05" * 32)
PUBLIC = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
SENDER = key_address(SignatureScheme.ED25519, PUBLIC)
BUDGET = 1_000_000_000


def publish(node, module):
    """Send a transaction whose third command publishes the module, and return its effects."""
    node.fund(SENDER, 2 * BUDGET)
    coin = node.ledger.owned_by(SENDER, GAS_COIN)[-1]
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [1])[0]], Address.of(9))
    cap = builder.publish([module], DEPENDENCIES)
    builder.transfer_objects([cap], SENDER)
    gas = GasData((coin.reference(),), SENDER, 1000, BUDGET)
    data = TransactionData(builder.finish(), SENDER, gas, NoExpiration()).encode()
    signature = KEY.sign(blake2b256(b"\0\0\0" + data))
    return node.execute(data, [bytes([SignatureScheme.ED25519]) + signature + PUBLIC]).effects


def row_of(module, name):
    """Return the bytes of a datatype's handle in the file, up to its abilities."""
    handle = next(row for row in module.datatype_handles if module.identifiers[row.name] == name)
    return bytes([handle.module, handle.name])


def becoming_an_object(module, name, edited):
    """Add the ability `key` to a struct that has `store`."""
    row = row_of(deserialize(module), name)
    return edited(module, "DATATYPE_HANDLES", row + b"\x04\0", row + b"\x0c\0")


def object_without_id(build_module, edited):
    module = build_module("public struct S has store { flag: bool }")
    return becoming_an_object(module, "S", edited)


def transmuted_id(build_module, edited):
    module = build_module("""
        public struct Cat has key { id: UID }
        public struct Dog has store { id: UID }
        public fun transmute(cat: Cat): Dog { let Cat { id } = cat; Dog { id } }
    """)
    return becoming_an_object(module, "Dog", edited)


def init_that_is_public(build_module, edited):
    module = build_module("public fun inix(_: &mut TxContext) {}")
    return edited(module, "IDENTIFIERS", b"\x04inix", b"\x04init")


def init_that_is_called(build_module, edited):
    module = build_module("""
        fun inix(_: &mut TxContext) {}
        public fun again(ctx: &mut TxContext) { inix(ctx) }
    """)
    return edited(module, "IDENTIFIERS", b"\x04inix", b"\x04init")


def witness_that_is_made(build_module, edited):
    module = build_module("""
        public struct MAIM has drop {}
        public fun make(): MAIM { MAIM {} }
    """)
    return edited(module, "IDENTIFIERS", b"\x04MAIM", b"\x04MAIN")


@pytest.mark.parametrize(
    "make",
    [
        object_without_id,
        transmuted_id,
        init_that_is_public,
        init_that_is_called,
        witness_that_is_made,
    ],
)
def test_violation_of_sui_rule_is_shown_in_effects(node, build_module, edited, make):
    effects = publish(node, make(build_module, edited))
    error = ExecutionError(ErrorKind.SUI_MOVE_VERIFICATION_ERROR)
    assert effects.status == ExecutionFailure(error, 2)


def test_rejected_module_costs_like_failed_publish(node, build_module, edited):
    effects = publish(node, transmuted_id(build_module, edited))
    gas = effects.gas_used
    assert gas.computation_cost >= 1_000_000
    # Only the gas coin is written, and its storage was already paid.
    assert len(effects.changed_objects) == 1
    assert gas.storage_cost == 988_000
    assert node.ledger.owned_by(SENDER, GAS_COIN)


def test_valid_module_is_published(node, build_module):
    module = build_module("""
        public struct Dog has key, store { id: UID }
        public struct Potato { value: u64 }
        fun init(ctx: &mut TxContext) {
            transfer::transfer(Dog { id: object::new(ctx) }, ctx.sender())
        }
        entry fun eat(potato: Potato) { let Potato { value: _ } = potato; }
    """)
    assert publish(node, module).status == Success()
