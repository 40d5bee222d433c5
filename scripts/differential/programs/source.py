"""Modules full of programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from differential.programs.collections import HEAD as COLLECTIONS_HEAD
from differential.programs.collections import collection_program
from differential.programs.shapes import INTEGERS, Shapes
from differential.programs.statements import Program, Statements

MODULE = "programs"
MANIFEST = '[package]\nname = "programs"\nedition = "2024"\n\n[addresses]\nprograms = "0x0"\n'
_HEAD = """    use std::string::{Self, String};

    const EFirst: u64 = 101;
    #[error]
    const ESecond: vector<u8> = b"second";

    macro fun twice<$T>($x: $T, $f: |$T| -> $T): $T {
        let once = $f($x);
        $f(once)
    }

    fun choose<T>(condition: bool, one: &T, other: &T): &T {
        if (condition) one else other
    }

    fun replace<T: drop>(place: &mut T, value: T) {
        *place = value;
    }

    fun exchange<T: copy + drop>(one: &mut T, other: &mut T) {
        let kept = *one;
        *one = *other;
        *other = kept;
    }
"""
_FUNCTIONS = """    fun mixed_{0}(value: {0}, times: u8): {0} {{
        let mut mixed = value / 3;
        let mut count = 0;
        while (count < times % 8) {{
            if (mixed % 5 == 3) break;
            mixed = mixed / 2 + (count as {0});
            count = count + 1;
        }};
        mixed
    }}

    fun descended_{0}(value: {0}, depth: u8): {0} {{
        if (depth == 0 || value == 0) return value;
        if (depth > 20) descended_{0}(value, depth % 20)
        else descended_{0}(value / 2, depth - 1) + value % 2
    }}
"""


@dataclass(frozen=True, slots=True)
class Source:
    """What a module is written from: `front` is all but the programs."""

    front: str
    programs: tuple[Program, ...]

    @property
    def text(self) -> str:
        """The module's source."""
        programs = "\n\n".join(program.source for program in self.programs)
        return f"#[allow(all)]\nmodule programs::{MODULE} {{\n{self.front}\n{programs}\n}}\n"


def language_programs(seed: str, numbers: Sequence[int]) -> Source:
    """Programs over the language; each depends on the seed and its number alone."""
    shapes = Shapes(Random(f"{seed}/types"))
    found = [
        Statements(Random(f"{seed}/{number}"), shapes).program(f"run_{number}")
        for number in numbers
    ]
    functions = [_FUNCTIONS.format(type_) for type_ in INTEGERS]
    declarations = [f"    {line}" for line in shapes.declarations]
    return Source("\n".join([_HEAD, *functions, *declarations, ""]), tuple(found))


def framework_programs(seed: str, numbers: Sequence[int]) -> Source:
    """Programs over the framework; each depends on the seed and its number alone."""
    found = [
        collection_program(f"run_{number}", Random(f"{seed}/{number}/framework"))
        for number in numbers
    ]
    return Source(COLLECTIONS_HEAD, tuple(found))
