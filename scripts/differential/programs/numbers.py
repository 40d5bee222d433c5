"""Integer expressions: arithmetic, shifts and casts, sometimes near the limits of their types."""

from typing import TYPE_CHECKING

from differential.programs.shapes import INTEGERS

if TYPE_CHECKING:
    from differential.programs.expressions import Expressions

_MOST_SHIFTED = 255
_BOLD = 0.1
_SAFE_STEPS = ["+ 0", "+ 1", "- 1", "* 1", "/ 2", "% 7", "^ 1"]


def integer(write: "Expressions", type_: str, depth: int) -> str:
    """Return an expression of an integer type."""
    if depth <= 0 or write.chance.random() < 0.2:
        return literal(write, type_)
    return write.chance.choice(_OF_INTEGERS)(write, type_, depth - 1)


def literal(write: "Expressions", type_: str) -> str:
    """Return an integer literal, most often a small one."""
    chance, bits = write.chance, INTEGERS[type_]
    top = (1 << bits) - 1
    edge = [top, top - 1, 1 << chance.randrange(bits), chance.randrange(1 << bits)]
    small = [0, 1, 2, 3, 7, chance.randrange(100)]
    return f"{chance.choice(small if chance.random() < 0.85 else edge)}{type_}"


def _arithmetic(write: "Expressions", type_: str, depth: int) -> str:
    chance = write.chance
    one, other = write.expression(type_, depth), write.expression(type_, depth)
    operator = chance.choice(["+", "-", "*", "/", "%", "&", "|", "^"])
    if operator in "/%" and chance.random() < 0.8:
        return f"({one} {operator} ({other} | 1))"
    if operator in "+*" and chance.random() < 0.6:
        return f"(({one} % 11) {operator} ({other} % 11))"
    if operator == "-" and chance.random() < 0.7:
        return f"(({one} | 64) - ({other} % 64))"
    return f"({one} {operator} {other})"


def _near_the_top(write: "Expressions", type_: str, depth: int) -> str:
    """Return an expression whose value is just in the type's range, or sometimes just outside."""
    top = (1 << INTEGERS[type_]) - 1
    distance = f"({write.expression(type_, depth)} % 3)"
    steps = ["+ 1", "+ 2", "+ 3", "* 2"] if write.chance.random() < _BOLD else _SAFE_STEPS
    return f"(({top - 1}{type_} - {distance}) {write.chance.choice(steps)})"


def _shift(write: "Expressions", type_: str, depth: int) -> str:
    bits = INTEGERS[type_]
    operator = write.chance.choice(["<<", ">>"])
    value = write.expression(type_, depth)
    if write.chance.random() < 0.25:
        edges = [min(bits, _MOST_SHIFTED), _MOST_SHIFTED]
        edge = write.chance.choice(edges if write.chance.random() < _BOLD else [0, 1, bits - 1])
        return f"({value} {operator} {edge}u8)"
    amount = write.expression("u8", depth)
    if write.chance.random() > _BOLD:
        amount = f"({amount} % {min(bits, _MOST_SHIFTED)})"
    return f"({value} {operator} {amount})"


def _cast(write: "Expressions", type_: str, depth: int) -> str:
    bits = INTEGERS[type_]
    source = write.chance.choice(list(INTEGERS))
    value = write.expression(source, depth)
    if INTEGERS[source] > bits:
        if write.chance.random() < _BOLD:
            edge = (1 << bits) - 1
            return f"((({value} % 2) + {edge}{source}) as {type_})"
        if write.chance.random() > _BOLD:
            value = f"({value} % {1 << bits - 1})"
    return f"({value} as {type_})"


def _called(write: "Expressions", type_: str, depth: int) -> str:
    function = write.chance.choice(["mixed", "descended", "nested"])
    return f"{function}_{type_}({write.expression(type_, depth)}, {literal(write, 'u8')})"


def _of_std(write: "Expressions", type_: str, depth: int) -> str:
    one, other = write.expression(type_, depth), write.expression(type_, depth)
    function = write.chance.choice(["min", "max", "diff", "pow", "divide_and_round_up"])
    if function == "pow":
        return f"std::{type_}::pow({one} % 7, ({write.expression('u8', depth)} % 4))"
    if function == "divide_and_round_up" and write.chance.random() > _BOLD:
        other = f"({other} | 1)"
    return f"std::{type_}::{function}({one}, {other})"


def _length(write: "Expressions", type_: str, depth: int) -> str:
    vector = write.expression(write.chance.choice(write.shapes.vectors), depth)
    return f"(({vector}).length() as {type_})"


def _matched(write: "Expressions", type_: str, depth: int) -> str:
    """Return a match over numbers, with several numbers in one arm, and a guard."""
    name, value = write.name("m"), write.expression(type_, depth)
    arms = [write.expression(type_, depth) for _ in range(3)]
    return (
        f"(match ({value}) {{ 0{type_} => {arms[0]}, 1{type_} | 2{type_} => {arms[1]},"
        f" {name} if (*{name} > 7) => {name}, _ => {arms[2]} }})"
    )


_OF_INTEGERS = (
    _arithmetic,
    _arithmetic,
    _arithmetic,
    _near_the_top,
    _shift,
    _cast,
    _called,
    _of_std,
    _length,
    _matched,
)
