"""Calls of functions in both VMs, with random or given arguments."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from differential.arguments import Arguments
from differential.explained import BY_VALUE, ONLY_THROUGH_CALLERS, Cause, Reason, explanation
from differential.exposed_packages import ExposedPackages, Types, Values
from differential.localnet_vm import Answer
from genuine import Outcome, agree
from nexus_tools.sui.localnet.vm import Function
from nexus_tools.sui.types.address import Address

# The number of calls that are tried in the localnet, and how many of them may have the same outcome
# as an earlier call.
_DRAWS = 40
_PATIENCE = 12


@dataclass(slots=True)
class Coverage:
    """The coverage of a function: the number of compared calls, and the reasons for omitted calls.

    `succeeded` is the number of compared calls that returned.
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
    """A call with different outcomes in the two VMs."""

    name: str
    type_arguments: tuple[str, ...]
    values: tuple[object, ...]
    ours: Outcome
    genuine: Outcome

    def __str__(self) -> str:
        types = f"<{', '.join(self.type_arguments)}>" if self.type_arguments else ""
        return (
            f"{self.name}{types}{self.values}\n  localnet: {self.ours}\n  genuine:  {self.genuine}"
        )


class Differential:
    """A comparison of the functions of packages, with arguments drawn from a seed."""

    def __init__(self, packages: ExposedPackages, seed: str) -> None:
        self._packages = packages
        self._arguments = Arguments(packages.vm.machine, packages.fields, Random(seed))
        self.differences: list[Difference] = []

    def compare_module(
        self, package: Address, module: str, rounds: int, prefix: str = ""
    ) -> list[Coverage]:
        """Compare each function once for every distinct outcome of its calls.

        `rounds` is the maximum for one function. Only functions with the prefix are compared.
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
        """Compare one call. `new_ids` are IDs that its transaction created before the call."""
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
        """Yield calls with distinct outcomes: each abort once, and successful calls twice."""
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
        """Yield calls that can be compared. For other calls, record the reason."""
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
    """Remove the targets of references, because a native function that takes values hides them."""
    if not ours.succeeded:
        return ours
    shown = len(genuine.values) - 2 if genuine.succeeded else 0
    return Outcome(ours.status, values=(*ours.values[:shown], *ours.values[-2:]))
