"""Finding tests in Move sources, and making ordinary code of them.

The compiler's test mode puts a function into each module, which its verifier then refuses in
`sui::transfer`. Its other modes do not: an item with the attribute `mode(MODE, test)` is compiled
if MODE is asked for, and it may do what tests may, such as calling `init`. So each attribute of a
test becomes this one. Lines stay where they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.move_test.source_text import Token, line_of, tokens_of

MODE = "unit_testing"

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_TEST_NAMES = frozenset({"test", "random_test", "test_only", "expected_failure"})
_NOT_PUBLISHED = frozenset({"test", "random_test", "test_only", "mode", "spec_only", "verify_only"})
_OPERATORS = frozenset({"as", "else"})

Argument = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name`, or `name(key = value, ...)`; values are tokens, and a bare key has none."""

    name: str
    arguments: tuple[tuple[str, Argument], ...] = ()

    def argument(self, key: str) -> Argument | None:
        """The value of a key, empty for a bare one."""
        return dict(self.arguments).get(key)


@dataclass(frozen=True, slots=True)
class MoveTest:
    """A test: where it is, and what its attributes say."""

    module: str
    name: str
    path: str
    line: int
    is_random: bool
    arguments: tuple[tuple[str, Argument], ...]
    expected_failure: Attribute | None

    @property
    def title(self) -> str:
        """`module::function`, with the named address of the module."""
        return f"{self.module}::{self.name}"


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """The code of a function: `tokens` from its `{` to its `}`.

    `is_test_only` is code that is not published: of a test, of a module for tests.
    """

    module: str
    name: str
    line: int
    is_test_only: bool
    tokens: tuple[Token, ...]


@dataclass(slots=True)
class MoveTestSource:
    """A source file as ordinary code, and the tests and names that it had.

    `constants` are by (module, name) their values as tokens, `functions` the lines of functions,
    `uses` the names that a module gives to others; `bodies` are where they were in the source.
    """

    text: str
    tests: list[MoveTest] = field(default_factory=list)
    constants: dict[tuple[str, str], Argument] = field(default_factory=dict)
    functions: dict[tuple[str, str], int] = field(default_factory=dict)
    uses: dict[tuple[str, str], str] = field(default_factory=dict)
    bodies: list[FunctionBody] = field(default_factory=list)


def read_test_source(path: str, source: str) -> MoveTestSource:
    """The ordinary code of a source file, and its tests."""
    return _Reader(path, source).read()


class _Reader:
    def __init__(self, path: str, source: str) -> None:
        self._path = path
        self._source = source
        self._tokens = tokens_of(source)
        self._position = 0
        self._module = ""
        self._is_test_only = path.startswith("tests/")
        self._module_is_test_only = self._is_test_only
        self._pending: list[Attribute] = []
        self._changes: list[tuple[int, int, str]] = []
        self._result = MoveTestSource("")

    def read(self) -> MoveTestSource:
        while self._position < len(self._tokens):
            self._step()
        text, end = [], 0
        for start, stop, replacement in self._changes:
            text += [self._source[end:start], replacement]
            end = stop
        self._result.text = "".join(text) + self._source[end:]
        return self._result

    def _step(self) -> None:
        token = self._tokens[self._position]
        step = {
            "#": self._attributes,
            "module": self._enter_module,
            "const": self._constant,
            "entry": self._entry,
            "fun": self._function,
            "use": self._use,
            "spec": self._specification,
        }.get(token.text)
        if step is None:
            if token.text in ("struct", "enum", ";"):
                self._pending = []
            self._position += 1
        else:
            step()

    def _text(self, offset: int = 0) -> str:
        index = self._position + offset
        return self._tokens[index].text if index < len(self._tokens) else ""

    def _until(self, *ends: str) -> list[Token]:
        """The tokens before one of the ends, which is left where it is."""
        start = self._position
        while self._text() not in (*ends, ""):
            self._position += 1
        return self._tokens[start : self._position]

    def _attributes(self) -> None:
        if self._text(1) != "[":
            self._position += 1
            return
        start = self._tokens[self._position].start
        close = _closing(self._tokens, self._position + 1)
        inner = self._tokens[self._position + 2 : close]
        self._position = close + 1
        end = self._tokens[min(close, len(self._tokens) - 1)].end
        parts = [part for part in _split(inner) if part]
        attributes = [_attribute(part) for part in parts]
        self._pending += attributes
        if any(attribute.name in _TEST_NAMES for attribute in attributes):
            self._replace(start, end, parts, attributes)

    def _replace(
        self, start: int, end: int, parts: Sequence[list[Token]], attributes: Sequence[Attribute]
    ) -> None:
        kept = [
            self._source[part[0].start : part[-1].end]
            for part, attribute in zip(parts, attributes, strict=True)
            if attribute.name not in _TEST_NAMES
        ]
        if any(attribute.name in _TEST_NAMES - {"expected_failure"} for attribute in attributes):
            kept.append(f"mode({MODE}, test)")
        lines = "\n" * self._source.count("\n", start, end)
        text = f"#[{', '.join(kept)}]" if kept else ""
        # A kept attribute may have line ends of its own.
        self._changes.append((start, end, text + lines[text.count("\n") :]))

    def _enter_module(self) -> None:
        self._module_is_test_only = self._is_test_only or self._is_pending(_NOT_PUBLISHED)
        self._pending = []
        self._position += 1
        words = self._until(";", "{")
        self._module = "".join(token.text for token in words)

    def _constant(self) -> None:
        self._pending = []
        self._position += 1
        name = self._text()
        self._until("=")
        self._position += 1
        value = tuple(token.text for token in self._until(";"))
        self._result.constants[self._module, name] = value

    def _use(self) -> None:
        self._pending = []
        self._position += 1
        for name, target in _imports([token.text for token in self._until(";")]):
            self._result.uses[self._module, name] = target

    def _is_pending(self, names: frozenset[str]) -> bool:
        return any(attribute.name in names for attribute in self._pending)

    def _specification(self) -> None:
        """Pass what is written for the prover; `spec` may be an ordinary name, too."""
        following = self._text(1)
        is_item = following == "{" or (following.isidentifier() and following not in _OPERATORS)
        if is_item and self._until("{", ";") and self._text() == "{":
            self._position = _closing(self._tokens, self._position)
        self._position += 1

    def _entry(self) -> None:
        """Tests may call entry functions, those that are not public, too."""
        token = self._tokens[self._position]
        before = self._tokens[self._position - 1].text if self._position else ""
        # `public(package) entry fun` has a visibility of its own.
        if self._text(1) == "fun" and before not in ("public", ")"):
            self._changes.append((token.start, token.start, "public "))
        self._position += 1

    def _function(self) -> None:
        self._position += 1
        is_test_only = self._module_is_test_only or self._is_pending(_NOT_PUBLISHED)
        attributes, self._pending = self._pending, []
        token = self._tokens[self._position]
        line = line_of(self._source, token.start)
        self._result.functions[self._module, token.text] = line
        body = tuple(self._body())
        if body:
            self._result.bodies.append(
                FunctionBody(self._module, token.text, line, is_test_only, body)
            )
        named = {attribute.name: attribute for attribute in attributes}
        mark = named.get("test") or named.get("random_test")
        if mark is None:
            return
        self._result.tests.append(
            MoveTest(
                self._module,
                token.text,
                self._path,
                line,
                mark.name == "random_test",
                mark.arguments,
                named.get("expected_failure"),
            )
        )

    def _body(self) -> Sequence[Token]:
        """The tokens of the function whose name is next; none if it is native."""
        index = self._position
        while index < len(self._tokens) and self._tokens[index].text not in ("{", ";"):
            index += 1
        if index == len(self._tokens) or self._tokens[index].text == ";":
            return ()
        return self._tokens[index : _closing(self._tokens, index) + 1]


def _closing(tokens: Sequence[Token], position: int) -> int:
    """The place of the bracket that closes the one at `position`."""
    depth = 0
    for index in range(position, len(tokens)):
        depth += (tokens[index].text in _OPEN) - (tokens[index].text in _CLOSE)
        if depth == 0:
            return index
    return len(tokens)


def _split(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The parts between commas that stand in no bracket."""
    part: list[Token] = []
    depth = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _attribute(tokens: Sequence[Token]) -> Attribute:
    arguments = [part for part in _split(tokens[2:-1]) if part]
    pairs = [
        (part[0].text, tuple(token.text for token in part[2:] if token.text != ","))
        for part in arguments
    ]
    return Attribute(tokens[0].text, tuple(pairs))


def _imports(words: Sequence[str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name -> path of what `use` brings: `a::b`, `a::b as c`, `a::b::{Self, c as d}`."""
    if "{" in words:
        start = words.index("{")
        path = prefix + "".join(words[:start])
        part: list[str] = []
        depth = 0
        for word in (*words[start + 1 : -1], ","):
            depth += (word == "{") - (word == "}")
            if word == "," and depth == 0:
                yield from _imports(part, path)
                part = []
            else:
                part.append(word)
        return
    if not words:
        return
    names, alias = list(words), words[-1]
    if "as" in names:
        names = names[: names.index("as")]
    path = prefix + "".join(names)
    if names[-1] == "Self":
        path = path.removesuffix("Self").removesuffix("::")
        alias = path.rsplit("::", 1)[-1] if alias == "Self" else alias
    yield alias, path
