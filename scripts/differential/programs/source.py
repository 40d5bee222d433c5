"""The source of modules that consist of programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from differential.programs.collection import HEAD as FRAMEWORK_HEAD
from differential.programs.framework_program import collection_program
from differential.programs.functions import FUNCTIONS
from differential.programs.shapes import Shapes
from differential.programs.statements import Program, Statements

MODULE = "programs"
PREFIX = "run_"
MANIFEST = '[package]\nname = "programs"\nedition = "2024"\n\n[addresses]\nprograms = "0x0"\n'


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of a module's source. `front` is everything before the programs."""

    front: str
    programs: tuple[Program, ...]

    @property
    def text(self) -> str:
        """The module's source."""
        programs = "\n\n".join(program.source for program in self.programs)
        return f"#[allow(all)]\nmodule programs::{MODULE} {{\n{self.front}\n{programs}\n}}\n"


def language_programs(seed: str, numbers: Sequence[int]) -> Source:
    """Return programs without the framework. A program depends only on the seed and its number."""
    shapes = Shapes(Random(f"{seed}/types"))
    found = [
        Statements(Random(f"{seed}/{number}"), shapes).program(f"{PREFIX}{number}")
        for number in numbers
    ]
    declarations = [f"    {line}" for line in shapes.declarations]
    return Source("\n".join([FUNCTIONS, *declarations, ""]), tuple(found))


def framework_programs(seed: str, numbers: Sequence[int]) -> Source:
    """Return programs that use the framework. A program depends only on the seed and its number."""
    found = [
        collection_program(f"{PREFIX}{number}", Random(f"{seed}/{number}/framework"))
        for number in numbers
    ]
    return Source(FRAMEWORK_HEAD, tuple(found))
