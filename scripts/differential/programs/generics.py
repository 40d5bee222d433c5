"""Expressions that wrap a value of any type in generic values and unwrap it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from differential.programs.expressions import Expressions


def _of_a_pair(write: "Expressions", type_: str, depth: int) -> str:
    other = write.chance.choice(write.shapes.all)
    name = write.name("g")
    one, two = write.expression(type_, depth), write.expression(other, depth)
    taken = write.chance.choice(
        [
            f"swapped({name}).second",
            f"{{ let Pair {{ first, second: _ }} = {name}; first }}",
            f"{{ let (first, _) = parted(&{name}); first }}",
            f"{{ let mut its = {name}; *same(first_of(&mut its)) }}",
        ]
    )
    return f"{{ let {name} = Pair<{type_}, {other}> {{ first: {one}, second: {two} }}; {taken} }}"


def _of_an_enum(write: "Expressions", type_: str, depth: int) -> str:
    name = write.name("g")
    either = f"Either<{type_}, {type_}>"
    one, two, default = (write.expression(type_, depth) for _ in range(3))
    made = write.chance.choice(
        [
            f"neither<{type_}, {type_}>()",
            f"{either}::Left({one})",
            f"{either}::Right {{ value: {one} }}",
            f"{either}::Both({one}, {two})",
        ]
    )
    kept = write.name("g")
    taken = write.chance.choice(
        [
            f"folded({name}, {kept})",
            f"left_or(&{name}, &{kept})",
            f"{{ let mut its = {name}; set_left(&mut its, {kept}); left_or(&its, &{kept}) }}",
            (
                f"{{ let mut its = {name}; set_left(&mut its, {kept});"
                f" let left = left_mut(&mut its); *left = {kept}; folded(its, {kept}) }}"
            ),
            f"{{ let mut its = {name}; its = Either::Left({kept}); *left_mut(&mut its) }}",
        ]
    )
    return f"{{ let {name} = {made}; let {kept}: {type_} = {default}; {taken} }}"


def _of_a_vector(write: "Expressions", type_: str, depth: int) -> str:
    value, times = write.expression(type_, depth), write.chance.randrange(5)
    name = write.name("g")
    place = write.expression("u64", depth)
    taken = write.chance.choice(
        [
            f"{name}.pop_back()",
            f"{name}.swap_remove(0)",
            f"*element(&mut {name}, i)",
            f"{{ {name}.reverse(); let mut last = vector[{name}]; *&last[0][i % 1] }}",
        ]
    )
    return f"{{ let i = {place}; let mut {name} = repeated<{type_}>({value}, {times}); {taken} }}"


def _deep(write: "Expressions", type_: str, depth: int) -> str:
    return f"deep<{type_}>({write.expression(type_, depth)}, {write.chance.randrange(6)})"


OF_GENERICS = (_of_a_pair, _of_an_enum, _of_a_vector, _deep)
