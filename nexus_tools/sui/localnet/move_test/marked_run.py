"""Running tests again with markers: which lines they pass, and at which line a call stack was."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from nexus_tools.sui.bytecode import CompiledModule, FunctionDefinition, Opcode, deserialize
from nexus_tools.sui.localnet.move_test.caller import TestCaller
from nexus_tools.sui.localnet.move_test.compilation.markers import (
    FUNCTION,
    MODULE,
    MarkedBuild,
    Statement,
    marker_native,
)
from nexus_tools.sui.localnet.move_test.coverage import Coverage, coverage_of
from nexus_tools.sui.localnet.move_test.failure import OUT_OF_GAS, Failure, Frame
from nexus_tools.sui.localnet.move_test.machine import machine_for_tests
from nexus_tools.sui.localnet.vm import ControlFlowGraph, Function, Value
from nexus_tools.sui.types.address import ZERO

# Markers cost gas and time; a call that ended without them ends with them, too.
_MORE_TIME = 10
_GAS_FOR_ALL = 10**15


_MARKER = (bytes(ZERO), MODULE, FUNCTION)


class SourceLines:
    """Finds the statement of an instruction: the one whose marker was passed on every way to it."""

    def __init__(self, marked: MarkedBuild) -> None:
        self._statements = marked.statements
        compiled = [deserialize(data) for data in marked.build.modules]
        self._modules = {(module.address, module.name): module for module in compiled}
        self._found: dict[tuple[bytes, str, str], Mapping[int, Statement]] = {}

    def statement_at(self, frame: Frame) -> Statement | None:
        """The statement that a function was at; None if it is not of the package."""
        module = self._modules.get((frame.address, frame.module))
        if module is None:
            return None
        key = (frame.address, frame.module, frame.function)
        if key not in self._found:
            self._found[key] = self._of_function(module, frame.function)
        return self._found[key].get(frame.instruction)

    def _of_function(self, module: CompiledModule, name: str) -> Mapping[int, Statement]:
        """The statement of each instruction. Markers of macros belong to other functions.

        An instruction belongs to the last marker before it in its block, or else to the one that
        holds at the end of the block's immediate dominator. In `f(if (a) { x } else { y })` both
        branches may have markers; the call of `f` is in a block behind them, which the block of the
        condition dominates: so it belongs to the statement itself, as it should.
        """
        definition = _definition(module, name)
        if definition is None or definition.code is None:
            return {}
        graph = ControlFlowGraph(definition.code)
        dominators = graph.dominators()
        found: dict[int, Statement] = {}
        leaving: dict[int, Statement | None] = {}
        marked = self._marked(module, definition, name)
        for block in graph.order:
            current = leaving.get(dominators[block])  # nothing before the entry
            for offset in graph.blocks[block].offsets:
                current = marked.get(offset, current)
                if current is not None:
                    found[offset] = current
            leaving[block] = current
        return found

    def _marked(
        self, module: CompiledModule, definition: FunctionDefinition, name: str
    ) -> Mapping[int, Statement]:
        assert definition.code is not None
        instructions = definition.code.instructions
        marked = {}
        for offset, instruction in enumerate(instructions):
            operand = instruction.operand
            if instruction.opcode is not Opcode.CALL or not isinstance(operand, int):
                continue
            # `passed(7)` is `LdU64 7`, `Call passed`.
            number = instructions[offset - 1].operand
            if module.function_id(operand) == _MARKER and isinstance(number, int):
                statement = self._statements[number]
                if statement.function.name == name:
                    marked[offset] = statement
        return marked


def _definition(module: CompiledModule, name: str) -> FunctionDefinition | None:
    for definition in module.function_definitions:
        handle = module.function_handles[definition.handle]
        if module.identifiers[handle.name] == name:
            return definition
    return None


class MarkedRun:
    """Runs tests of a package with markers, which `build` gives when they are first needed."""

    def __init__(
        self, build: Callable[[], MarkedBuild], *, timeout_s: float, gas_limit: int
    ) -> None:
        self._build = build
        self._timeout_s = timeout_s * _MORE_TIME
        self._gas_limit = gas_limit
        self._counts: Counter[int] = Counter()
        self._last = 0

    def compile(self) -> None:
        """Build the package now, so that it does not take the time of the first test."""
        _ = self._caller

    def coverage(self) -> Coverage:
        """The lines that all calls have passed."""
        return coverage_of(self._marked, self._counts)

    def call(
        self, function: Function, arguments: Sequence[Value], failure: Failure | None
    ) -> list[Statement | None]:
        """Call a test again that ended with `failure`: the statements of its frames.

        None are known if it ended in another way this time.
        """
        marked = self._caller.function(function.module, function.name)
        if marked is None or not self._marked.statements:
            return []
        is_out_of_gas = failure is not None and failure.kind == OUT_OF_GAS
        limit = self._gas_limit if is_out_of_gas else _GAS_FOR_ALL
        again = self._caller.call(marked, arguments, limit).failure
        if failure is None or again is None or _place(again) != _place(failure):
            return []
        found = [self._lines.statement_at(frame) for frame in again.frames]
        last = self._marked.statements[self._last]
        if is_out_of_gas and found and last.function.name == again.frames[0].function:
            found[0] = last
        return found

    @cached_property
    def _marked(self) -> MarkedBuild:
        return self._build()

    @cached_property
    def _lines(self) -> SourceLines:
        return SourceLines(self._marked)

    @cached_property
    def _caller(self) -> TestCaller:
        machine = machine_for_tests(self._marked.build, marker_native(self._passed))
        return TestCaller(machine, self._timeout_s)

    def _passed(self, number: int) -> None:
        self._counts[number] += 1
        self._last = number


def _place(failure: Failure) -> tuple[object, ...]:
    """What ended a test and where, as far as markers do not change it."""
    functions = tuple((frame.module, frame.function) for frame in failure.frames)
    return failure.kind, failure.sub_status, failure.place, functions
