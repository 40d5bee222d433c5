"""The explanation of a test failure with constants, files and lines of the sources."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice, zip_longest

from msgspec import Struct

from nexus_tools.sui.bytecode import CleverError, clever_error, deserialize_published
from nexus_tools.sui.localnet.framework import FRAMEWORK_NAMES, Release
from nexus_tools.sui.localnet.move_test.compilation.build import MoveTestBuild
from nexus_tools.sui.localnet.move_test.compilation.markers import Statement
from nexus_tools.sui.localnet.move_test.compilation.source_names import ConstantName
from nexus_tools.sui.localnet.move_test.failure import Failure, Frame
from nexus_tools.sui.types.address import Address

_FRAMES_SHOWN = 20


class Explanation(Struct, frozen=True):
    """An explained failure. `summary` is one line, and `stack` starts with the innermost function.

    `constant_name` is the constant of the abort and its module's name in the sources. `line` is the
    line of the abort. The line is known if the abort code includes the line, or if the function
    uses the constant only once.
    """

    failure: Failure
    summary: str
    stack: tuple[str, ...]
    constant_name: ConstantName | None = None
    path: str | None = None
    line: int | None = None


class Explainer:
    """An explainer of test failures of one build."""

    def __init__(self, build: MoveTestBuild) -> None:
        self._names = build.names
        compiled = [(deserialize_published(data), data) for data in build.modules]
        tested = {(module.address, module.name): data for module, data in compiled}
        self._modules = {**_framework_modules(build.release), **tested}
        sources = {**build.dependencies, **build.sources}
        self._texts = {path: source.text for path, source in sources.items()}
        self._files = {
            module: path
            for path, source in sources.items()
            for module, _ in (*source.functions, *source.constants)
        }

    def explain(self, failure: Failure, statements: Sequence[Statement | None] = ()) -> Explanation:
        """Explain a failure. `statements` are the current statements of its frames, if known."""
        module = self._names.module_name(*failure.place) if failure.place else None
        clever = self._clever(failure)
        constant = self._constant(failure, module, clever)
        path = self._files.get(module) if module else None
        line = clever.line_number if clever else self._line_of(constant, failure, path)
        if path and not line and statements and statements[0]:
            line = statements[0].line
        frames = zip_longest(failure.frames, statements[: len(failure.frames)])
        stack = tuple(self._frame(*frame) for frame in islice(frames, _FRAMES_SHOWN))
        summary = _summary(failure, constant, clever)
        if path and line:
            summary += f", {path}:{line}"
        return Explanation(failure, summary, stack, constant, path, line)

    def _clever(self, failure: Failure) -> CleverError | None:
        if failure.code is None or failure.place is None:
            return None
        return clever_error(failure.code, self._modules.get(failure.place))

    def _constant(
        self, failure: Failure, module: str | None, clever: CleverError | None
    ) -> ConstantName | None:
        if module is None or failure.code is None:
            return None
        if clever is not None:
            return (module, clever.constant_name) if clever.constant_name else None
        names = self._names.constants_of(module, failure.code)
        return (module, names[0]) if names else None

    def _line_of(
        self, constant: ConstantName | None, failure: Failure, path: str | None
    ) -> int | None:
        """Return the only line of the failed function that uses the constant, or None."""
        if constant is None or path is None or not failure.frames:
            return None
        lines = self._texts[path].splitlines()
        start = self._names.functions.get((constant[0], failure.frames[0].function))
        if start is None:
            return None
        # The end of a function is not known, so the start of the module's next function is used.
        later_starts = [line for line in self._names.lines_of(constant[0]) if line > start]
        pattern = re.compile(rf"\b{re.escape(constant[1])}\b")
        matches = [
            line
            for line in range(start, min(later_starts, default=len(lines) + 1))
            if pattern.search(lines[line - 1])
        ]
        return matches[0] if len(matches) == 1 else None

    def _frame(self, frame: Frame, statement: Statement | None) -> str:
        """Return a function and its current line.

        If the current line is unknown, return the line of the function's definition.
        """
        module = self._names.module_name(frame.address, frame.module)
        if module is None:
            package = FRAMEWORK_NAMES.get(frame.address) or Address(frame.address).short()
            return f"{package}::{frame.module}::{frame.function}"
        start = self._names.functions.get((module, frame.function))
        line = statement.line if statement else start
        location = f" ({self._files[module]}:{line})" if line and module in self._files else ""
        return f"{module}::{frame.function}{location}"


@lru_cache(maxsize=4)
def _framework_modules(release: Release) -> Mapping[tuple[bytes, str], bytes]:
    return {
        (address, deserialize_published(data).name): data
        for address, package in release.packages.items()
        for data in package.modules
    }


def _summary(failure: Failure, constant: ConstantName | None, clever: CleverError | None) -> str:
    if failure.code is None:
        return failure.message
    name = f" {constant[1]}" if constant else ""
    message = f" {clever.rendered!r}" if clever and clever.rendered else ""
    code = "" if clever else f" {failure.code}"
    frame = failure.frames[0] if failure.frames else None
    location = f" in {frame.module}::{frame.function}" if frame else ""
    return f"aborted{' with' if name or message or code else ''}{name}{message}{code}{location}"
