"""Mutants of a Move source: the source with one small change that a test should detect.

Test code, error codes and comments are not changed. Binary operators are recognized by the spaces
around them, which the formatter inserts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from nexus_tools.sui.move_source import (
    SourceFunction,
    SourceModule,
    Token,
    closing,
    is_unpublished,
    line_of,
    read_modules,
    tokens_of,
)

# The replacements of each operator.
_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_CONNECTIVES = {"&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*"}
_OPERATORS = {
    **dict.fromkeys(_COMPARISONS, "comparison"),
    **dict.fromkeys(_CONNECTIVES, "connective"),
    **dict.fromkeys(_ARITHMETIC, "arithmetic"),
}
_REPLACED = {**_COMPARISONS, **_CONNECTIVES, **_ARITHMETIC}
_SIGNS_OF_TWO = frozenset({"<=", ">=", "==", "!=", "&&", "||", "=>"})

_NUMBER = re.compile(r"(0x[0-9A-Fa-f_]+|[0-9][0-9_]*)((?:u8|u16|u32|u64|u128|u256)?)")
_AMOUNT = re.compile(r"\w+_(mist|ms|bytes)")
_ERROR = re.compile(r"E[A-Z][a-z]\w*")
# The first tokens of statements that can be removed.
_STATEMENT = re.compile(r"(?!let\b|else\b)\w+|\*")
_AFTER_AMOUNT = frozenset({")", "}", ",", ";", *_REPLACED})
_BEFORE_AMOUNT = frozenset({"(", "{", ";", ",", ":", "=", *_REPLACED})
_SENDER = ("ctx", ".", "sender", "(", ")")
_STRANGER = "@0xBAD"
_SHOWN_MAX = 70


@dataclass(frozen=True)
class Mutant:
    """The source of `path`, in which `after` replaces the text from `start` to `end`.

    `line` is counted from 1. `before` is the replaced text, and `kind` is the kind of the change.
    """

    path: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    @property
    def module(self) -> str:
        """The name of the module, which is also the name of its file."""
        return PurePath(self.path).stem

    def applied_to(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.start] + self.after + source[self.end :]

    def __str__(self) -> str:
        before, after = _shown(self.before), _shown(self.after)
        return f"{self.path}:{self.line}: {self.kind}: {before} -> {after or 'nothing'}"


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return all mutants of a source file, in the order of their positions."""
    changes = {change for module in read_modules(source) for change in _Code(source, module).all()}
    return [
        Mutant(path, line_of(source, start), kind, start, end, source[start:end], after)
        for start, end, kind, after in sorted(changes)
    ]


def _shown(code: str) -> str:
    text = " ".join(code.split())
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


# Start, end, kind and replacement of a change.
_Change = tuple[int, int, str, str]


class _Code:
    """The code of a module without its tests."""

    def __init__(self, source: str, module: SourceModule) -> None:
        self._source = source
        self._module = module

    def all(self) -> Iterator[_Change]:
        if is_unpublished(self._module.attributes):
            return
        yield from self._constants()
        for function in self._module.functions:
            if function.body and not is_unpublished(function.attributes):
                yield from self._function(function)

    def _constants(self) -> Iterator[_Change]:
        tokens = tokens_of(self._source)
        for place, token in enumerate(tokens):
            if token.text == "const" and not _ERROR.fullmatch(tokens[place + 1].text):
                end = next(i for i in range(place, len(tokens)) if tokens[i].text == ";")
                yield from _literals(tokens[place:end], "constant")

    def _function(self, function: SourceFunction) -> Iterator[_Change]:
        body = _joined(function.body)
        yield from _literals(body, "literal")
        yield from self._operators(body)
        yield from self._conditions(body)
        yield from self._statements(body)
        yield from self._amounts(body)
        yield from self._variants(body)
        yield from _senders(body)
        if function.returns == "bool" and all(token.text != ";" for token in body):
            yield self._negated(body[1].start, body[-2].end)

    def _operators(self, body: Sequence[Token]) -> Iterator[_Change]:
        for before, token in pairwise(body):
            kind = _OPERATORS.get(token.text)
            if kind is not None and self._is_binary(token):
                yield token.start, token.end, kind, _REPLACED[token.text]
            if token.text == "!" and before.end < token.start:
                yield token.start, token.end, "negation dropped", ""

    def _is_binary(self, token: Token) -> bool:
        around = self._source[token.start - 1], self._source[token.end]
        return all(sign.isspace() for sign in around)

    def _conditions(self, body: Sequence[Token]) -> Iterator[_Change]:
        for place, token in enumerate(body):
            start = place + (2 if token.text == "assert" else 1)
            if token.text in {"if", "while", "assert"} and body[start].text == "(":
                end = _argument_end(body, start)
                yield self._negated(body[start + 1].start, body[end - 1].end)

    def _negated(self, start: int, end: int) -> _Change:
        return start, end, "condition negated", f"!({self._source[start:end]})"

    def _statements(self, body: Sequence[Token]) -> Iterator[_Change]:
        for place, token in enumerate(body[:-1]):
            first = body[place + 1]
            if token.text in {"{", ";", "}"} and _STATEMENT.fullmatch(first.text):
                end = _statement_end(body, place + 1)
                if end is not None:
                    what = "assertion" if first.text == "assert" else "statement"
                    yield first.start, body[end].end, f"{what} dropped", ""

    def _amounts(self, body: Sequence[Token]) -> Iterator[_Change]:
        for place in range(1, len(body) - 1):
            token = body[place]
            if not _AMOUNT.fullmatch(token.text) or body[place + 1].text not in _AFTER_AMOUNT:
                continue
            first = _path_start(body, place)
            is_name = first == place and _is_name(body, place)
            if is_name or body[first - 1].text not in _BEFORE_AMOUNT:
                continue
            path = self._source[body[first].start : token.end]
            for after in (f"({path} + 1)", f"({path} - 1)", "0"):
                yield body[first].start, token.end, "amount", after

    def _variants(self, body: Sequence[Token]) -> Iterator[_Change]:
        """Yield replacements of a variant by another variant of the enum with the same fields."""
        shapes: Mapping[str, Mapping[str, object]] = {
            enum.name: {
                variant.name: [field.type for field in variant.fields] for variant in enum.variants
            }
            for enum in self._module.enums
        }
        for enum, path, variant in zip(body, body[1:], body[2:], strict=False):
            if enum.text in shapes and path.text == "::":
                variants = shapes[enum.text]
                for name, shape in variants.items():
                    if name != variant.text and shape == variants[variant.text]:
                        yield variant.start, variant.end, "variant", name


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with operators of two characters joined."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last and last.end == token.start and last.text + token.text in _SIGNS_OF_TWO:
            joined[-1] = Token(last.text + token.text, last.start, token.end)
        else:
            joined.append(token)
    return joined


def _literals(tokens: Sequence[Token], kind: str) -> Iterator[_Change]:
    for token in tokens:
        for after in _other_literals(token.text):
            yield token.start, token.end, kind, after


def _other_literals(text: str) -> list[str]:
    """Return the replacements of a number, a boolean, an address or a string."""
    if number := _NUMBER.fullmatch(text):
        value, suffix = int(number[1].replace("_", ""), 0), number[2]
        return [f"{other}{suffix}" for other in (value + 1, value - 1) if other >= 0]
    if text.startswith("@0x"):
        return [f"@{int(text[1:], 0) + 1:#x}"]
    if text.startswith('b"') and len(text) > len('b""'):
        return [f'{text[:-2]}"']
    return {"true": ["false"], "false": ["true"]}.get(text, [])


def _argument_end(body: Sequence[Token], opening: int) -> int:
    """Return the end of the first argument after a bracket: a comma or the closing bracket."""
    place, end = opening + 1, closing(body, opening)
    while place < end and body[place].text != ",":
        place = closing(body, place) + 1 if body[place].text in {"(", "[", "{"} else place + 1
    return min(place, end)


def _statement_end(body: Sequence[Token], place: int) -> int | None:
    """Return the position of the `;` that ends a statement, or None if this is not a statement."""
    while place < len(body):
        text = body[place].text
        if text == ";":
            return place
        if text in {")", "]", "}", ","}:
            return None
        place = closing(body, place) + 1 if text in {"(", "[", "{"} else place + 1
    return None


def _path_start(body: Sequence[Token], place: int) -> int:
    """Return the position of `a` in `a.b.c`, if `c` is at `place`."""
    while body[place - 1].text == "." and body[place - 2].text.isidentifier():
        place -= 2
    return place


def _is_name(body: Sequence[Token], place: int) -> bool:
    """Return whether a word is a name in a pattern or a shorthand field. Other words are values."""
    depth = 0
    for index in range(place - 1, -1, -1):
        text = body[index].text
        depth += (text in {")", "]", "}"}) - (text in {"(", "[", "{"})
        if depth < 0:
            if text == "{":
                return body[place - 1].text not in {":", "=", *_REPLACED}
            return body[index - 1].text == "let"
    return False


def _senders(body: Sequence[Token]) -> Iterator[_Change]:
    for place in range(len(body) - len(_SENDER)):
        found = body[place : place + len(_SENDER)]
        if tuple(token.text for token in found) == _SENDER:
            yield found[0].start, found[-1].end, "sender", _STRANGER
