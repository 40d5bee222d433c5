"""Random arguments for any function, generated from the types of its parameters and a seed.

Most values are near the limits of their types. If the fields of a type depend on each other, the
generator uses only values that the framework itself can create.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, ClassVar

from differential import curves
from differential.dynamic_fields import DynamicFields
from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.vm import Function, Machine, ReferenceType, Variant, substitute
from nexus_tools.sui.types.address import SUI_FRAMEWORK, SUI_SYSTEM, Address
from nexus_tools.sui.types.clock import CLOCK_TYPE
from nexus_tools.sui.types.type_tag import (
    OPTION,
    STRING,
    SUI,
    Primitive,
    StructTag,
    TypeTag,
    VectorTag,
    balance_tag,
    coin_tag,
)

TEXTS = [b"", b"abc", b"hello world", b"0x2A", b"ff00", b"123", b"AbC", bytes(32), b"ABC def"]
BYTES = [*TEXTS, "añ€".encode(), b"\xff\xfe", b"\xe2\x82", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80"]
_LENGTHS = [0, 1, 2, 3, 5, 8]
_LENGTHS_OF_STRUCTS = [0, 1, 2, 3]
_LONG = 300
_ID_SIZE = 32

_OPTION = StructTag(*OPTION, (Primitive.U64,))
_BAG = StructTag(SUI_FRAMEWORK, "bag", "Bag", ())
_BALANCE = balance_tag(SUI)
_SYSTEM_STATE = StructTag(SUI_SYSTEM, "sui_system_state_inner", "SuiSystemStateInnerV2", ())
_VALIDATOR = StructTag(SUI_SYSTEM, "validator", "Validator", ())
TYPE_ARGUMENTS: tuple[TypeTag, ...] = (
    Primitive.U64,
    Primitive.ADDRESS,
    Primitive.U8,
    Primitive.BOOL,
    VectorTag(Primitive.U8),
    VectorTag(VectorTag(Primitive.U64)),
    STRING,
    _OPTION,
    SUI,
    _BALANCE,
    coin_tag(SUI),
    CLOCK_TYPE,
    _BAG,
)


# Modules whose functions take only datatypes of the calling module as type arguments. The verifier
# rejects other type arguments.
_OF_DATATYPES = {"event", "transfer"}


class Arguments:
    """A generator of type arguments and arguments for functions that a VM knows."""

    def __init__(self, machine: Machine, fields: DynamicFields, chance: Random) -> None:
        self._machine = machine
        self._fields = fields
        self._chance = chance

    def type_arguments(self, function: Function) -> tuple[TypeTag, ...]:
        """Return types that satisfy the function's constraints."""
        chosen = []
        for constraints in function.type_parameters:
            able = [one for one in TYPE_ARGUMENTS if self._is_able(one, constraints)]
            if function.module.name in _OF_DATATYPES:
                able = [one for one in able if isinstance(one, StructTag)]
            chosen.append(self._chance.choice(able))
        return tuple(chosen)

    def _is_able(self, type_: TypeTag, constraints: Ability) -> bool:
        return constraints & self._machine.types.abilities(type_) == constraints

    def values(self, function: Function, type_arguments: Sequence[TypeTag]) -> list[object]:
        """Return a value for each parameter. For a reference, return the value of its target.

        The dynamic fields of the values are in `fields` until the next call of this method.
        """
        self._fields.clear()
        special = _OF_FUNCTIONS.get((function.module.name, function.name))
        types = [substitute(type_, type_arguments) for type_ in function.parameters]
        values = [self.value(type_) for type_ in types]
        return special(self._chance, values) if special else values

    def object_ids(
        self, function: Function, type_arguments: Sequence[TypeTag], values: Sequence[object]
    ) -> list[Address]:
        """Return the IDs of the objects among a function's arguments."""
        found = []
        for type_, value in zip(function.parameters, values, strict=True):
            concrete: Any = substitute(type_, type_arguments)
            is_struct = isinstance(concrete, StructTag)
            if is_struct and Ability.KEY in self._machine.types.abilities(concrete):
                found.append(Address(self._machine.types.encode(concrete, value)[:_ID_SIZE]))
        return found

    def value(self, type_: Any) -> Any:
        """Return a value of a type."""
        if isinstance(type_, ReferenceType):
            return self.value(type_.target)
        if isinstance(type_, VectorTag):
            return self._vector(type_.element)
        if isinstance(type_, StructTag):
            make = self._MAKERS.get((type_.module, type_.name))
            return make(self, type_) if make else self._datatype(type_)
        return self._primitive(type_)

    def _vector(self, element: TypeTag) -> object:
        chance = self._chance
        if element is Primitive.U8:
            length = chance.choice([*_LENGTHS, 32, 33, 64, _LONG])
            return bytearray(chance.choice([*BYTES, chance.randbytes(length)]))
        lengths = [*_LENGTHS, 40] if isinstance(element, Primitive) else _LENGTHS_OF_STRUCTS
        length = chance.choice(lengths)
        return [self.value(element) for _ in range(length)]

    def _primitive(self, type_: Primitive) -> object:
        chance = self._chance
        if type_ is Primitive.BOOL:
            return chance.random() < 0.5
        if type_ in (Primitive.ADDRESS, Primitive.SIGNER):
            return chance.choice(
                [bytes(Address.of(chance.randrange(300))), chance.randbytes(_ID_SIZE)]
            )
        bits = int(type_.removeprefix("u"))
        top = (1 << bits) - 1
        small = [0, 1, 2, 3, 5, chance.randrange(1 << min(bits, 8)), 10 ** chance.randrange(3)]
        large = [chance.randrange(1 << bits), top, top - 1, 1 << chance.randrange(bits)]
        return chance.choice(small + large)

    def _datatype(self, type_: StructTag) -> object:
        definition = self._machine.types.datatype(type_)
        assert definition is not None
        tag = None
        fields = definition.fields
        if definition.variants is not None:
            tag = self._chance.randrange(len(definition.variants))
            fields = definition.variants[tag][1]
        types = [substitute(field, type_.type_params) for _, field in fields or ()]
        values = [self.value(field) for field in types]
        return values if tag is None else Variant(tag, values)

    # Types whose fields depend on each other

    def _string(self, _: StructTag) -> object:
        return [bytearray(self._chance.choice(TEXTS))]

    def _option(self, type_: StructTag) -> object:
        present = self._chance.random() < 0.7
        value = self.value(type_.type_params[0])
        if type_.type_params[0] is Primitive.U8:
            return [bytearray([value] if present else [])]
        return [[value] if present else []]

    def _bit_vector(self, _: StructTag) -> object:
        length = self._chance.randrange(1, 12)
        return [length, [self._chance.random() < 0.5 for _ in range(length)]]

    def _map(self, type_: StructTag) -> object:
        key, value = type_.type_params
        entries = [[one, self.value(value)] for one in self._distinct(key)]
        return [entries]

    def _set(self, type_: StructTag) -> object:
        keys = self._distinct(type_.type_params[0])
        return [bytearray(keys) if type_.type_params[0] is Primitive.U8 else keys]

    def _distinct(self, type_: TypeTag) -> list[Any]:
        found: list[Any] = []
        for _ in range(self._chance.choice([0, 1, 2, 3])):
            value = self.value(type_)
            if value not in found:
                found.append(value)
        return found

    def _type_name(self, _: StructTag) -> object:
        names = ["u64", "vector<u8>", f"{2:064x}::sui::SUI", f"{1:064x}::option::Option<u64>"]
        return [[bytearray(self._chance.choice(names).encode())]]

    def _transaction(self, _: StructTag) -> object:
        return [bytes(_ID_SIZE), bytearray(self._chance.randbytes(_ID_SIZE)), 100, 5, 0]

    def _group_element(self, type_: StructTag) -> object:
        group = type_.type_params[0]
        name = group.name if isinstance(group, StructTag) else ""
        return [curves.element(self._chance, name)]

    # Types with dynamic fields

    def _uid(self) -> list[object]:
        return [[self._chance.randbytes(_ID_SIZE)]]

    def _give(self, uid: Any, key: tuple[TypeTag, object], value: tuple[TypeTag, object]) -> None:
        self._fields.add(self._machine, uid[0][0], key, value)

    def _table(self, type_: StructTag) -> object:
        key, value = type_.type_params
        uid = self._uid()
        keys = self._distinct(key)
        for one in keys:
            self._give(uid, (key, one), (value, self.value(value)))
        return [uid, len(keys)]

    def _bag(self, _: StructTag) -> object:
        return self._table(StructTag(SUI_FRAMEWORK, "table", "Table", (Primitive.U64,) * 2))

    def _versioned(self, _: StructTag) -> object:
        version = self._primitive(Primitive.U64)
        return self._of_version(version, Primitive.U64)

    def _of_version(self, version: object, content: TypeTag) -> list[object]:
        uid = self._uid()
        self._give(uid, (Primitive.U64, version), (content, self.value(content)))
        return [uid, version]

    def _system_state(self, _: StructTag) -> object:
        return self._of_version(2, _SYSTEM_STATE)

    def _validator_wrapper(self, _: StructTag) -> object:
        return [self._of_version(1, _VALIDATOR)]

    def _money(self, _: StructTag) -> object:
        amounts = [0, 1, 5, 100, 10**9, 10**18, (1 << 64) - 1]
        return [self._chance.choice(amounts)]

    _MAKERS: ClassVar[dict[tuple[str, str], Callable[["Arguments", StructTag], object]]] = {
        ("string", "String"): _string,
        ("ascii", "String"): _string,
        ("option", "Option"): _option,
        ("bit_vector", "BitVector"): _bit_vector,
        ("vec_map", "VecMap"): _map,
        ("vec_set", "VecSet"): _set,
        ("type_name", "TypeName"): _type_name,
        ("tx_context", "TxContext"): _transaction,
        ("table", "Table"): _table,
        ("bag", "Bag"): _bag,
        ("versioned", "Versioned"): _versioned,
        ("sui_system", "SuiSystemState"): _system_state,
        ("validator_wrapper", "ValidatorWrapper"): _validator_wrapper,
        ("balance", "Balance"): _money,
        ("balance", "Supply"): _money,
        ("group_ops", "Element"): _group_element,
    }


def _of_one_owner(_: Random, values: list[Any]) -> list[object]:
    return [values[0], 0, values[2][:1] or [bytes(_ID_SIZE)], [0b1111]]


def _of_a_digest(chance: Random, values: list[Any]) -> list[object]:
    return [bytearray(chance.randbytes(_ID_SIZE)), values[1]]


# Functions that only accept the arguments of their callers.
_OF_FUNCTIONS = {
    ("transfer", "party_transfer_impl"): _of_one_owner,
    ("tx_context", "derive_id"): _of_a_digest,
    **curves.OF_FUNCTIONS,
}
