"""The framework and other packages in both VMs, with every function made callable."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from differential.dynamic_fields import DynamicFields
from differential.explained import BY_VALUE, LACKED
from differential.exposure import (
    aborting,
    count_events,
    expose,
    natives_by_value,
    only_emitting,
    only_reached,
)
from differential.localnet_vm import LocalnetVm
from differential.wrapper import wrap
from genuine import Call, Outcome, call_reference
from nexus_tools.sui.bytecode import CompiledModule, deserialize, serialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.vm import Function, substitute
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import TypeTag
from packages import FRAMEWORK, package_of

# Modules that use another module whose native functions take values.
_NEEDED = {"bls12381": ("group_ops",)}

Types = tuple[TypeTag, ...]
Values = Sequence[object]
Name = tuple[Address, str]


class ExposedPackages:
    """The framework and other packages, with every function callable in both VMs.

    Functions are called through wrappers, which return all effects of a call.
    """

    def __init__(self, framework: Mapping[Address, Sequence[CompiledModule]]) -> None:
        self._genuine: dict[Name, tuple[CompiledModule, CompiledModule]] = {}
        self._emitting = b""
        self.fields = DynamicFields()
        ours: dict[Address, list[bytes]] = {}
        for address, modules in framework.items():
            for module in map(expose, modules):
                seen = count_events(module) if _is_event(address, module.name) else module
                ours.setdefault(address, []).append(serialize(seen))
                wrapper = serialize(wrap(module, wrappers_of(address)))
                ours.setdefault(wrappers_of(address), []).append(wrapper)
                self._add_framework_module(address, module)
        self.vm = LocalnetVm(ours, self.fields.find)

    def _add_framework_module(self, address: Address, module: CompiledModule) -> None:
        """Record the replacement of the module in Sui's own VM."""
        if address == SUI_FRAMEWORK:
            module = natives_by_value(module, BY_VALUE.get(module.name, ()))
        wrapper = wrap(module, wrappers_of(address))
        if _is_event(address, module.name):
            self._emitting = serialize(count_events(only_emitting(module)))
            module = count_events(module)
        elif address == SUI_FRAMEWORK:
            module = aborting(module, LACKED.get(module.name, ()))
        self._genuine[address, module.name] = (module, wrapper)

    def publish(self, address: Address, modules: Sequence[CompiledModule]) -> None:
        """Add a package, or replace the package at this address."""
        self._genuine = {name: row for name, row in self._genuine.items() if name[0] != address}
        for module in map(expose, modules):
            self._genuine[address, module.name] = (module, wrap(module, wrappers_of(address)))
        rows = [row for name, row in self._genuine.items() if name[0] == address]
        machine = self.vm.machine
        machine.types.publish(package_of(address, [serialize(module) for module, _ in rows]))
        machine.types.publish(
            package_of(wrappers_of(address), [serialize(wrapper) for _, wrapper in rows])
        )
        self._files.cache_clear()

    def modules(self) -> list[Name]:
        """Return the package and the name of every module."""
        return sorted(self._genuine)

    def functions(self, package: Address, module: str) -> Iterator[Function]:
        """Yield the wrappers of a module's functions."""
        loaded = self.vm.machine.types.package(wrappers_of(package))
        found = loaded.module(module) if loaded else None
        assert found is not None
        yield from found.functions()

    def function(self, package: Address, module: str, name: str) -> Function:
        """Return the wrapper of one function."""
        found = self.vm.machine.types.function(wrappers_of(package), module, name)
        assert found is not None
        return found

    def ask_genuine(
        self, package: Address, function: Function, type_arguments: Types, values: Values
    ) -> Outcome:
        """Return the outcome of a wrapper's call in Sui's own VM."""
        machine = self.vm.machine
        types: list[Any] = [substitute(type_, type_arguments) for type_ in function.parameters]
        arguments = tuple(
            [
                (str(type_), machine.types.encode(type_, value))
                for type_, value in zip(types, values, strict=True)
            ]
        )
        name = function.module.name
        wrappers = wrappers_of(package)
        call = Call(wrappers, name, function.name, tuple(map(str, type_arguments)), arguments)
        files = self._files(package, name, function.name)
        return call_reference(call, {wrappers: files}, self.fields.children())

    @lru_cache(maxsize=1)  # noqa: B019 - there is one of these packages in a process
    def _files(self, package: Address, name: str, function: str) -> list[bytes]:
        """Return the non-framework files that Sui's own VM needs to call one wrapper.

        Sui's own VM assumes that all modules of a package have the address of the first module.
        """
        module, wrapper = self._genuine[package, name]
        others = []
        if package in FRAMEWORK:
            module = only_reached(module, function)
            others = [self._genuine[SUI_FRAMEWORK, other][0] for other in _NEEDED.get(name, ())]
        else:
            others = [row[0] for key, row in self._genuine.items() if key[0] == package]
            if len(others) == 1:
                module, others = only_reached(module, function), []
        files = [serialize(one) for one in (only_reached(wrapper, function), module, *others)]
        return files if _is_event(package, name) else [*files, self._emitting]


def wrappers_of(package: Address) -> Address:
    """Return the address of the wrappers of a package's functions."""
    return Address.of(int.from_bytes(package, "big") ^ 0xC0D000)


def _is_event(address: Address, module: str) -> bool:
    return (address, module) == (SUI_FRAMEWORK, "event")


@cache
def framework() -> ExposedPackages:
    """Return the packages 0x1, 0x2 and 0x3."""
    return ExposedPackages(
        {
            Address(address): [deserialize(file) for file in package.modules]
            for address, package in load_framework().items()
        }
    )
