"""The sizes of values on the operand stack, and functions that copy values and charge by size.

The size differs from the number of bytes in memory and in BCS. An integer of up to 64 bits or a
boolean has the size 8. A struct, enum value or vector adds 2 to the size of its contents. In a
*packed* vector, each element has its real size, for example 1 for a u8. Vectors of integers,
booleans and addresses are packed. For example, a struct of a u8 and a vector of three u64 has the
size 2 + 8 + (2 + 3 * 8) = 36. Source: `abstract_memory_size` in `move-vm-types/src/views.rs`, with
`fine_grained_value_size`.
"""

from collections.abc import Callable, Sequence

from nexus_tools.sui.localnet.vm.definitions import Datatype, ReferenceType, Type, substitute
from nexus_tools.sui.localnet.vm.metering import LARGE, Meter, Work
from nexus_tools.sui.localnet.vm.values.values import Value, copy_value
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag

REFERENCE_BYTES = 8
CONTAINER_BYTES = 2

Sizer = Callable[[Value], int]

_SCALAR_BYTES = 8
_WIDE_SCALAR_BYTES = {
    Primitive.U128: 16,
    Primitive.U256: 32,
    Primitive.ADDRESS: 32,
    Primitive.SIGNER: 32,
}
_ELEMENT_BYTES: dict[Type, int] = {
    Primitive.BOOL: 1,
    Primitive.U8: 1,
    Primitive.U16: 2,
    Primitive.U32: 4,
    Primitive.U64: 8,
    Primitive.U128: 16,
    Primitive.U256: 32,
    Primitive.ADDRESS: 32,
}


def scalar_bytes(type_: Primitive) -> int:
    """Return the size of an integer, a boolean or an address."""
    return _WIDE_SCALAR_BYTES.get(type_, _SCALAR_BYTES)


def element_bytes(type_: Type) -> int | None:
    """Return the size of a packed vector's elements, or None for a type that is never packed."""
    return _ELEMENT_BYTES.get(type_)


class ValueSize:
    """A cache of value sizes by type. `datatype` returns the definition of a struct or an enum."""

    def __init__(self, datatype: Callable[[StructTag], Datatype]) -> None:
        self._datatype = datatype
        self._sizers: dict[Type, int | Sizer] = {}

    def forget(self) -> None:
        """Discard all sizes."""
        self._sizers.clear()

    def fixed(self, type_: Type) -> int | None:
        """Return the size that all values of a type have, or None if the size varies."""
        sizer = self._of(type_)
        return sizer if isinstance(sizer, int) else None

    def size(self, type_: Type, value: Value) -> int:
        """Return the size of a value of the type."""
        sizer = self._of(type_)
        return sizer if isinstance(sizer, int) else sizer(value)

    def sizer(self, type_: Type) -> Sizer:
        """Return a function that measures values of the type."""
        return _function(self._of(type_))

    def _of(self, type_: Type) -> int | Sizer:
        sizer = self._sizers.get(type_)
        if sizer is None:
            # Other code rejects a type that contains itself. This entry only stops the recursion.
            self._sizers[type_] = CONTAINER_BYTES
            sizer = self._sizers[type_] = self._make(type_)
        return sizer

    def _make(self, type_: Type) -> int | Sizer:
        if isinstance(type_, Primitive):
            return scalar_bytes(type_)
        if isinstance(type_, ReferenceType):
            return REFERENCE_BYTES
        if isinstance(type_, VectorTag):
            return self._vector(type_.element)
        assert isinstance(type_, StructTag)
        definition = self._datatype(type_)
        if definition.variants is None:
            return _fields(self._fields_of(definition.field_types(), type_))
        variants = [
            _function(_fields(self._fields_of([field for _, field in fields], type_)))
            for _, fields in definition.variants
        ]
        return lambda value: variants[value.tag](value.fields)

    def _fields_of(self, types: Sequence[Type], tag: StructTag) -> list[int | Sizer]:
        return [self._of(substitute(type_, tag.type_params)) for type_ in types]

    def _vector(self, element: Type) -> Sizer:
        size = element_bytes(element) or self._of(element)
        if isinstance(size, int):
            return lambda value: CONTAINER_BYTES + size * len(value)
        return lambda value: CONTAINER_BYTES + sum(map(size, value))


def _fields(sizers: list[int | Sizer]) -> int | Sizer:
    """Return the size or the sizer of a list of fields. Fixed sizes are added up in advance."""
    fixed_total = CONTAINER_BYTES + sum([sizer for sizer in sizers if isinstance(sizer, int)])
    others = [(index, sizer) for index, sizer in enumerate(sizers) if not isinstance(sizer, int)]
    if not others:
        return fixed_total
    if len(others) == 1:
        [(only, sizer)] = others
        return lambda value: fixed_total + sizer(value[only])
    return lambda value: fixed_total + sum([sizer(value[index]) for index, sizer in others])


def _function(sizer: int | Sizer) -> Sizer:
    return (lambda _: sizer) if isinstance(sizer, int) else sizer


Copier = Callable[[Meter, Value], Value]


def copier(sizes: ValueSize, type_: Type) -> Copier:
    """Return a function that copies values of the type and charges for the copy."""
    element_size = element_bytes(type_.element) if isinstance(type_, VectorTag) else None
    if element_size is not None:
        return _copier_of_packed(element_size)
    size = sizes.fixed(type_)
    if size is None or size >= LARGE:
        return _copier_of_any(sizes, type_)
    return _copier_of_fixed(size, is_shared=isinstance(type_, Primitive))


def _copier_of_packed(element_size: int) -> Copier:
    def copy(meter: Meter, value: Value) -> Value:
        meter.charge_bytes(CONTAINER_BYTES + len(value) * element_size)
        return value[:]

    return copy


def _copier_of_fixed(size: int, *, is_shared: bool) -> Copier:
    charge = Work(size=size).left

    def copy(meter: Meter, value: Value) -> Value:
        meter.left -= charge
        if meter.left < 0.0:
            meter.settle()
        return value if is_shared else copy_value(value)

    return copy


def _copier_of_any(sizes: ValueSize, type_: Type) -> Copier:
    size = sizes.sizer(type_)

    def copy(meter: Meter, value: Value) -> Value:
        meter.charge_bytes(size(value))
        return copy_value(value)

    return copy
