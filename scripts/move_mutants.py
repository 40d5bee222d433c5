"""Mutation testing of a Move package, which finds small source changes that no test detects.

The unit tests are compiled once. A mutant does not change signatures, so one compilation can
contain one mutant for each file. Each module belongs to one mutant. Only the tests that call the
changed function run, until one of them fails. Tests that are likely to fail run first.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import groupby, zip_longest

from msgspec.structs import replace

from move_mutation import Mutant, mutants_of
from nexus_tools.errors import ValidationError
from nexus_tools.sui.bytecode import deserialize_published
from nexus_tools.sui.localnet.compiler import MoveBuilder, PackageSources
from nexus_tools.sui.localnet.move_test import (
    GAS_LIMIT,
    ModuleCoverage,
    MoveTest,
    MoveTestBuild,
    MoveTestRunner,
    Verdict,
    build_dependencies,
    build_marked,
    build_tests,
    summary_line,
)
from nexus_tools.sui.localnet.move_test.compilation.compilation import (
    compile_for_tests,
    read_test_sources,
)
from nexus_tools.sui.types.address import ZERO

SURVIVORS_MAX = 0.03
"""The maximum share of compiling mutants that may survive."""

# The limit is ten times the gas of any test of the package, because a mutant may loop endlessly.
_GAS_LIMIT = GAS_LIMIT // 100
_TIMEOUT_S = 10.0
_OWN_ADDRESS = bytes(ZERO)


class Fate(StrEnum):
    """The result of testing a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    NOT_COMPILING = "not compiling"


@dataclass(frozen=True)
class MutantResult:
    """A mutant and the result of its test."""

    mutant: Mutant
    fate: Fate


@dataclass
class _Calls:
    """The tests that call each function of a file. Functions are named by their first lines."""

    _counts: dict[int, int] = field(default_factory=dict)
    _tests: dict[int, set[MoveTest]] = field(default_factory=dict)

    def note(self, test: MoveTest, coverage: ModuleCoverage) -> None:
        """Record the coverage of a file after a test."""
        # Instrument all functions, to know which tests call each of them.
        assert not coverage.unmeasured
        for function in coverage.functions:
            tests = self._tests.setdefault(function.line, set())
            if function.calls > self._counts.get(function.line, 0):
                tests.add(test)
            self._counts[function.line] = function.calls

    def tests_of(self, line: int) -> set[MoveTest]:
        """Return the tests that call the function on a line, or all tests for a constant."""
        begins = sorted(self._tests)
        place = bisect(begins, line) - 1
        return self._tests[begins[place]] if place >= 0 else set().union(*self._tests.values())


class MutantExaminer:
    """A runner of a package's unit tests on its mutants. Dependencies are not mutated."""

    def __init__(self, builder: MoveBuilder, package: PackageSources, *, seed: int) -> None:
        self._builder = builder
        self._seed = seed
        self._dependencies = build_dependencies(builder, package.dependencies)
        self._build = build_tests(builder, package.sources, self._dependencies)
        self._sources = _published(package.sources)
        self._read = read_test_sources(self._sources)
        self._modules = _by_name(self._build.modules)
        self._tests, self._calls = self._quickest_first(package.sources)

    @property
    def mutants(self) -> list[Mutant]:
        """All mutants of the package, sorted by file and position."""
        return [
            mutant
            for path, text in sorted(self._sources.items())
            if path.endswith(".move")
            for mutant in mutants_of(path, text)
        ]

    def examine(self, mutants: Sequence[Mutant]) -> Iterator[MutantResult]:
        """Yield the result of each mutant. The first mutant of each file comes first."""
        files = [list(group) for _, group in groupby(mutants, lambda mutant: mutant.path)]
        for together in zip_longest(*files):
            for mutant, module in self._compiled(
                [candidate for candidate in together if candidate is not None]
            ):
                yield self._examined(mutant, module)

    def _compiled(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bytes | None]]:
        """Yield the module of each mutant, or None if it does not compile.

        The mutants must change different files.
        """
        texts = {
            candidate.path: candidate.applied_to(self._sources[candidate.path])
            for candidate in mutants
        }
        try:
            modules = _by_name(self._compile(texts))
        except ValidationError:
            if len(mutants) == 1:
                yield mutants[0], None
            else:
                for mutant in mutants:
                    yield from self._compiled([mutant])
            return
        for mutant in mutants:
            yield mutant, modules[_OWN_ADDRESS, mutant.module]

    def _examined(self, mutant: Mutant, module: bytes | None) -> MutantResult:
        if module is None:
            return MutantResult(mutant, Fate.NOT_COMPILING)
        modules = self._modules | {(_OWN_ADDRESS, mutant.module): module}
        runner = self._runner(replace(self._build, modules=tuple(modules.values())))
        for result in runner.run(self._likeliest_first(mutant)):
            if result.verdict is not Verdict.PASS:
                self._tests.remove(result.test)
                self._tests.insert(0, result.test)
                return MutantResult(mutant, Fate.KILLED)
        return MutantResult(mutant, Fate.SURVIVED)

    def _compile(self, changed: Mapping[str, str]) -> tuple[bytes, ...]:
        """Compile the sources, with the changed texts in `changed`."""
        read = self._read | read_test_sources(changed)
        manifest = self._sources["Move.toml"]
        return compile_for_tests(self._builder, manifest, read, self._dependencies.packages)

    def _quickest_first(
        self, sources: Mapping[str, str]
    ) -> tuple[list[MoveTest], dict[str, _Calls]]:
        """Return the tests, fastest first, and the tests that call the functions of each file."""
        marked = partial(build_marked, self._builder, sources, self._dependencies)
        runner = MoveTestRunner(self._build, seed=self._seed, marked=marked, covers=True)
        calls: dict[str, _Calls] = {}
        results = []
        for result in runner.run(self._build.tests):
            results.append(result)
            for module in runner.coverage().modules:
                calls.setdefault(module.path, _Calls()).note(result.test, module)
        if any(result.verdict is not Verdict.PASS for result in results):
            raise ValidationError("move_tests_failed", summary_line(results))
        quickest = sorted(results, key=lambda result: result.seconds)
        return [result.test for result in quickest], calls

    def _likeliest_first(self, mutant: Mutant) -> list[MoveTest]:
        """Return the tests that call the mutated function, in the order in which they should run.

        Tests of the same module come first, and among them the tests that failed recently.
        """
        calling = self._calls[mutant.path].tests_of(mutant.line)
        tests = [test for test in self._tests if test in calling]
        return sorted(tests, key=lambda test: not test.module.endswith(f"::{mutant.module}_tests"))

    def _runner(self, build: MoveTestBuild) -> MoveTestRunner:
        return MoveTestRunner(build, seed=self._seed, timeout_s=_TIMEOUT_S, gas_limit=_GAS_LIMIT)


def chosen(mutants: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """Return `count` randomly chosen mutants in their original order. If it is None, return all.

    The choice depends only on the seed.
    """
    if count is None or count >= len(mutants):
        return list(mutants)
    places = random.Random(seed).sample(range(len(mutants)), count)
    return [mutants[place] for place in sorted(places)]


def in_words(examined: Sequence[MutantResult]) -> list[str]:
    """Return a table of the results for each kind of mutant, and the share that survived."""
    kinds = sorted({result.mutant.kind for result in examined})
    rows = [(kind, [result for result in examined if result.mutant.kind == kind]) for kind in kinds]
    head = f"{'':20}" + "".join(f"{fate:>15}" for fate in Fate)
    table = [f"{kind:20}{_counts(row)}" for kind, row in (*rows, ("all", examined))]
    return [head, *table, f"{survival(examined):.1%} of the mutants that compile survived."]


def _counts(examined: Sequence[MutantResult]) -> str:
    return "".join(f"{sum(result.fate is fate for result in examined):>15}" for fate in Fate)


def survival(examined: Sequence[MutantResult]) -> float:
    """Return the share of compiling mutants that survived."""
    compiling = [result for result in examined if result.fate is not Fate.NOT_COMPILING]
    survivors = [result for result in compiling if result.fate is Fate.SURVIVED]
    return len(survivors) / len(compiling) if compiling else 0.0


def _by_name(modules: Sequence[bytes]) -> dict[tuple[bytes, str], bytes]:
    read = ((deserialize_published(module), module) for module in modules)
    return {(module.address, module.name): data for module, data in read}


def _published(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the manifest, and the sources without the tests."""
    return {path: text for path, text in sources.items() if not path.startswith("tests/")}
