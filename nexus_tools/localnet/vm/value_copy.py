"""Copies that are charged for, by type, for code that does not know the size."""

from collections.abc import Callable

from nexus_tools.localnet.vm.metering import LARGE, Meter, Work
from nexus_tools.localnet.vm.types import Primitive, Type, VectorTag
from nexus_tools.localnet.vm.value_size import CONTAINER_BYTES, ValueSize, element_bytes
from nexus_tools.localnet.vm.values import Value, copy_value

Copier = Callable[[Meter, Value], Value]


def copier(sizes: ValueSize, type_: Type) -> Copier:
    """What charges for a copy of a value of the type, and makes it."""
    each = element_bytes(type_.element) if isinstance(type_, VectorTag) else None
    if each is not None:
        return _copier_of_packed(each)
    size = sizes.fixed(type_)
    if size is None or size >= LARGE:
        return _copier_of_any(sizes, type_)
    return _copier_of_fixed(size, is_shared=isinstance(type_, Primitive))


def _copier_of_packed(each: int) -> Copier:
    def copy(meter: Meter, value: Value) -> Value:
        meter.charge_bytes(CONTAINER_BYTES + len(value) * each)
        return value[:]

    return copy


def _copier_of_fixed(size: int, *, is_shared: bool) -> Copier:
    taken = Work(size=size).left

    def copy(meter: Meter, value: Value) -> Value:
        meter.left -= taken
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
