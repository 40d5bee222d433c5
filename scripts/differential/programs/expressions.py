"""Expressions of any type, from literals to blocks."""

from collections.abc import Callable
from random import Random
from typing import ClassVar

from differential.programs.generics import OF_GENERICS
from differential.programs.numbers import integer
from differential.programs.shapes import INTEGERS, Shapes, bare, element_of, enclosed

CODES = 8
_TEXTS = ["", "a", "move", "0x2A", "hello world"]


class Expressions:
    """A generator of expressions over the variables in scope.

    `scope` maps the names of variables to their types. `changeable` contains the names of variables
    that were declared with `mut`.
    """

    def __init__(self, chance: Random, shapes: Shapes) -> None:
        self.chance = chance
        self.shapes = shapes
        self.scope: dict[str, str] = {}
        self.changeable: list[str] = []
        self._names = 0

    def name(self, prefix: str = "x") -> str:
        """Return a name that no variable of the program has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def expression(self, type_: str, depth: int) -> str:
        """Return an expression of a type. The depth limits nesting."""
        known = [name for name, its in self.scope.items() if its == type_]
        if known and self.chance.random() < (0.5 if depth > 0 else 0.8):
            return self.chance.choice(known)
        if depth > 0 and self.chance.random() < 0.35:
            return self._of_any_type(type_, depth - 1)
        return self.of_kind(type_, depth)

    def of_kind(self, type_: str, depth: int) -> str:
        """Return an expression that builds a value of a type from its parts."""
        if type_ in INTEGERS:
            return integer(self, type_, depth)
        if type_ in self.shapes.structs:
            return self._struct(type_, depth)
        if type_ in self.shapes.enums:
            return self._variant(type_, depth)
        if type_.startswith("vector<"):
            return self._vector(type_, depth)
        if type_.startswith("Option<"):
            return self._option(type_, depth)
        return self._OF_OTHERS[type_](self, depth)

    # --- Any type

    def _of_any_type(self, type_: str, depth: int) -> str:
        return f"({self.chance.choice(self._OF_ANY_TYPE)(self, type_, depth)})"

    def _conditional(self, type_: str, depth: int) -> str:
        condition = self.expression("bool", depth)
        return (
            f"if ({condition}) {self.expression(type_, depth)} else {self.expression(type_, depth)}"
        )

    def _block(self, type_: str, depth: int) -> str:
        name, its = self.name(), self.chance.choice(self.shapes.all)
        value = self.expression(its, depth)
        self.scope[name] = its
        result = self.expression(type_, depth)
        del self.scope[name]
        return f"{{ let {name}: {its} = {value}; {result} }}"

    def _labelled(self, type_: str, depth: int) -> str:
        label = self.name("l")
        condition = self.expression("bool", depth)
        return (
            f"'{label}: {{ if ({condition}) return '{label} {self.expression(type_, depth)};"
            f" {self.expression(type_, depth)} }}"
        )

    def _loop(self, type_: str, depth: int) -> str:
        count, times = self.name("n"), self.chance.randint(1, 4)
        condition = self.expression("bool", depth)
        return (
            f"{{ let mut {count} = 0u8; loop {{ {count} = {count} + 1;"
            f" if ({count} > {times} || {condition}) break {self.expression(type_, depth)}; }} }}"
        )

    def _match(self, type_: str, depth: int) -> str:
        enum = self.chance.choice(list(self.shapes.enums))
        arms = []
        for name, fields, named in self.shapes.enums[enum].variants:
            bound = [(field, self.name("b"), its) for field, its in fields]
            self.scope.update({variable: its for _, variable, its in bound})
            result = self.expression(type_, depth)
            for _, variable, _ in bound:
                del self.scope[variable]
            pattern = enclosed([(field, variable) for field, variable, _ in bound], named=named)
            arms.append(f"{bare(enum)}::{name}{pattern} => {result}")
        return f"match ({self.expression(enum, depth)}) {{ {', '.join(arms)} }}"

    def _dereference(self, type_: str, depth: int) -> str:
        name = self.name()
        return f"{{ let {name} = {self.expression(type_, depth)}; *&{name} }}"

    def _chosen(self, type_: str, depth: int) -> str:
        one, other = self.name(), self.name()
        condition = self.expression("bool", depth)
        return (
            f"{{ let {one} = {self.expression(type_, depth)};"
            f" let {other} = {self.expression(type_, depth)};"
            f" *choose({condition}, &{one}, &{other}) }}"
        )

    def _field(self, type_: str, depth: int) -> str:
        able = [
            (struct, field)
            for struct in self.shapes.structs.values()
            for field, its in struct.fields
            if its == type_
        ]
        if not able:
            return self.of_kind(type_, depth)
        struct, field = self.chance.choice(able)
        value = self.expression(struct.text, depth)
        if self.chance.random() < 0.5:
            name = self.name()
            return f"{{ let {name} = {value}; {name}.{field} }}"
        bound = [(one, self.name("u")) for one, _ in struct.fields]
        pattern = f"{bare(struct.text)}{enclosed(bound, named=struct.named)}"
        return f"{{ let {pattern} = {value}; {dict(bound)[field]} }}"

    def _element(self, type_: str, depth: int) -> str:
        if f"vector<{type_}>" not in self.shapes.vectors:
            return self.of_kind(type_, depth)
        name = self.name()
        vector = self.expression(f"vector<{type_}>", depth)
        index = self.expression("u64", depth)
        if self.chance.random() < 0.8:
            other = self.expression(type_, depth)
            return (
                f"{{ let {name} = {vector}; let i = {index}; if ({name}.is_empty()) {other}"
                f" else {name}[i % {name}.length()] }}"
            )
        return f"{{ let {name} = {vector}; let i = {index}; {name}[i] }}"

    def _unwrapped(self, type_: str, depth: int) -> str:
        if f"Option<{type_}>" not in self.shapes.options:
            return self.of_kind(type_, depth)
        option = self.expression(f"Option<{type_}>", depth)
        if self.chance.random() < 0.3:
            return f"option::destroy_some({option})"
        return f"option::destroy_with_default({option}, {self.expression(type_, depth)})"

    def _macro(self, type_: str, depth: int) -> str:
        argument = self.name("a")
        self.scope[argument] = type_
        body = self.expression(type_, depth)
        del self.scope[argument]
        return f"twice!<{type_}>({self.expression(type_, depth)}, |{argument}| {body})"

    # --- Specific kinds

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self.chance.choice(["true", "false"])
        return self.chance.choice(self._OF_BOOLEANS)(self, depth - 1)

    def _compared(self, depth: int) -> str:
        type_ = self.chance.choice(list(INTEGERS))
        operator = self.chance.choice(["<", "<=", ">", ">=", "==", "!="])
        one, other = self.expression(type_, depth), self.expression(type_, depth)
        return f"({one} {operator} {other})"

    def _equal(self, depth: int) -> str:
        type_ = self.chance.choice(self.shapes.all)
        operator = self.chance.choice(["==", "!="])
        one, other = self.expression(type_, depth), self.expression(type_, depth)
        return f"({one} {operator} {other})"

    def _logic(self, depth: int) -> str:
        one, other = self.expression("bool", depth), self.expression("bool", depth)
        return f"({one} {self.chance.choice(['&&', '||'])} {other})"

    def _not(self, depth: int) -> str:
        return f"!{self.expression('bool', depth)}"

    def _contained(self, depth: int) -> str:
        vector = self.chance.choice(self.shapes.vectors)
        name = self.name()
        value = self.expression(element_of(vector), depth)
        return f"({{ let {name} = {value}; ({self.expression(vector, depth)}).contains(&{name}) }})"

    def _is_some(self, depth: int) -> str:
        option = self.chance.choice(self.shapes.options)
        name = self.name()
        value = self.expression(option, depth)
        return f"({{ let {name} = {value}; option::is_some(&{name}) }})"

    def _address(self, _: int) -> str:
        return f"@{self.chance.choice([0, 1, 2, 0xCAFE, self.chance.randrange(1 << 256)]):#x}"

    def _string(self, depth: int) -> str:
        if depth > 0 and self.chance.random() < 0.5:
            name = self.name()
            one, other = self.expression("String", depth - 1), self.expression("String", depth - 1)
            return f"({{ let mut {name} = {one}; string::append(&mut {name}, {other}); {name} }})"
        if depth > 0 and self.chance.random() < 0.3:
            name, start = self.name(), self.expression("u64", depth - 1)
            return (
                f"({{ let {name} = {self.expression('String', depth - 1)};"
                f" let i = {start} % ({name}.length() + 2);"
                f" string::substring(&{name}, i, {name}.length()) }})"
            )
        return f'string::utf8(b"{self.chance.choice(_TEXTS)}")'

    def _struct(self, type_: str, depth: int) -> str:
        struct = self.shapes.structs[type_]
        values = [(field, self.expression(its, depth - 1)) for field, its in struct.fields]
        return f"{type_}{enclosed(values, named=struct.named)}"

    def _variant(self, type_: str, depth: int) -> str:
        name, fields, named = self.chance.choice(self.shapes.enums[type_].variants)
        values = [(field, self.expression(its, depth - 1)) for field, its in fields]
        if not values and type_ != bare(type_):
            return f"neither{type_.removeprefix(bare(type_))}()"
        return f"{type_}::{name}{enclosed(values, named=named)}"

    def _vector(self, type_: str, depth: int) -> str:
        if type_ == "vector<u8>" and self.chance.random() < 0.5:
            return f'b"{self.chance.choice(_TEXTS)}"'
        if type_ == "vector<u8>" and depth > 0 and self.chance.random() < 0.3:
            return self._bytes(depth - 1)
        element = element_of(type_)
        length = self.chance.choice([0, 1, 2, 3]) if depth > 0 else self.chance.choice([0, 1])
        values = [self.expression(element, depth - 1) for _ in range(length)]
        return f"vector<{element}>[{', '.join(values)}]"

    def _bytes(self, depth: int) -> str:
        """Return a call of a native function that returns bytes."""
        name, its = self.name(), self.chance.choice(self.shapes.all)
        value = self.expression(its, depth)
        made = self.chance.choice(
            [
                f"bcs::to_bytes(&{name})",
                f"hash::sha3_256(bcs::to_bytes(&{name}))",
                f"hash::sha2_256(bcs::to_bytes(&{name}))",
                f"type_name::with_original_ids<{its}>().into_string().into_bytes()",
            ]
        )
        return f"({{ let {name}: {its} = {value}; {made} }})"

    def _option(self, type_: str, depth: int) -> str:
        element = element_of(type_)
        if self.chance.random() < 0.3:
            return f"option::none<{element}>()"
        return f"option::some<{element}>({self.expression(element, depth - 1)})"

    _OF_ANY_TYPE: ClassVar[list[Callable[["Expressions", str, int], str]]] = [
        _conditional,
        _block,
        _labelled,
        _loop,
        _match,
        _dereference,
        _chosen,
        _field,
        _element,
        _unwrapped,
        _macro,
        *OF_GENERICS,
    ]

    _OF_BOOLEANS: ClassVar[list[Callable[["Expressions", int], str]]] = [
        _compared,
        _compared,
        _equal,
        _logic,
        _not,
        _contained,
        _is_some,
    ]

    _OF_OTHERS: ClassVar[dict[str, Callable[["Expressions", int], str]]] = {
        "bool": _boolean,
        "address": _address,
        "String": _string,
    }
