"""The VM beside the genuine one: the same function, the same arguments, the same outcome.

The genuine VM is the one in the `sui_sandbox` wheel. It takes arguments as BCS bytes of objects
with a type, by value and by reference alike, and gives results as BCS bytes.
"""

import base64
import random
import re
from pathlib import Path

import pytest
import sui_sandbox

from nexus_tools.localnet.bytecode import deserialize, relocate
from nexus_tools.localnet.bytecode.module import Ability, Visibility
from nexus_tools.localnet.framework import load_framework
from nexus_tools.localnet.natives import NATIVES, NativeGas, ObjectRuntime, TransactionContext
from nexus_tools.localnet.natives.errors import MalformedArgument, UnsupportedNative
from nexus_tools.localnet.vm import (
    Context,
    Machine,
    Meter,
    MoveAbort,
    PrimitiveError,
    Reference,
    ReferenceType,
    Variant,
    copy_value,
    substitute,
)
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import Linkage, MovePackage, TypeOrigin
from nexus_tools.sui.type_tag import STRING, Primitive, StructTag, VectorTag

LANGUAGE = Address.of(0xC0DE)
BUDGET = 5_000_000
BYTECODE = Path(__file__).parent / "language" / "bytecode"

# Natives that the wheel implements in its own way: what calls one of them is not compared.
_TYPE_ERROR = "INTERNAL_TYPE_ERROR for every input"
_NO_BALANCES = "aborts with 1000: it has no address balances"
WRONG_NATIVES = {
    ("address", "to_u256"): "little-endian; Sui's is big-endian",
    ("address", "from_u256"): "little-endian; Sui's is big-endian",
    ("address", "from_bytes"): "aborts with 1; Sui's aborts with 0",
    ("ecdsa_k1", "decompress_pubkey"): _TYPE_ERROR,
    ("ecdsa_k1", "secp256k1_ecrecover"): _TYPE_ERROR,
    ("ecdsa_k1", "secp256k1_verify"): _TYPE_ERROR,
    ("ecdsa_r1", "secp256r1_ecrecover"): _TYPE_ERROR,
    ("ecdsa_r1", "secp256r1_verify"): _TYPE_ERROR,
    ("ed25519", "ed25519_verify"): _TYPE_ERROR,
    ("hash", "blake2b256"): _TYPE_ERROR,
    ("hash", "keccak256"): _TYPE_ERROR,
    ("hmac", "hmac_sha3_256"): "gives 32 zeros for every input",
    ("validator", "validate_metadata_bcs"): "accepts everything, no metadata too",
    ("funds_accumulator", "add_to_accumulator_address"): _NO_BALANCES,
    ("funds_accumulator", "withdraw_from_accumulator_address"): _NO_BALANCES,
    ("accumulator", "emit_deposit_event"): _NO_BALANCES,
    ("accumulator", "emit_withdraw_event"): _NO_BALANCES,
    ("accumulator_settlement", "record_settlement_sui_conservation"): _NO_BALANCES,
}
# Modules that the wheel cannot load (MISSING_DEPENDENCY), because it has not all of their natives.
MISSING_MODULES = {"nitro_attestation", "poseidon", "zklogin_verified_id"}
# Functions that only the module of the type argument may call: no view function can.
PRIVATE_GENERICS = {"event", "transfer"}


@pytest.fixture(scope="session")
def language_files():
    """The compiled modules of `language/`, with the address at which they are published here."""
    return {
        path.stem: relocate(path.read_bytes(), LANGUAGE) for path in sorted(BYTECODE.glob("*.mv"))
    }


@pytest.fixture(scope="session")
def packages(language_files):
    framework = {
        Address(address): _package(address, package.modules, package.dependencies)
        for address, package in load_framework().items()
    }
    dependencies = (MOVE_STDLIB, SUI_FRAMEWORK)
    return {**framework, LANGUAGE: _package(LANGUAGE, language_files.values(), dependencies)}


def _package(address, files, dependencies):
    modules = {deserialize(file).name: file for file in files}
    origins = []
    for name, file in modules.items():
        module = deserialize(file)
        for definition in (*module.struct_definitions, *module.enum_definitions):
            datatype = module.datatype_id(definition.handle)[2]
            origins.append(TypeOrigin(name, datatype, Address(address)))
    linkage = [Linkage(Address(one), Address(one), 1) for one in dependencies]
    return MovePackage(
        Address(address), 1, tuple(sorted(modules.items())), tuple(origins), tuple(linkage)
    )


@pytest.fixture(scope="session")
def called_natives():
    """The natives called since it was last cleared."""
    return set()


@pytest.fixture(scope="session")
def machine(packages, called_natives):
    def watched(key, native):
        def call(*arguments):
            called_natives.add(key[1:])
            return native(*arguments)

        return call

    natives = {key: watched(key, native) for key, native in NATIVES.items()}
    return Machine(natives, packages.get)


@pytest.fixture(scope="session")
def compare(machine, called_natives, language_files):
    """compare(function, type arguments, values): assert that both VMs do the same."""

    def compare_calls(function, type_arguments, values):
        called_natives.clear()
        ours = _ours(machine, function, type_arguments, values)
        if ours is None or not called_natives.isdisjoint(WRONG_NATIVES):
            return
        genuine = _genuine(machine, function, type_arguments, values, language_files)
        assert ours == genuine, f"{function.module.name}::{function.name}{values}"

    return compare_calls


def _ours(machine, function, type_arguments, values):
    """What the function does here; None if it calls a native that the localnet does not have."""
    transaction = TransactionContext(
        Address.of(0), Digest(bytes(32)), 0, 0, 1000, 1000, BUDGET, None
    )
    runtime = ObjectRuntime(transaction, {}, lambda _: None, machine.decode, NativeGas(10**12))
    context = Context(machine, Meter(BUDGET), runtime)
    arguments = [
        Reference([copy_value(value)], 0) if isinstance(type_, ReferenceType) else copy_value(value)
        for type_, value in zip(function.parameters, values, strict=True)
    ]
    try:
        results = machine.call(function, type_arguments, arguments, context)
    except UnsupportedNative:
        return None
    except MalformedArgument:
        return ("MALFORMED",)
    except MoveAbort as abort:
        return ("aborted", abort.code, *_place(abort.location))
    except PrimitiveError as error:
        return (str(error.kind), error.sub_status, *_place(error.location))
    types = [substitute(type_, type_arguments) for type_ in function.returns]
    return (
        "returned",
        *[machine.encode(type_, value) for type_, value in zip(types, results, strict=True)],
    )


def _place(location):
    if location is None:
        return ()
    return location.package, location.module, location.function, location.instruction


def _genuine(machine, function, type_arguments, values, language_files):
    objects = []
    for index, (type_, value) in enumerate(zip(function.parameters, values, strict=True)):
        mutable = isinstance(type_, ReferenceType) and type_.mutable
        concrete = substitute(_target(type_), type_arguments)
        objects.append(
            {
                "object_id": hex(0x7000 + index),
                "bcs_bytes": machine.encode(concrete, value),
                "type_tag": str(concrete),
                "is_shared": mutable,
                "mutable": mutable,
            }
        )
    module = language_files.get(function.module.name)
    own = function.module.address == LANGUAGE
    answer = sui_sandbox.call_view_function(
        function.module.address.short(),
        function.module.name,
        function.name,
        type_args=[str(type_) for type_ in type_arguments],
        object_inputs=objects,
        package_bytecodes={LANGUAGE.short(): [module]} if own else {},
        fetch_deps=False,
    )
    if answer["success"]:
        return ("returned", *[base64.b64decode(value) for value in answer["return_values"][0]])
    return _parse_failure(answer["error"])


_STATUS = re.compile(r"major_status: (\w+), sub_status: (None|Some\((\d+)\))")
_MODULE = re.compile(
    r"location: Module\(ModuleId \{ address: (\w+), name: Identifier\(\"(\w+)\"\) \}\)"
)
_OFFSET = re.compile(r"offsets: \[\(FunctionDefinitionIndex\((\d+)\), (\d+)\)\]")


def _parse_failure(text):
    status, module, offset = (regex.search(text) for regex in (_STATUS, _MODULE, _OFFSET))
    assert status, text
    assert module, text
    assert offset, text
    kind = "aborted" if status[1] == "ABORTED" else status[1]
    sub_status = int(status[3]) if status[3] else None
    address = Address.parse("0x" + module[1].removeprefix("0x"))
    return kind, sub_status, address, module[2], int(offset[1]), int(offset[2])


def _target(type_):
    return type_.target if isinstance(type_, ReferenceType) else type_


@pytest.fixture
def compare_module(request, machine, compare):
    """compare_module(package, name, rounds): compare every function as often as `rounds` says.

    The arguments are the same at every run of a test. Gives how many calls were compared.
    """
    chance = random.Random(request.node.name)

    def compare_functions(package, name, rounds):
        calls = 0
        for function in machine.package(package).module(name).functions():
            for _ in range(rounds):
                type_arguments = _random_type_arguments(chance, function)
                if not _is_comparable(machine, function, type_arguments):
                    break
                types = [substitute(type_, type_arguments) for type_ in function.parameters]
                values = [_random_value(machine, chance, type_) for type_ in types]
                compare(function, type_arguments, values)
                calls += 1
        return calls

    return compare_functions


def _is_comparable(machine, function, type_arguments):
    """Whether the genuine VM can be asked about a function: it makes arguments only of values."""
    if function.visibility is not Visibility.PUBLIC or function.module.name in MISSING_MODULES:
        return False
    if function.type_parameters and function.module.name in PRIVATE_GENERICS:
        return False
    if any(Ability.KEY in constraints for constraints in function.type_parameters):
        return False
    if any(isinstance(type_, ReferenceType) for type_ in function.returns):
        return False
    types = [substitute(_target(type_), type_arguments) for type_ in function.parameters]
    return all(_is_value(machine, type_) for type_ in types)


def _is_value(machine, type_):
    if isinstance(type_, VectorTag):
        return _is_value(machine, type_.element)
    if isinstance(type_, StructTag):
        datatype = machine.datatype(type_)
        if Ability.KEY in datatype.abilities or type_.name in ("TxContext", "UID"):
            return False
        fields = [substitute(field, type_.type_params) for field in datatype.field_types()]
        return all(_is_value(machine, field) for field in fields)
    return type_ is not Primitive.SIGNER


# Every function of the framework that takes no objects accepts these.
TYPE_ARGUMENTS = [Primitive.U64, Primitive.ADDRESS, VectorTag(Primitive.U8), STRING]
TEXTS = [b"", b"abc", b"hello world", b"0x2A", b"ff00", b"123", b"AbC", bytes(32), b"ABC def"]


def _random_type_arguments(chance, function):
    return tuple(chance.choice(TYPE_ARGUMENTS) for _ in function.type_parameters)


def _random_value(machine, chance, type_):
    """A value, near the limits of its type more often than not."""
    type_ = _target(type_)
    if isinstance(type_, VectorTag):
        length = chance.choice([0, 1, 2, 3, 5, 8])
        if type_.element is Primitive.U8:
            return bytearray(chance.choice([*TEXTS, "añ€".encode(), chance.randbytes(length)]))
        return [_random_value(machine, chance, type_.element) for _ in range(length)]
    if isinstance(type_, StructTag):
        return _random_datatype(machine, chance, type_)
    return _random_primitive(chance, type_)


def _random_datatype(machine, chance, type_):
    """Fields with any values, other than of types whose fields depend on each other."""
    if type_.name == "String":
        return [bytearray(chance.choice(TEXTS))]
    if type_.name == "Option":
        vector = _random_value(machine, chance, VectorTag(type_.type_params[0]))
        return [vector[: chance.randrange(2)]]
    if type_.name == "BitVector":
        length = chance.randrange(1, 12)
        return [length, [chance.random() < 0.5 for _ in range(length)]]
    definition = machine.datatype(type_)
    tag = None if definition.variants is None else chance.randrange(len(definition.variants))
    fields = definition.fields if tag is None else definition.variants[tag][1]
    types = [substitute(field, type_.type_params) for _, field in fields]
    values = [_random_value(machine, chance, field) for field in types]
    return values if tag is None else Variant(tag, values)


def _random_primitive(chance, type_):
    if type_ is Primitive.BOOL:
        return chance.random() < 0.5
    if type_ is Primitive.ADDRESS:
        return chance.choice([bytes(Address.of(chance.randrange(300))), chance.randbytes(32)])
    bits = int(type_.removeprefix("u"))
    small = [0, 1, 2, 3, 5, chance.randrange(1 << min(bits, 8)), 10 ** chance.randrange(3)]
    large = [chance.randrange(1 << bits), (1 << bits) - 1, 1 << chance.randrange(bits)]
    return chance.choice(small + large)
