"""Programs compiled, run in both machines, and made shorter where these do not agree."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from differential.framework import Coverage, Difference, Differential, ExposedPackages
from differential.programs.source import MANIFEST, MODULE, Source
from nexus_tools.errors import NexusError
from nexus_tools.localnet.bytecode import CompiledModule, deserialize, relocate
from nexus_tools.localnet.compiler import MoveBuilder
from nexus_tools.sui.address import Address

CODE = Address.of(0xC0DE)
PREFIX = "run_"

Write = Callable[[str, Sequence[int]], Source]


@dataclass(frozen=True, slots=True)
class ProgramDifference:
    """A program that the machines do not agree about, as short as it still shows it."""

    seed: str
    number: int
    source: str
    difference: Difference


class Programs:
    """Compiles programs, and compares what they do."""

    def __init__(self, builder: MoveBuilder, packages: ExposedPackages) -> None:
        self._builder = builder
        self._packages = packages

    def compare(
        self, write: Write, seed: str, numbers: Sequence[int], rounds: int
    ) -> tuple[list[Coverage], list[ProgramDifference]]:
        """What is known of each program, and the differences."""
        source = write(seed, numbers)
        coverages, differences = self._run(source, seed, rounds)
        first = {one.name: one for one in reversed(differences)}
        return coverages, [self._shortest(source, seed, rounds, one) for one in first.values()]

    def refused(self, write: Write, seed: str, numbers: Sequence[int]) -> Iterator[int]:
        """The programs that the compiler does not take."""
        if self._compiled(write(seed, numbers)) is not None:
            return
        if len(numbers) == 1:
            yield numbers[0]
            return
        half = len(numbers) // 2
        yield from self.refused(write, seed, numbers[:half])
        yield from self.refused(write, seed, numbers[half:])

    def _run(
        self, source: Source, seed: str, rounds: int
    ) -> tuple[list[Coverage], list[Difference]]:
        self._packages.publish(CODE, [self._compile(source)])
        comparing = Differential(self._packages, seed)
        coverages = comparing.compare_module(CODE, MODULE, rounds, PREFIX)
        return coverages, comparing.differences

    def _compile(self, source: Source) -> CompiledModule:
        built = self._builder.build({"Move.toml": MANIFEST, f"sources/{MODULE}.move": source.text})
        return deserialize(relocate(built.modules[0], CODE))

    def _compiled(self, source: Source) -> CompiledModule | None:
        try:
            return self._compile(source)
        except NexusError:
            return None

    def _shortest(
        self, source: Source, seed: str, rounds: int, difference: Difference
    ) -> ProgramDifference:
        """Leave out one statement after another, as long as a difference remains."""
        name = difference.name.rsplit("::", 1)[-1]
        program = next(one for one in source.programs if one.name == name)
        for statement in reversed(program.statements):
            rest = tuple([one for one in program.statements if one is not statement])
            shorter = replace(source, programs=(replace(program, statements=rest),))
            if self._compiled(shorter) is None:
                continue
            _, found = self._run(shorter, seed, rounds)
            if found:
                program, difference = shorter.programs[0], found[0]
        number = int(name.removeprefix(PREFIX))
        return ProgramDifference(seed, number, program.source, difference)
