"""Mutation testing of a Move package: which small changes of its sources no unit test notices.

The unit tests are compiled once, and each mutant's sources alone: a mutant changes no signature.
Its tests run until one fails, those first that are likely to.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec.structs import replace

from move_mutation import Mutant, mutants_of
from nexus_tools.bytecode import deserialize
from nexus_tools.errors import ValidationError
from nexus_tools.localnet.compiler import MoveBuilder, PackageSources
from nexus_tools.localnet.move_test import (
    GAS_LIMIT,
    MoveTest,
    MoveTestBuild,
    MoveTestRunner,
    Verdict,
    build_dependencies,
    build_tests,
    summary_line,
)
from nexus_tools.localnet.move_test.compilation import compile_for_tests, read_test_sources

SURVIVORS_MAX = 0.03
"""The share of the mutants that compile of which tests may miss a change."""

# The package has no test that takes a tenth of these; a mutant may have made a loop endless.
_GAS_LIMIT = GAS_LIMIT // 100
_TIMEOUT_S = 10.0


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    NOT_COMPILING = "not compiling"


@dataclass(frozen=True)
class Examined:
    """A mutant, what became of it, and the test that noticed it."""

    mutant: Mutant
    fate: Fate
    killer: str = ""


class MutantExaminer:
    """Runs the unit tests of a package, whose dependencies have no mutants, on its mutants.

    `seed` decides the arguments of random tests. Raises `ValidationError` if a test fails without
    any change.
    """

    def __init__(self, builder: MoveBuilder, package: PackageSources, *, seed: int) -> None:
        self._builder = builder
        self._package = package
        self._seed = seed
        self._dependencies = build_dependencies(builder, package.dependencies)
        self._build = build_tests(builder, package.sources, self._dependencies)
        self._sources = _published(package.sources)
        self._read = read_test_sources(self._sources)
        changed = {deserialize(module).name for module in self._compile({})}
        self._unchanged = tuple(
            module for module in self._build.modules if deserialize(module).name not in changed
        )
        self._tests = self._quickest_first()

    @property
    def mutants(self) -> list[Mutant]:
        """All mutants of the package, by file and then by place."""
        return [
            mutant
            for path, text in sorted(self._sources.items())
            if path.endswith(".move")
            for mutant in mutants_of(path, text)
        ]

    def examine(self, mutants: Sequence[Mutant]) -> Iterator[Examined]:
        """Find out what becomes of each mutant."""
        for mutant in mutants:
            yield self._examined(mutant)

    def _examined(self, mutant: Mutant) -> Examined:
        text = mutant.applied_to(self._sources[mutant.path])
        try:
            compiled = self._compile({mutant.path: text})
        except ValidationError:
            return Examined(mutant, Fate.NOT_COMPILING)
        runner = self._runner(replace(self._build, modules=(*compiled, *self._unchanged)))
        for result in runner.run(self._likeliest_first(mutant)):
            if result.verdict is not Verdict.PASS:
                self._tests.remove(result.test)
                self._tests.insert(0, result.test)
                return Examined(mutant, Fate.KILLED, result.test.title)
        return Examined(mutant, Fate.SURVIVED)

    def _compile(self, changed: Mapping[str, str]) -> tuple[bytes, ...]:
        """The modules of the sources, of which some have another text."""
        read = self._read | read_test_sources(changed)
        manifest = self._sources["Move.toml"]
        return compile_for_tests(self._builder, manifest, read, self._dependencies.packages)

    def _quickest_first(self) -> list[MoveTest]:
        results = list(self._runner(self._build).run(self._build.tests))
        if any(result.verdict is not Verdict.PASS for result in results):
            raise ValidationError("move_tests_failed", summary_line(results))
        return [result.test for result in sorted(results, key=lambda each: each.seconds)]

    def _likeliest_first(self, mutant: Mutant) -> list[MoveTest]:
        """Tests of the same module first; among them, those that noticed the last mutants."""
        module = mutant.path.rsplit("/", 1)[-1].removesuffix(".move")
        return sorted(self._tests, key=lambda test: not test.module.endswith(f"::{module}_tests"))

    def _runner(self, build: MoveTestBuild) -> MoveTestRunner:
        return MoveTestRunner(build, seed=self._seed, timeout_s=_TIMEOUT_S, gas_limit=_GAS_LIMIT)


def chosen(mutants: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """So many of the mutants, the same ones for a seed, in their order; None for all."""
    if count is None or count >= len(mutants):
        return list(mutants)
    places = random.Random(seed).sample(range(len(mutants)), count)
    return [mutants[place] for place in sorted(places)]


def in_words(examined: Sequence[Examined]) -> list[str]:
    """A table of how many mutants of each kind met which fate, and the share that survived."""
    kinds = sorted({each.mutant.kind for each in examined})
    rows = [(kind, [each for each in examined if each.mutant.kind == kind]) for kind in kinds]
    head = f"{'':20}" + "".join(f"{fate:>15}" for fate in Fate)
    table = [f"{kind:20}{_counts(row)}" for kind, row in (*rows, ("all", examined))]
    return [head, *table, f"{survival(examined):.1%} of the mutants that compile survived."]


def _counts(examined: Sequence[Examined]) -> str:
    return "".join(f"{sum(each.fate is fate for each in examined):>15}" for fate in Fate)


def survival(examined: Sequence[Examined]) -> float:
    """The share of those that compile that survived."""
    compiling = [each for each in examined if each.fate is not Fate.NOT_COMPILING]
    survivors = [each for each in compiling if each.fate is Fate.SURVIVED]
    return len(survivors) / len(compiling) if compiling else 0.0


def _published(sources: Mapping[str, str]) -> dict[str, str]:
    """The manifest, and the sources without the tests."""
    return {path: text for path, text in sources.items() if not path.startswith("tests/")}
