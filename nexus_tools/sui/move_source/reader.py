"""The parser of the declarations in a Move source.

The parser accepts any text, and skips text that is not a declaration. Expressions are not parsed.
The body of a function is a list of the tokens between brackets.
"""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.sui.move_source.declarations import (
    Attribute,
    SourceConstant,
    SourceEnum,
    SourceField,
    SourceFunction,
    SourceImport,
    SourceModule,
    SourceParameter,
    SourceStruct,
    SourceVariant,
)
from nexus_tools.sui.move_source.tokens import Token, closing, split, tokens_of

_BRACKETS = frozenset("([{")
_IMPORTS = frozenset({"use", "friend"})
_MODIFIERS = frozenset({"public", "entry", "native", "macro"})
# The words in a type that need a space after them, as in `&mut T`.
_SPACED = frozenset({"mut", "phantom"})


def read_modules(source: str) -> tuple[SourceModule, ...]:
    """Return the modules of a source file."""
    return _Reader(tokens_of(source)).modules()


class _Prefix:
    """The comments, attributes and modifiers before a declaration's keyword."""

    def __init__(self) -> None:
        self.doc: list[str] = []
        self.attributes: list[Attribute] = []
        self.words: list[str] = []
        self.entry: Token | None = None

    def read_doc(self) -> str:
        return "\n".join(text for text in self.doc if text)


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._position = 0

    # --- Moving

    def _text(self, offset: int = 0) -> str:
        index = self._position + offset
        return self._tokens[index].text if index < len(self._tokens) else ""

    def _take(self) -> str:
        self._position += 1
        return self._text(-1)

    def _until(self, *ends: str) -> Sequence[Token]:
        """Return the tokens before the next token in `ends` that is not inside brackets."""
        start = self._position
        while self._text() and self._text() not in ends:
            self._pass()
        return self._tokens[start : self._position]

    def _pass(self) -> None:
        if self._text() in _BRACKETS:
            self._position = closing(self._tokens, self._position)
        self._position += 1

    def _bracketed(self) -> Sequence[Token]:
        """Return the tokens inside the bracket that starts at the current position."""
        start = self._position
        self._position = closing(self._tokens, start) + 1
        return self._tokens[start + 1 : self._position - 1]

    # --- Modules

    def modules(self) -> tuple[SourceModule, ...]:
        modules = []
        while self._text():
            prefix = self._prefix()
            if self._text() == "module":
                modules.append(self._module(prefix))
            elif self._text() == "script":
                self._until("{")
                self._pass()
            elif self._text():
                self._position += 1  # enter an `address` block or skip an unknown token
        return tuple(modules)

    def _module(self, prefix: _Prefix) -> SourceModule:
        self._position += 1
        name = [token.text for token in self._until(";", "{")]
        is_block = self._text() == "{"
        items = _Items()
        if is_block:
            _Reader(self._bracketed()).items(items)
        else:
            self._position += 1
            self.items(items)
        return SourceModule(
            "".join(name[:-2]),
            name[-1] if name else "",
            prefix.read_doc(),
            tuple(prefix.attributes),
            tuple(items.structs),
            tuple(items.enums),
            tuple(items.constants),
            tuple(items.functions),
            tuple(items.imports),
        )

    # --- Items of a module

    def items(self, items: "_Items") -> None:
        """Read items until the end of the file or the next module."""
        while self._text():
            start = self._position
            prefix = self._prefix()
            # Only `module a::b` starts another module. The word `module` alone may be unknown text.
            if self._text() == "module" and self._text(2) == "::":
                self._position = start
                return
            self._item(prefix, items)

    def _item(self, prefix: _Prefix, items: "_Items") -> None:
        keyword = self._text()
        readers: dict[str, tuple[Callable[[_Prefix], Any], list[Any]]] = {
            "struct": (self._struct, items.structs),
            "enum": (self._enum, items.enums),
            "const": (self._constant, items.constants),
            "fun": (self._function, items.functions),
        }
        if keyword in readers and _name(self._text(1)).isidentifier():
            self._position += 1
            read, declarations = readers[keyword]
            declarations.append(read(prefix))
        elif keyword in _IMPORTS:
            words = tuple(token.text for token in self._until(";"))
            items.imports.append(SourceImport(keyword, tuple(prefix.attributes), words[1:]))
        elif keyword == "spec":
            self._until("{", ";")
            self._pass()
        else:
            self._pass()

    def _prefix(self) -> _Prefix:
        """Read the comments, attributes and modifiers before the keyword of a declaration."""
        prefix = _Prefix()
        while self._position < len(self._tokens):
            prefix.doc.append(self._tokens[self._position].doc)
            if self._text() == "#" and self._text(1) == "[":
                prefix.attributes += self._attributes()
            elif self._text() in _MODIFIERS:
                if self._text() == "entry":
                    prefix.entry = self._tokens[self._position]
                prefix.words.append(self._take())
                if self._text() == "(":
                    inside = "".join(token.text for token in self._bracketed())
                    prefix.words[-1] += f"({inside})"
            else:
                return prefix
        return prefix

    def _attributes(self) -> list[Attribute]:
        start = self._tokens[self._position].start
        self._position += 1
        parts = split(self._bracketed())
        group = start, self._tokens[min(self._position, len(self._tokens)) - 1].end
        return [_attribute(part, group) for part in parts]

    def _struct(self, prefix: _Prefix) -> SourceStruct:
        name = _name(self._take())
        type_parameters = self._type_parameters()
        fields: tuple[SourceField, ...] = ()
        words = [token.text for token in self._until("{", "(", ";")]
        if self._text() in _BRACKETS:
            bracket = self._text()
            fields = _fields(bracket, self._bracketed())
            if bracket == "(" and self._text() == "has":  # without `has`, `;` may be missing
                words += [token.text for token in self._until(";")]
        return SourceStruct(
            name,
            prefix.read_doc(),
            tuple(prefix.attributes),
            type_parameters,
            tuple(word for word in words if word not in ("has", ",")),
            fields,
            "public" in prefix.words,
        )

    def _enum(self, prefix: _Prefix) -> SourceEnum:
        name = _name(self._take())
        type_parameters = self._type_parameters()
        self._until("{", ";")
        variants = self._bracketed() if self._text() == "{" else ()
        return SourceEnum(
            name,
            prefix.read_doc(),
            tuple(prefix.attributes),
            type_parameters,
            tuple(_variant(part) for part in split(variants)),
            "public" in prefix.words,
        )

    def _constant(self, prefix: _Prefix) -> SourceConstant:
        name = _name(self._take())
        self._position += 1
        kind = _join_tokens(self._until("=", ";"))
        self._position += 1
        value = tuple(token.text for token in self._until(";"))
        self._position += 1
        return SourceConstant(name, prefix.read_doc(), tuple(prefix.attributes), kind, value)

    def _function(self, prefix: _Prefix) -> SourceFunction:
        token = self._tokens[self._position]
        self._position += 1
        type_parameters = self._type_parameters()
        self._until("(", "{", ";")
        parameters = self._bracketed() if self._text() == "(" else ()
        returns = [word.text for word in self._until("{", ";")]
        if "acquires" in returns:
            returns = returns[: returns.index("acquires")]
        return SourceFunction(
            _name(token.text),
            prefix.read_doc(),
            tuple(prefix.attributes),
            next((word for word in prefix.words if word.startswith("public")), ""),
            "macro" in prefix.words,
            type_parameters,
            tuple(_parameter(part) for part in split(parameters)),
            _join_words(returns[1:]),
            token,
            prefix.entry,
            tuple(self._body()),
        )

    def _body(self) -> Sequence[Token]:
        if self._text() != "{":
            return ()
        start = self._position
        self._position = min(closing(self._tokens, start) + 1, len(self._tokens))
        return self._tokens[start : self._position]

    def _type_parameters(self) -> tuple[str, ...]:
        """Return the names in the `<...>` at the current position, or () without a `<`."""
        if self._text() != "<":
            return ()
        start, depth = self._position + 1, 0
        while self._text():
            depth += (self._text() == "<") - (self._text() == ">")
            self._position += 1
            if depth == 0:
                break
        parts = split(self._tokens[start : self._position - 1])
        return tuple(_name_of_type_parameter(part) for part in parts)


class _Items:
    """The declarations of a module that have been read so far."""

    def __init__(self) -> None:
        self.structs: list[SourceStruct] = []
        self.enums: list[SourceEnum] = []
        self.constants: list[SourceConstant] = []
        self.functions: list[SourceFunction] = []
        self.imports: list[SourceImport] = []


def _attribute(tokens: Sequence[Token], group: tuple[int, int]) -> Attribute:
    arguments = [
        (part[0].text, tuple(token.text for token in part[2:])) for part in split(tokens[2:-1])
    ]
    return Attribute(tokens[0].text, tuple(arguments), tuple(tokens), group)


def _variant(tokens: Sequence[Token]) -> SourceVariant:
    start, doc = _after_attributes(tokens)
    fields: tuple[SourceField, ...] = ()
    if start + 1 < len(tokens):
        inner = tokens[start + 2 : closing(tokens, start + 1)]
        fields = _fields(tokens[start + 1].text, inner)
    name = _name(tokens[start].text) if start < len(tokens) else ""
    return SourceVariant(name, doc, fields)


def _fields(bracket: str, tokens: Sequence[Token]) -> tuple[SourceField, ...]:
    return tuple(
        _positional(index, part) if bracket == "(" else _field(part)
        for index, part in enumerate(split(tokens))
    )


def _positional(index: int, tokens: Sequence[Token]) -> SourceField:
    start, doc = _after_attributes(tokens)
    return SourceField(str(index), _join_tokens(tokens[start:]), doc)


def _field(tokens: Sequence[Token]) -> SourceField:
    start, doc = _after_attributes(tokens)
    name = _name(tokens[start].text) if start < len(tokens) else ""
    return SourceField(name, _join_tokens(tokens[start + 2 :]), doc)


def _after_attributes(tokens: Sequence[Token]) -> tuple[int, str]:
    """Return the index of the first token after attributes, and the doc comments before it."""
    index, docs = 0, []
    while index < len(tokens):
        docs.append(tokens[index].doc)
        if tokens[index].text != "#":
            break
        index = closing(tokens, index + 1) + 1
    return index, "\n".join(filter(None, docs))


def _parameter(tokens: Sequence[Token]) -> SourceParameter:
    """Parse `name: T`, `mut name: T`, or a macro's `$name: T`."""
    words = [token.text for token in tokens if token.text != "mut"]
    colon = words.index(":") if ":" in words else len(words)
    words_with_mut = [token.text for token in tokens]
    start = words_with_mut.index(":") + 1 if ":" in words_with_mut else len(words_with_mut)
    return SourceParameter(_name("".join(words[:colon])), _join_words(words_with_mut[start:]))


def _name_of_type_parameter(tokens: Sequence[Token]) -> str:
    words = [token.text for token in tokens if token.text != "phantom"]
    return _name(words[0]) if words else ""


def _name(word: str) -> str:
    """Return a name without the `$` of a macro parameter or the backticks of an escaped keyword."""
    return word.strip("$`")


def _join_tokens(tokens: Sequence[Token]) -> str:
    return _join_words([token.text for token in tokens])


def _join_words(words: Sequence[str]) -> str:
    text = "".join(f"{word} " if word in _SPACED or word == "," else word for word in words)
    return text.strip()
