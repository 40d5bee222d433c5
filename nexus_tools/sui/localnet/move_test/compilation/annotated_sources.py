"""The parser of tests in Move sources, which also converts test code to ordinary code.

In test mode, the compiler adds a function to each module, and its verifier rejects this function in
`sui::transfer`. Other modes do not add the function. If a build requests MODE, the compiler
includes items with the attribute `mode(MODE, test)`. An item with this attribute may use test
features, such as calls of `init`. So this module replaces each test attribute with `mode(MODE,
test)`. Line numbers do not change.
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
_NO_MODE = "never"  # a mode that no build requests

_TESTS = frozenset({"test", "random_test"})
_TEST_NAMES = _TESTS | {"test_only", "expected_failure"}

Argument = tuple[str, ...]

# The start and end of a part of the source, and its replacement.
_Change = tuple[int, int, str]


class MoveTest(Struct, frozen=True):
    """A test function with its location and the values of its attributes."""

    module: str
    name: str
    path: str
    line: int
    is_random: bool
    arguments: tuple[tuple[str, Argument], ...]
    expected_failure: Attribute | None

    @property
    def title(self) -> str:
        """The name `module::function`, with the named address of the module."""
        return f"{self.module}::{self.name}"


class FunctionBody(Struct, frozen=True):
    """The body of a function. `tokens` are the tokens from its `{` to its `}`.

    If `is_test_only` is set, the code belongs to a test or to test-only code and is not published.
    """

    module: str
    name: str
    line: int
    is_test_only: bool
    tokens: tuple[Token, ...]


class MoveTestSource(Struct):
    """A source file converted to ordinary code, with its tests and names.

    `constants` maps (module, name) to the tokens of the constant's value. `functions` maps (module,
    name) to the function's line. `uses` maps (module, imported name) to a path. Positions in
    `bodies` refer to the original source.
    """

    text: str
    tests: list[MoveTest] = field(default_factory=list)
    constants: dict[tuple[str, str], Argument] = field(default_factory=dict)
    functions: dict[tuple[str, str], int] = field(default_factory=dict)
    uses: dict[tuple[str, str], str] = field(default_factory=dict)
    bodies: list[FunctionBody] = field(default_factory=list)


def read_test_source(path: str, source: str, *, with_tests: bool = True) -> MoveTestSource:
    """Convert a source file to ordinary code. If `with_tests` is not set, omit tests."""
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
            changes += self._attribute_changes(module.all_attributes)
            changes += [
                _make_public(function) for function in module.functions if _is_only_entry(function)
            ]
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
        for item in module.imports:
            if item.keyword == "use" and item.words[0] != "fun":  # `use fun` does not import a name
                names = _imports(item.words)
                self._result.uses |= {(module.path, name): target for name, target in names}
        for function in module.functions:
            self._function(module.path, function, is_test_only=is_test_only)

    def _function(self, module: str, function: SourceFunction, *, is_test_only: bool) -> None:
        line = line_of(self._source, function.name_token.start)
        self._result.functions[module, function.name] = line
        if function.body:
            is_hidden = is_test_only or is_unpublished(function.attributes)
            body = FunctionBody(module, function.name, line, is_hidden, function.body)
            self._result.bodies.append(body)
        attributes = {attribute.name: attribute for attribute in function.attributes}
        test_attribute = attributes.get("test") or attributes.get("random_test")
        if test_attribute is None:
            return
        self._result.tests.append(
            MoveTest(
                module,
                function.name,
                self._path,
                line,
                test_attribute.name == "random_test",
                _ordered_arguments(test_attribute, function),
                attributes.get("expected_failure"),
            )
        )

    # --- Ordinary code

    def _attribute_changes(self, attributes: Iterable[Attribute]) -> Iterator[_Change]:
        """Yield a change for each `#[...]` that replaces its test attributes with the mode."""
        groups: dict[tuple[int, int], list[Attribute]] = {}
        for attribute in attributes:
            groups.setdefault(attribute.group, []).append(attribute)
        for (start, end), group in groups.items():
            if any(
                attribute.name in _TEST_NAMES or _is_mode_of_tests(attribute) for attribute in group
            ):
                lines = self._source.count("\n", start, end)
                yield start, end, _pad_lines(self._ordinary_attributes(group), lines)

    def _ordinary_attributes(self, group: Sequence[Attribute]) -> str:
        texts = [
            self._kept_text(attribute) for attribute in group if attribute.name not in _TEST_NAMES
        ]
        names = {attribute.name for attribute in group}
        if names & _TESTS:
            texts.append(f"mode({self._mode_of_tests}, test)")
        elif "test_only" in names:
            texts.append(f"mode({MODE}, test)")
        return f"#[{', '.join(texts)}]" if texts else ""

    def _kept_text(self, attribute: Attribute) -> str:
        text = self._source[attribute.tokens[0].start : attribute.tokens[-1].end]
        return text.replace("(", f"({MODE}, ", 1) if _is_mode_of_tests(attribute) else text


def _is_mode_of_tests(attribute: Attribute) -> bool:
    """Return whether an attribute is `mode` with `test`, which is equivalent to `test_only`."""
    return attribute.name == "mode" and "test" in dict(attribute.arguments)


def _ordered_arguments(
    attribute: Attribute, function: SourceFunction
) -> tuple[tuple[str, Argument], ...]:
    """Return the arguments of a test, in the order of its parameters."""
    values = dict(attribute.arguments)
    names = [parameter.name for parameter in function.parameters]
    return tuple((name, values[name]) for name in names if name in values)


def _pad_lines(text: str, lines: int) -> str:
    """Append line breaks to a text until it has the given number of line breaks."""
    return text + "\n" * (lines - text.count("\n"))


def _is_only_entry(function: SourceFunction) -> bool:
    return function.entry_token is not None and not function.visibility


def _make_public(function: SourceFunction) -> _Change:
    """Make an entry function public, because tests may also call private entry functions."""
    assert function.entry_token is not None
    return function.entry_token.start, function.entry_token.start, "public "


def _imports(words: Sequence[str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, path) for each import of a `use`, such as `a::b as c` or `a::b::{Self, c}`."""
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
