"""Statements, and programs that consist of them."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from differential.programs.expressions import CODES, Expressions
from differential.programs.references import change_behind
from differential.programs.shapes import INTEGERS, Shapes, bare, element_of, enclosed

_DEPTH = 3
PARAMETERS = [*INTEGERS, "bool", "address", "vector<u8>", "vector<u64>"]


@dataclass(frozen=True, slots=True)
class Program:
    """A public function with `statements`, and with `results` as types and expressions."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]
    results: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        """The function's source."""
        parameters = ", ".join(_declared(*parameter) for parameter in self.parameters)
        types = ", ".join(type_ for type_, _ in self.results)
        values = ", ".join(value for _, value in self.results)
        body = "\n".join(f"        {line}" for line in (*self.statements, f"({values})"))
        return f"    public fun {self.name}({parameters}): ({types}) {{\n{body}\n    }}"


def _declared(name: str, type_: str) -> str:
    return f"{name}: {type_}" if type_.startswith("&") else f"mut {name}: {type_}"


class Statements:
    """A generator of one program."""

    def __init__(self, chance: Random, shapes: Shapes) -> None:
        self._chance = chance
        self._shapes = shapes
        self._write = Expressions(chance, shapes)
        self._loops: list[str] = []
        self._results: tuple[str, ...] = ()

    def program(self, name: str) -> Program:
        """Return a program that returns the final values of its variables."""
        chance = self._chance
        parameters = [(f"p{place}", chance.choice(PARAMETERS)) for place in range(4)]
        for parameter, type_ in parameters:
            self._declare(parameter, type_)
        self._results = tuple([chance.choice(self._shapes.all) for _ in range(2)])
        statements = [self._let(_DEPTH) for _ in range(chance.randint(2, 4))]
        statements += [self._statement(_DEPTH) for _ in range(chance.randint(3, 8))]
        values = [(type_, self._write.expression(type_, 1)) for type_ in self._results]
        return Program(name, tuple(parameters), tuple(statements), tuple(values))

    def _declare(self, name: str, type_: str) -> None:
        self._write.scope[name] = type_
        self._write.changeable.append(name)

    def _statement(self, depth: int) -> str:
        return self._chance.choice(self._STATEMENTS)(self, depth).rstrip(";") + ";"

    def _block(self, depth: int) -> str:
        """Return statements whose variables end with the block."""
        scope, changeable = dict(self._write.scope), list(self._write.changeable)
        if depth > 0:
            lines = [self._statement(depth - 1) for _ in range(self._chance.randint(1, 3))]
        else:
            lines = [self._assign(0)]
        self._write.scope, self._write.changeable = scope, changeable
        return " ".join(lines)

    def _let(self, depth: int) -> str:
        type_ = self._chance.choice(self._shapes.all)
        value = self._write.expression(type_, depth)
        name = self._write.name()
        self._declare(name, type_)
        return f"let mut {name}: {type_} = {value};"

    def _assign(self, depth: int) -> str:
        name = self._chance.choice(self._write.changeable)
        type_ = self._write.scope[name]
        value = self._write.expression(type_, depth)
        # The compiler fails if optimization leaves both branches of an `if` empty.
        value = self._write.of_kind(type_, 0) if value == name else value
        return f"{name} = {value};"

    def _through_reference(self, depth: int) -> str:
        name = self._chance.choice(self._write.changeable)
        type_ = self._write.scope[name]
        value, reference = self._write.name(), self._write.name("r")
        expression = self._write.expression(type_, depth)
        if self._chance.random() < 0.5:
            return f"{{ let {value} = {expression}; replace(&mut {name}, {value}); }}"
        return (
            f"{{ let {value} = {expression}; let {reference} = &mut {name};"
            f" *{reference} = {value}; }}"
        )

    def _field(self, depth: int) -> str:
        place = self._path(self._chance.choice(self._write.changeable))
        if place is None:
            return self._assign(depth)
        path, type_ = place
        value = self._write.name()
        expression = self._write.expression(type_, depth)
        change = self._chance.choice(
            [
                f"{path} = {value};",
                f"*(&mut {path}) = {value};",
                f"replace(&mut {path}, {value});",
                f"{{ let mut other = {value}; exchange(&mut {path}, &mut other); }}",
            ]
        )
        return f"{{ let {value}: {type_} = {expression}; {change} }}"

    def _path(self, name: str) -> tuple[str, str] | None:
        """Return the path and the type of a field of a struct, possibly of a nested struct."""
        path, type_ = name, self._write.scope[name]
        if type_ not in self._shapes.structs:
            return None
        while type_ in self._shapes.structs:
            field, type_ = self._chance.choice(self._shapes.structs[type_].fields)
            path += f".{field}"
            if self._chance.random() < 0.4:
                break
        return path, type_

    def _vector(self, depth: int) -> str:
        able = [
            one for one in self._write.changeable if self._write.scope[one].startswith("vector")
        ]
        if not able:
            return self._let(depth)
        name = self._chance.choice(able)
        element = element_of(self._write.scope[name])
        value = self._write.name()
        expression = self._write.expression(element, depth)
        index = self._write.expression("u64", depth - 1)
        change = self._chance.choice(
            [
                f"{name}.push_back({value});",
                (
                    f"{name}.push_back({value});"
                    f" {{ let i = {name}.length() - 1; {name}.swap(0, i); }};"
                ),
                f"if (!{name}.is_empty()) {{ {name}.pop_back(); }};",
                f"{{ let i = {index} % ({name}.length() + 1); {name}.insert({value}, i); }};",
                (
                    f"{{ let i = {index}; if (i < {name}.length())"
                    f" {{ *(&mut {name}[i]) = {value}; }}; }};"
                ),
                (
                    f"{{ let i = {index} % 3; if (i < {name}.length())"
                    f" {{ replace(&mut {name}[i], {value}); }}; }};"
                ),
                f"{name}.reverse();",
                f"{{ let i = {index}; {name}.remove(i); }};",
                f"{name}.pop_back();",
                f"{{ let i = {index}; {name}.swap(0, i); }};",
                f"{name}.append(vector[{value}, {value}]);",
            ]
        )
        return f"{{ let {value}: {element} = {expression}; {change} }};"

    def _condition(self, depth: int) -> str:
        condition = self._write.expression("bool", depth)
        return (
            f"if ({condition}) {{ {self._block(depth - 1)} }} else {{ {self._block(depth - 1)} }};"
        )

    def _while(self, depth: int) -> str:
        count, label = self._write.name("n"), self._write.name("w")
        self._loops.append(label)
        body = self._block(depth - 1)
        self._loops.pop()
        times = self._chance.randint(1, 5)
        return (
            f"{{ let mut {count} = 0u64; '{label}: while ({count} < {times})"
            f" {{ {count} = {count} + 1; {body} }}; }};"
        )

    def _leave(self, depth: int) -> str:
        if not self._loops:
            return self._assert(depth)
        word = self._chance.choice(["break", "continue"])
        label = self._chance.choice(self._loops)
        return f"if ({self._write.expression('bool', depth)}) {word} '{label};"

    def _assert(self, depth: int) -> str:
        code = self._chance.randrange(CODES)
        condition = self._write.expression("bool", depth)
        if self._chance.random() < 0.6:
            return f"if ({condition} && p0 == p0) {{ assert!({condition} || true, {code}); }};"
        return f"assert!({condition}, {self._chance.choice([str(code), 'EFirst', 'ESecond'])});"

    def _abort(self, depth: int) -> str:
        if self._chance.random() < 0.7:
            return self._through_reference(depth)
        return (
            f"if ({self._write.expression('bool', depth)}) abort {self._chance.randrange(CODES)};"
        )

    def _return(self, depth: int) -> str:
        if self._chance.random() < 0.6:
            return self._field(depth)
        condition = self._write.expression("bool", depth)
        values = ", ".join(self._write.expression(type_, 1) for type_ in self._results)
        return f"if ({condition}) return ({values});"

    def _match(self, depth: int) -> str:
        enum = self._chance.choice(list(self._shapes.enums))
        name = self._write.name()
        value = self._write.expression(enum, depth)
        arms = []
        for variant, fields, named in self._shapes.enums[enum].variants:
            arms.append(f"{bare(enum)}::{variant}{self._arm(fields, depth, named=named)}")
        return f"{{ let mut {name} = {value}; match (&mut {name}) {{ {', '.join(arms)} }}; }};"

    def _arm(self, fields: tuple[tuple[str, str], ...], depth: int, *, named: bool) -> str:
        """Return an arm whose variables are references. The arm may change one target."""
        if not fields:
            return f" => {{ {self._block(depth - 1)} }}"
        bound = [self._write.name("b") for _ in fields]
        names = [(field, one) for (field, _), one in zip(fields, bound, strict=True)]
        place = self._chance.randrange(len(fields))
        written = self._write.expression(fields[place][1], depth - 1)
        return f"{enclosed(names, named=named)} => {{ *{bound[place]} = {written}; }}"

    def _chain(self, depth: int) -> str:
        """Return statements that change a part of a variable through a chain of references."""
        name = self._chance.choice(self._write.changeable)
        reference = self._write.name("r")
        type_ = self._write.scope.pop(name)  # unused while the reference is alive
        changed = change_behind(self._write, reference, type_, depth)
        self._write.scope[name] = type_
        return f"{{ let {reference} = &mut {name}; {changed} }};"

    _STATEMENTS: ClassVar[list[Callable[["Statements", int], str]]] = [
        _let,
        _assign,
        _assign,
        _through_reference,
        _chain,
        _chain,
        _field,
        _field,
        _vector,
        _vector,
        _condition,
        _while,
        _leave,
        _assert,
        _abort,
        _return,
        _match,
    ]
