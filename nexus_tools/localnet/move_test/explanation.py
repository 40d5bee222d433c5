"""A failure in the words of the sources: constants, files and lines."""

import re
from dataclasses import dataclass

from nexus_tools.localnet.bytecode import deserialize
from nexus_tools.localnet.bytecode.clever_error import CleverError, clever_error
from nexus_tools.localnet.move_test.build import MoveTestBuild
from nexus_tools.localnet.move_test.failure import Failure, Frame
from nexus_tools.localnet.move_test.names import ConstantName
from nexus_tools.sui.address import Address

_FRAMES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Explanation:
    """What ended a test: `summary` in one line, `stack` from the innermost function outwards.

    `constant_name` is the constant that the abort names, by how its source names the module.
    `line` is the line of the abort, if its code has one or names a constant once.
    """

    failure: Failure
    summary: str
    stack: tuple[str, ...]
    constant_name: ConstantName | None = None
    path: str | None = None
    line: int | None = None


class Explainer:
    """Explains failures of the tests of one build."""

    def __init__(self, build: MoveTestBuild) -> None:
        self._names = build.names
        self._modules = {deserialize(data).name: data for data in build.modules}
        self._texts = {path: source.text for path, source in build.sources.items()}
        self._files = {
            module: path
            for path, source in build.sources.items()
            for module, _ in (*source.functions, *source.constants)
        }

    def explain(self, failure: Failure) -> Explanation:
        """The failure, with the names of the sources."""
        module = self._names.module_name(*failure.place) if failure.place else None
        clever = self._clever(failure, module)
        constant = self._constant(failure, module, clever)
        path = self._files.get(module) if module else None
        line = clever.line_number if clever else self._line_of(constant, failure, path)
        stack = tuple(self._frame(frame) for frame in failure.frames[:_FRAMES_SHOWN])
        summary = _summary(failure, constant, clever)
        if path and line:
            summary += f", {path}:{line}"
        return Explanation(failure, summary, stack, constant, path, line)

    def _clever(self, failure: Failure, module: str | None) -> CleverError | None:
        if failure.code is None or module is None:
            return None
        data = self._modules.get(module.rpartition("::")[2])
        return clever_error(failure.code, data)

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
        """The one line of the failed function that names the constant, if there is one."""
        if constant is None or path is None or not failure.frames:
            return None
        lines = self._texts[path].splitlines()
        begins = self._names.functions.get((constant[0], failure.frames[0].function))
        if begins is None:
            return None
        others = [line for line in self._names.lines_of(constant[0]) if line > begins]
        pattern = re.compile(rf"\b{re.escape(constant[1])}\b")
        found = [
            line
            for line in range(begins, min(others, default=len(lines) + 1))
            if pattern.search(lines[line - 1])
        ]
        return found[0] if len(found) == 1 else None

    def _frame(self, frame: Frame) -> str:
        """A function, and where it stands."""
        module = self._names.module_name(frame.address, frame.module)
        if module is None:
            return f"{Address(frame.address).short()}::{frame.module}::{frame.function}"
        line = self._names.functions.get((module, frame.function))
        place = f" ({self._files[module]}:{line})" if line and module in self._files else ""
        return f"{module}::{frame.function}{place}"


def _summary(failure: Failure, constant: ConstantName | None, clever: CleverError | None) -> str:
    if failure.code is None:
        return failure.message
    name = f" {constant[1]}" if constant else ""
    said = f" {clever.rendered!r}" if clever and clever.rendered else ""
    code = "" if clever else f" {failure.code}"
    where = failure.frames[0] if failure.frames else None
    place = f" in {where.module}::{where.function}" if where else ""
    return f"aborted{' with' if name or said or code else ''}{name}{said}{code}{place}"
