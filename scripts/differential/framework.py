"""Every function of the framework, private ones too, in both machines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from random import Random

from differential.arguments import Arguments
from differential.dynamic_fields import DynamicFields
from differential.explained import (
    BY_VALUE,
    LACKED,
    ONLY_THROUGH_CALLERS,
    Cause,
    Reason,
    explanation,
)
from differential.exposure import (
    aborting,
    count_events,
    expose,
    natives_by_value,
    only_emitting,
    only_reached,
)
from differential.genuine import Call, call_genuine
from differential.localnet_vm import Answer, LocalnetVm, package_of
from differential.outcome import Outcome, agree
from differential.wrapper import wrap
from nexus_tools.localnet.bytecode import CompiledModule, deserialize, serialize
from nexus_tools.localnet.framework import load_framework
from nexus_tools.localnet.vm import Function, substitute
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM, Address
from nexus_tools.sui.type_tag import TypeTag

# What is drawn and tried here, before the genuine machine is asked; and how many calls may end as
# others did before.
_DRAWS = 40
_PATIENCE = 12
_FRAMEWORK = frozenset({MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM})
# Modules that do their work through another one, which has natives that take values.
_NEEDED = {"bls12381": ("group_ops",)}

Types = tuple[TypeTag, ...]
Values = Sequence[object]
Name = tuple[Address, str]


@dataclass(slots=True)
class Coverage:
    """What is known of a function: how many calls were compared, and why others were not.

    `succeeded` are those of the compared calls that returned.
    """

    package: Address
    function: Function
    compared: int = 0
    succeeded: int = 0
    reasons: set[Reason] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The function's full name."""
        return f"{self.package.short()}::{self.function.module.name}::{self.function.name}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A call that the two machines do not agree about."""

    name: str
    type_arguments: tuple[str, ...]
    values: tuple[object, ...]
    ours: Outcome
    genuine: Outcome


class ExposedPackages:
    """The framework and packages besides, whose every function both machines can call.

    It is called through wrappers, which show all that it does.
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
        """Note what stands for the module in the genuine machine."""
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
        """Add a package, or put it in the place of the one at this address."""
        self._genuine = {name: row for name, row in self._genuine.items() if name[0] != address}
        for module in map(expose, modules):
            self._genuine[address, module.name] = (module, wrap(module, wrappers_of(address)))
        rows = [row for name, row in self._genuine.items() if name[0] == address]
        machine = self.vm.machine
        machine.publish(package_of(address, [serialize(module) for module, _ in rows]))
        machine.publish(
            package_of(wrappers_of(address), [serialize(wrapper) for _, wrapper in rows])
        )
        self._files.cache_clear()

    def modules(self) -> list[Name]:
        """Every module, by its package and its name."""
        return sorted(self._genuine)

    def functions(self, package: Address, module: str) -> Iterator[Function]:
        """The wrappers of a module's functions."""
        loaded = self.vm.machine.package(wrappers_of(package))
        found = loaded.module(module) if loaded else None
        assert found is not None
        yield from found.functions()

    def function(self, package: Address, module: str, name: str) -> Function:
        """The wrapper of one function."""
        found = self.vm.machine.function(wrappers_of(package), module, name)
        assert found is not None
        return found

    def ask_genuine(
        self, package: Address, function: Function, type_arguments: Types, values: Values
    ) -> Outcome:
        """What the genuine machine says of a wrapper's call."""
        machine = self.vm.machine
        types = [substitute(type_, type_arguments) for type_ in function.parameters]
        arguments = tuple(
            [
                (str(type_), machine.encode(type_, value))
                for type_, value in zip(types, values, strict=True)
            ]
        )
        name = function.module.name
        wrappers = wrappers_of(package)
        call = Call(wrappers, name, function.name, tuple(map(str, type_arguments)), arguments)
        files = self._files(package, name, function.name)
        return call_genuine(call, {wrappers: files}, self.fields.children())

    @lru_cache(maxsize=1)  # noqa: B019 - there is one of these packages in a process
    def _files(self, package: Address, name: str, function: str) -> list[bytes]:
        """What the genuine machine needs besides the framework, to call one wrapper.

        It takes the modules of a package to have the address of the first one.
        """
        module, wrapper = self._genuine[package, name]
        others = []
        if package in _FRAMEWORK:
            module = only_reached(module, function)
            others = [self._genuine[SUI_FRAMEWORK, other][0] for other in _NEEDED.get(name, ())]
        else:
            others = [row[0] for key, row in self._genuine.items() if key[0] == package]
            if len(others) == 1:
                module, others = only_reached(module, function), []
        files = [serialize(one) for one in (only_reached(wrapper, function), module, *others)]
        return files if _is_event(package, name) else [*files, self._emitting]


def wrappers_of(package: Address) -> Address:
    """Where the wrappers of a package's functions are."""
    return Address.of(int.from_bytes(package, "big") ^ 0xC0D000)


def _is_event(address: Address, module: str) -> bool:
    return (address, module) == (SUI_FRAMEWORK, "event")


@cache
def framework() -> ExposedPackages:
    """The packages 0x1, 0x2 and 0x3."""
    return ExposedPackages(
        {
            Address(address): [deserialize(file) for file in package.modules]
            for address, package in load_framework().items()
        }
    )


class Differential:
    """Compares the functions of packages, with arguments drawn from a seed."""

    def __init__(self, packages: ExposedPackages, seed: str) -> None:
        self._packages = packages
        self._arguments = Arguments(packages.vm.machine, packages.fields, Random(seed))
        self.differences: list[Difference] = []

    def compare_module(
        self, package: Address, module: str, rounds: int, prefix: str = ""
    ) -> list[Coverage]:
        """Compare each function as often as there are ways in which its calls end.

        `rounds` is the most for one function; only those are compared whose names have the prefix.
        """
        functions = self._packages.functions(package, module)
        found = [Coverage(package, one) for one in functions if one.name.startswith(prefix)]
        for coverage in found:
            self._compare_function(coverage, rounds)
        return found

    def compare_call(
        self,
        package: Address,
        module: str,
        name: str,
        values: Values,
        types: Types = (),
        *,
        new_ids: Iterable[Address] = (),
    ) -> Coverage:
        """Compare one call, in a transaction that has created `new_ids` before."""
        coverage = Coverage(package, self._packages.function(package, module, name))
        answer = self._packages.vm.call(coverage.function, types, values, new_ids)
        assert answer.outcome is not None
        reason = explanation(module, answer.natives, answer.outcome)
        if reason is None:
            self._compare(coverage, types, values, answer)
        else:
            coverage.reasons.add(reason)
        return coverage

    def _compare_function(self, coverage: Coverage, rounds: int) -> None:
        for type_arguments, values, answer in self._ways_to_end(coverage, rounds):
            self._compare(coverage, type_arguments, values, answer)

    def _compare(
        self, coverage: Coverage, type_arguments: Types, values: Values, answer: Answer
    ) -> None:
        function = coverage.function
        ours = answer.outcome
        assert ours is not None
        genuine = self._packages.ask_genuine(coverage.package, function, type_arguments, values)
        if function.name in BY_VALUE.get(function.module.name, ()):
            ours = _without_references(ours, genuine)
        coverage.compared += 1
        coverage.succeeded += ours.succeeded
        if not agree(ours, genuine, answer.fresh_ids):
            names = tuple(map(str, type_arguments))
            self.differences.append(Difference(coverage.name, names, tuple(values), ours, genuine))

    def _ways_to_end(
        self, coverage: Coverage, rounds: int
    ) -> Iterator[tuple[Types, Values, Answer]]:
        """Calls that end differently here: each abort once, and what returns twice."""
        seen: Counter[object] = Counter()
        patience = _PATIENCE
        for type_arguments, values, answer in self._draws(coverage):
            outcome = answer.outcome
            assert outcome is not None
            way = (outcome.status, outcome.sub_status, outcome.place)
            seen[way] += 1
            patience -= 1
            if seen[way] <= (2 if outcome.succeeded else 1):
                yield type_arguments, values, answer
                rounds -= 1
                patience = _PATIENCE
            if not rounds or not patience:
                return

    def _draws(self, coverage: Coverage) -> Iterator[tuple[Types, Values, Answer]]:
        """Calls that can be compared; for others the reason is noted."""
        function = coverage.function
        module = function.module.name
        if (module, function.name) in ONLY_THROUGH_CALLERS:
            coverage.reasons.add(Reason(Cause.BREAKS))
            return
        for _ in range(_DRAWS):
            type_arguments = self._arguments.type_arguments(function)
            values = self._arguments.values(function, type_arguments)
            new_ids = self._arguments.object_ids(function, type_arguments, values)
            answer = self._packages.vm.call(function, type_arguments, values, new_ids)
            if answer.outcome is None:
                absent = answer.absent
                coverage.reasons.add(
                    Reason(Cause.ABSENT, absent) if absent else Reason(Cause.ENDLESS)
                )
                continue
            reason = explanation(module, answer.natives, answer.outcome)
            if reason is None:
                yield type_arguments, values, answer
            else:
                coverage.reasons.add(reason)


def _without_references(ours: Outcome, genuine: Outcome) -> Outcome:
    """Without the values behind references, which a native that takes values does not show."""
    if not ours.succeeded:
        return ours
    shown = len(genuine.values) - 2 if genuine.succeeded else 0
    return Outcome(ours.status, values=(*ours.values[:shown], *ours.values[-2:]))
