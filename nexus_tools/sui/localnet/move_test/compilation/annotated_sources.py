"""Finding tests in Move sources, and making ordinary code of them.

The compiler's test mode puts a function into each module, which its verifier then refuses in
`sui::transfer`. Its other modes do not: an item with the attribute `mode(MODE, test)` is compiled
if MODE is asked for, and it may do what tests may, such as calling `init`. So each attribute of a
test becomes this one. Lines stay where they are.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from nexus_tools.sui.move_source import (
    Attribute,
    SourceFunction,
    SourceModule,
    Token,
    is_unpublished,
    line_of,
    read_modules,
)

MODE = "unit_testing"
_NO_MODE = "never"  # nobody asks for it: what has it is not compiled

_TESTS = frozenset({"test", "random_test"})
_TEST_NAMES = _TESTS | {"test_only", "expected_failure"}

Argument = tuple[str, ...]

# From where to where what replaces the source.
_Change = tuple[int, int, str]


class MoveTest(Struct, frozen=True):
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


class FunctionBody(Struct, frozen=True):
    """The code of a function: `tokens` from its `{` to its `}`.

    `is_test_only` is code that is not published: of a test, of a module for tests.
    """

    module: str
    name: str
    line: int
    is_test_only: bool
    tokens: tuple[Token, ...]


class MoveTestSource(Struct):
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


def read_test_source(path: str, source: str, *, with_tests: bool = True) -> MoveTestSource:
    """The ordinary code of a source file, and its tests; or what it has for tests of others."""
    return _Reader(path, source, MODE if with_tests else _NO_MODE).read()


class _Reader:
    def __init__(self, path: str, source: str, mode_of_tests: str) -> None:
        self._mode_of_tests = mode_of_tests
        self._path = path
        self._source = source
        self._result = MoveTestSource("")

    def read(self) -> MoveTestSource:
        changes: list[_Change] = []
        for module in read_modules(self._source):
            self._module(module)
            changes += self._replaced(module.all_attributes)
            changes += [_public(each) for each in module.functions if _is_only_entry(each)]
        text, end = [], 0
        for start, stop, replacement in sorted(changes):
            text += [self._source[end:start], replacement]
            end = stop
        self._result.text = "".join(text) + self._source[end:]
        return self._result

    def _module(self, module: SourceModule) -> None:
        is_test_only = self._path.startswith("tests/") or is_unpublished(module.attributes)
        for constant in module.constants:
            self._result.constants[module.path, constant.name] = constant.value
        for each in module.imports:
            if each.keyword == "use" and each.words[0] != "fun":  # that names a method
                names = _imports(each.words)
                self._result.uses |= {(module.path, name): target for name, target in names}
        for function in module.functions:
            self._function(module.path, function, is_test_only=is_test_only)

    def _function(self, module: str, function: SourceFunction, *, is_test_only: bool) -> None:
        line = line_of(self._source, function.name_token.start)
        self._result.functions[module, function.name] = line
        if function.body:
            hidden = is_test_only or is_unpublished(function.attributes)
            body = FunctionBody(module, function.name, line, hidden, function.body)
            self._result.bodies.append(body)
        named = {attribute.name: attribute for attribute in function.attributes}
        mark = named.get("test") or named.get("random_test")
        if mark is None:
            return
        self._result.tests.append(
            MoveTest(
                module,
                function.name,
                self._path,
                line,
                mark.name == "random_test",
                _in_order(mark, function),
                named.get("expected_failure"),
            )
        )

    # --- Ordinary code

    def _replaced(self, attributes: Iterable[Attribute]) -> Iterator[_Change]:
        """Each `#[...]` of a test, with the mode in place of what makes it one."""
        groups: dict[tuple[int, int], list[Attribute]] = {}
        for attribute in attributes:
            groups.setdefault(attribute.group, []).append(attribute)
        for (start, end), group in groups.items():
            if any(each.name in _TEST_NAMES or _is_mode_of_tests(each) for each in group):
                lines = self._source.count("\n", start, end)
                yield start, end, _on_lines(self._ordinary(group), lines)

    def _ordinary(self, group: Sequence[Attribute]) -> str:
        kept = [self._kept(each) for each in group if each.name not in _TEST_NAMES]
        names = {attribute.name for attribute in group}
        if names & _TESTS:
            kept.append(f"mode({self._mode_of_tests}, test)")
        elif "test_only" in names:
            kept.append(f"mode({MODE}, test)")
        return f"#[{', '.join(kept)}]" if kept else ""

    def _kept(self, attribute: Attribute) -> str:
        text = self._source[attribute.tokens[0].start : attribute.tokens[-1].end]
        return text.replace("(", f"({MODE}, ", 1) if _is_mode_of_tests(attribute) else text


def _is_mode_of_tests(attribute: Attribute) -> bool:
    """Whether it is `mode(test)`, the longer word for `test_only`, maybe with other modes."""
    return attribute.name == "mode" and "test" in dict(attribute.arguments)


def _in_order(mark: Attribute, function: SourceFunction) -> tuple[tuple[str, Argument], ...]:
    """What a test is called with: by the names of its parameters, whatever else stands there."""
    given = dict(mark.arguments)
    names = [parameter.name for parameter in function.parameters]
    return tuple((name, given[name]) for name in names if name in given)


def _on_lines(text: str, lines: int) -> str:
    """The text on so many lines more; a kept attribute may have line ends of its own."""
    return text + "\n" * (lines - text.count("\n"))


def _is_only_entry(function: SourceFunction) -> bool:
    return function.entry_token is not None and not function.visibility


def _public(function: SourceFunction) -> _Change:
    """Tests may call entry functions, those that are not public, too."""
    assert function.entry_token is not None
    return function.entry_token.start, function.entry_token.start, "public "


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
