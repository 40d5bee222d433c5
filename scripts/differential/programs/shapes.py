"""The types that the programs of one module use, and the syntax of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

INTEGERS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u128": 128, "u256": 256}
ABILITIES = "has copy, drop, store"

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct type, with its type arguments. `fields` are names and types.

    The field names of a struct that is not `named` are indices: 0, 1 and so on.
    """

    text: str
    fields: Fields
    named: bool = True


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum type. `variants` are names with their named or positional fields."""

    text: str
    variants: tuple[tuple[str, Fields, bool], ...]


class Shapes:
    """The types of a module. `declarations` is their source.

    A type is represented by its text, such as `u8`, `vector<u64>`, `S0` or `Pair<u8, bool>`.
    """

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.structs: dict[str, Struct] = {}
        self.enums: dict[str, Enum] = {}
        self._plain = [*INTEGERS, "bool", "address", "vector<u8>", "vector<u64>"]
        self._lines = [
            f"public struct Pair<A, B> {ABILITIES} {{ first: A, second: B }}",
            f"public struct Wrap<phantom P, T> {ABILITIES} {{ inner: T }}",
            (
                f"public enum Either<A, B> {ABILITIES} {{"
                " Neither, Left(A), Right { value: B }, Both(A, B) }"
            ),
        ]
        for number in range(3):
            self._add_struct(f"S{number}", named=number < 2)
        for number in range(2):
            self._add_enum(f"E{number}")
        self._add_generic()
        self.vectors = ["vector<u8>", "vector<u64>", "vector<vector<u16>>", "vector<S0>"]
        self.vectors += ["vector<E0>", "vector<bool>", "vector<u256>", "vector<Wrap<S0, S1>>"]
        self.options = ["Option<u64>", "Option<S1>", "Option<vector<u8>>"]

    @property
    def declarations(self) -> list[str]:
        """The source of each struct and enum."""
        return self._lines

    @property
    def all(self) -> list[str]:
        """All types. Integers occur as often as all other types together."""
        integers = [*INTEGERS] * 2
        others = ["bool", "bool", "address", "String", *self.structs, *self.enums]
        return integers + others + self.vectors + self.options

    def _fields(self, count: int) -> Fields:
        earlier = [*self.structs, *self.enums]
        kinds = self._plain + earlier * 2
        return tuple([(f"f{place}", self._chance.choice(kinds)) for place in range(count)])

    def _add_struct(self, name: str, *, named: bool) -> None:
        fields = self._fields(self._chance.randint(1, 4))
        inside = enclosed(fields, named=named)
        if named:
            self._lines.append(f"public struct {name} {ABILITIES}{inside}")
        else:
            fields = tuple([(str(place), type_) for place, (_, type_) in enumerate(fields)])
            self._lines.append(f"public struct {name}{inside} {ABILITIES};")
        self.structs[name] = Struct(name, fields, named)

    def _add_enum(self, name: str) -> None:
        variants = []
        for number in range(self._chance.randint(2, 5)):
            fields = self._fields(self._chance.randint(0, 3))
            variants.append((f"V{number}", fields, self._chance.random() < 0.5))
        self.enums[name] = Enum(name, tuple(variants))
        inside = ", ".join(
            f"{variant}{enclosed(fields, named=named)}" for variant, fields, named in variants
        )
        self._lines.append(f"public enum {name} {ABILITIES} {{ {inside} }}")

    def _add_generic(self) -> None:
        for _ in range(3):
            one, other = (self._chance.choice([*self._plain, *self.structs]) for _ in range(2))
            text = f"Pair<{one}, {other}>"
            self.structs[text] = Struct(text, (("first", one), ("second", other)))
        for inner in ("S1", self._chance.choice([*self._plain, *self.structs])):
            text = f"Wrap<S0, {inner}>"
            self.structs[text] = Struct(text, (("inner", inner),))
        for _ in range(2):
            one, other = (self._chance.choice([*self._plain, *self.structs]) for _ in range(2))
            text = f"Either<{one}, {other}>"
            self.enums[text] = Enum(text, _either_variants(one, other))


def _either_variants(one: str, other: str) -> tuple[tuple[str, Fields, bool], ...]:
    """Return the variants of the generic enum with these type arguments."""
    left, right = ("f0", one), ("value", other)
    return (
        ("Neither", (), False),
        ("Left", (left,), False),
        ("Right", (right,), True),
        ("Both", (left, ("f1", other)), False),
    )


def element_of(vector: str) -> str:
    """Return the type of a vector's elements, or of an option's value."""
    return vector[vector.index("<") + 1 : -1]


def bare(type_: str) -> str:
    """Return a type's name without its type arguments."""
    return type_.partition("<")[0]


def enclosed(fields: Sequence[tuple[str, str]], *, named: bool) -> str:
    """Return the source of a struct's or variant's fields with values, variables or types."""
    if not fields:
        return ""
    if named:
        return f" {{ {', '.join(f'{field}: {value}' for field, value in fields)} }}"
    return f"({', '.join(value for _, value in fields)})"
