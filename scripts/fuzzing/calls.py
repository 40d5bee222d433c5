"""Calls of every function of a verified package with generated arguments."""

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from differential.arguments import Arguments
from differential.dynamic_fields import DynamicFields
from fuzzing.finding import Broken
from fuzzing.move_values import can_be_made, check_type, containers, type_argument
from nexus_tools.sui.localnet.natives import (
    NativeGas,
    ObjectRuntime,
    TransactionContext,
    UnsupportedNative,
)
from nexus_tools.sui.localnet.vm import (
    Context,
    Function,
    Machine,
    Meter,
    MoveAbort,
    OutOfGas,
    PrimitiveError,
    ReferenceType,
    borrow,
    copy_value,
    substitute,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import TypeTag

_BUDGET = 20_000
# The errors with which verified code may end.
_ENDS = (MoveAbort, PrimitiveError, OutOfGas, UnsupportedNative)


def call_all(machine: Machine, package: Address, module: str, chance: random.Random) -> int:
    """Call the functions of a module, each at most once. Return the number of calls."""
    loaded = machine.types.package(package)
    found = loaded.module(module) if loaded else None
    assert found is not None
    return sum(_call(machine, function, chance) for function in found.functions())


def _call(machine: Machine, function: Function, chance: random.Random) -> bool:
    if function.is_native:
        return False
    found = [
        type_argument(machine, chance, type_parameter)
        for type_parameter in function.type_parameters
    ]
    type_arguments = tuple(tag for tag in found if tag is not None)
    if len(type_arguments) < len(found):
        return False
    types = [substitute(parameter, type_arguments) for parameter in function.parameters]
    if not all(can_be_made(machine, type_) for type_ in types):
        return False
    made = Arguments(machine, DynamicFields(), chance)
    values = [
        borrow(made.value(type_)) if isinstance(type_, ReferenceType) else made.value(type_)
        for type_ in types
    ]
    with suppress(*_ENDS):
        _look_at_results(machine, function, type_arguments, types, values)
    return True


def _look_at_results(
    machine: Machine,
    function: Function,
    type_arguments: tuple[TypeTag, ...],
    types: Sequence[Any],
    values: Sequence[Any],
) -> None:
    """Check that results and targets of references have their types and share no parts."""
    runtime = _runtime(machine)
    results = machine.call(
        function, type_arguments, values, Context(machine.types, Meter(_BUDGET), runtime)
    )
    returned = [substitute(return_, type_arguments) for return_ in function.returns]
    kept = [pair for pair in zip(types, values, strict=True) if isinstance(pair[0], ReferenceType)]
    pairs = [*zip(returned, results, strict=True), *kept]
    for type_, value in pairs:
        check_type(machine, type_, value)
    own = [value for type_, value in pairs if not isinstance(type_, ReferenceType)]
    own += [value.read() for _, value in kept]
    shared = Counter(part for value in own for part in containers(value))
    if any(count > 1 for count in shared.values()):
        raise Broken(f"two values share a mutable part after the call of {function.name}")
    for type_, value in pairs:
        if not isinstance(type_, ReferenceType):
            _check_bytes(machine, type_, value)


def _check_bytes(machine: Machine, type_: Any, value: Any) -> None:
    data = machine.types.encode(type_, value)
    if machine.types.decode(type_, data) != copy_value(value):
        raise Broken(f"a value does not round-trip: {type_}")


def _runtime(machine: Machine) -> ObjectRuntime:
    transaction = TransactionContext(
        Address.of(0), Digest(bytes(32)), 0, 0, 1000, 1000, _BUDGET, None
    )
    return ObjectRuntime(transaction, {}, lambda _: None, machine.types.decode, NativeGas(10**9))
