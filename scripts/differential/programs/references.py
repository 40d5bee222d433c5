"""Statements that follow a chain of mutable references and change the last target."""

from differential.programs.expressions import Expressions
from differential.programs.shapes import INTEGERS, bare, element_of, enclosed

_STOPPING = 0.15


def change_behind(write: Expressions, reference: str, type_: str, depth: int) -> str:
    """Return a statement that changes the target of a mutable reference, or a part of it."""
    if write.chance.random() < _STOPPING:
        return _written(write, reference, type_, depth)
    if type_ in write.shapes.structs:
        return _in_a_field(write, reference, type_, depth)
    if type_ in write.shapes.enums:
        return _in_a_variant(write, reference, type_, depth)
    if type_.startswith("vector<"):
        return _in_an_element(write, reference, type_, depth)
    return _written(write, reference, type_, depth)


def _written(write: Expressions, reference: str, type_: str, depth: int) -> str:
    name, value = write.name(), write.expression(type_, depth)
    ways = [
        f"*{reference} = {name};",
        f"replace({reference}, {name});",
        f"*same({reference}) = {name};",
        f"exchange({reference}, &mut {name});",
        (
            f"let is_same = {name} == *{reference}; let mut other = {name};"
            f" *choose_mut(is_same, {reference}, &mut other) = {name};"
        ),
    ]
    if type_ in INTEGERS:
        ways.append(f"*{reference} = *{reference} ^ {name};")
    return f"let mut {name}: {type_} = {value}; {write.chance.choice(ways)}"


def _in_a_field(write: Expressions, reference: str, type_: str, depth: int) -> str:
    field, its = write.chance.choice(write.shapes.structs[type_].fields)
    inner = write.name("r")
    borrowed = f"&mut {reference}.{field}"
    if field in ("first", "inner") and write.chance.random() < 0.5:
        borrowed = f"{field}_of({reference})"
    return f"let {inner} = {borrowed}; {change_behind(write, inner, its, depth)}"


def _in_a_variant(write: Expressions, reference: str, type_: str, depth: int) -> str:
    """Return a match that changes the value in one of its arms."""
    able = [one for one in write.shapes.enums[type_].variants if one[1]]
    if not able:
        return _written(write, reference, type_, depth)
    variant, fields, named = write.chance.choice(able)
    bound = [(field, write.name("r")) for field, _ in fields]
    place = write.chance.randrange(len(fields))
    changed = change_behind(write, bound[place][1], fields[place][1], depth)
    pattern = f"{bare(type_)}::{variant}{enclosed(bound, named=named)}"
    return f"match ({reference}) {{ {pattern} => {{ {changed} }}, _ => () }};"


def _in_an_element(write: Expressions, reference: str, type_: str, depth: int) -> str:
    inner, place = write.name("r"), write.expression("u64", depth - 1)
    borrowed = write.chance.choice(
        [
            f"element({reference}, i)",
            f"{{ let at = i % {reference}.length(); &mut {reference}[at] }}",
        ]
    )
    changed = change_behind(write, inner, element_of(type_), depth)
    return (
        f"let i = {place}; if (!{reference}.is_empty()) {{ let {inner} = {borrowed}; {changed} }};"
    )
