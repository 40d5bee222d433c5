"""Calls that a network made during a scenario, repeated in both VMs.

A call is recorded with all of its inputs: the BCS bytes of its arguments, and the dynamic fields
that it reads.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from differential.comparison import Coverage, Difference, Differential
from differential.exposed_packages import ExposedPackages
from nexus_tools.sui.localnet.natives import ObjectRuntime
from nexus_tools.sui.localnet.vm import Context, Function, Machine, Reference, Value, substitute
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, ObjectOwner
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

Field = tuple[Address, StructTag, bytes]
"""A dynamic field: its parent, its type, and its contents."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded call of a package's function.

    `arguments` are BCS bytes. For a reference, they are the BCS bytes of its target. `new_ids` are
    the IDs that the transaction had created before the call.
    """

    module: str
    function: str
    sender: Address
    type_arguments: tuple[TypeTag, ...]
    arguments: tuple[bytes, ...]
    fields: tuple[Field, ...]
    new_ids: tuple[Address, ...]


@contextmanager
def record_calls(package: Address) -> Iterator[list[RecordedCall]]:
    """Record all calls of the package's functions that a localnet in this process makes."""
    calls: list[RecordedCall] = []
    call = Machine.call

    def noted(
        machine: Machine,
        function: Function,
        type_arguments: Sequence[TypeTag],
        arguments: Sequence[Value],
        context: Context,
    ) -> list[Value]:
        if function.module.address != package:
            return call(machine, function, type_arguments, arguments, context)
        runtime: ObjectRuntime = context.runtime
        encoded = tuple(
            [
                machine.types.encode(_target(substitute(type_, type_arguments)), _pointed(value))
                for type_, value in zip(function.parameters, arguments, strict=True)
            ]
        )
        new_ids = tuple(runtime.new_ids)
        used = dict(_used_fields(machine, runtime))
        gone = [child for child, field in runtime.children.used() if not field.cell]
        try:
            return call(machine, function, type_arguments, arguments, context)
        finally:
            fields = {child: field for child, field in _read_fields(runtime) if child not in gone}
            calls.append(
                RecordedCall(
                    function.module.name,
                    function.name,
                    runtime.transaction.sender,
                    tuple(type_arguments),
                    encoded,
                    tuple((fields | used).values()),
                    new_ids,
                )
            )

    with mock.patch.object(Machine, "call", noted):
        yield calls


def _used_fields(machine: Machine, runtime: ObjectRuntime) -> Iterator[tuple[Address, Field]]:
    """Yield the fields that the transaction has used, with their current values."""
    for child, field in runtime.children.used():
        if field.cell:
            contents = machine.types.encode(field.type, field.cell[0])
            yield child, (field.parent, field.type, contents)


def _read_fields(runtime: ObjectRuntime) -> Iterator[tuple[Address, Field]]:
    """Yield the fields that the transaction has read, with their values before it."""
    read = runtime.children._cached  # noqa: SLF001 - what is read is nobody else's matter
    for child, stored in read.items():
        if stored is not None and isinstance(stored.owner, ObjectOwner):
            assert isinstance(stored.data, MoveObject)
            yield child, (stored.owner.parent, stored.data.type, stored.data.contents)


def tell_again(
    packages: ExposedPackages, package: Address, calls: Sequence[RecordedCall]
) -> tuple[list[Coverage], list[Difference]]:
    """Repeat the calls in both VMs. Return the coverage of each function, and the differences.

    Sui's own VM has one fixed sender, which replaces the sender in the scenario.
    """
    comparing = Differential(packages, "")
    machine = packages.vm.machine
    coverages = []
    for call in calls:
        packages.fields.clear()
        for parent, type_, contents in call.fields:
            packages.fields.put(parent, type_, _by_nobody(contents, call.sender))
        function = packages.function(package, call.module, call.function)
        types: list[Any] = [substitute(type_, call.type_arguments) for type_ in function.parameters]
        values = [
            machine.types.decode(type_, _by_nobody(data, call.sender))
            for type_, data in zip(types, call.arguments, strict=True)
        ]
        called = (package, call.module, call.function, values, call.type_arguments)
        coverages.append(comparing.compare_call(*called, new_ids=call.new_ids))
    return coverages, comparing.differences


def _by_nobody(data: bytes, sender: Address) -> bytes:
    return data.replace(bytes(sender), bytes(len(sender)))


def _target(type_: Any) -> Any:
    return getattr(type_, "target", type_)


def _pointed(value: Value) -> Value:
    return value.read() if isinstance(value, Reference) else value
