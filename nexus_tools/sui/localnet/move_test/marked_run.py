"""Repeated test runs with markers, which determine executed lines and the lines of call stacks."""

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

# Markers cost gas and time, so a call with markers has higher gas and time limits.
_MORE_TIME = 10
_GAS_FOR_ALL = 10**15


_MARKER = (bytes(ZERO), MODULE, FUNCTION)


class SourceLines:
    """A map from instructions to statements, which uses the markers on paths to instructions."""

    def __init__(self, marked: MarkedBuild) -> None:
        self._statements = marked.statements
        compiled = [deserialize(data) for data in marked.build.modules]
        self._modules = {(module.address, module.name): module for module in compiled}
        self._found: dict[tuple[bytes, str, str], Mapping[int, Statement]] = {}

    def statement_at(self, frame: Frame) -> Statement | None:
        """Return the current statement of a frame, or None for functions of other packages."""
        module = self._modules.get((frame.address, frame.module))
        if module is None:
            return None
        key = (frame.address, frame.module, frame.function)
        if key not in self._found:
            self._found[key] = self._of_function(module, frame.function)
        return self._found[key].get(frame.instruction)

    def _of_function(self, module: CompiledModule, name: str) -> Mapping[int, Statement]:
        """Return the statement of each instruction by offset.

        Markers in macros of other functions are ignored.

        An instruction belongs to the statement of the last marker before it in its block. If the
        block has no earlier marker, the instruction belongs to the statement at the end of the
        block's immediate dominator. For example, in `f(if (a) { x } else { y })`, both branches may
        have markers. The call of `f` is in a block after the branches. The dominator of this block
        is the block of the condition, so the call belongs to the whole statement.
        """
        definition = _definition(module, name)
        if definition is None or definition.code is None:
            return {}
        graph = ControlFlowGraph(definition.code)
        dominators = graph.dominators()
        statements: dict[int, Statement] = {}
        final_statements: dict[int, Statement | None] = {}
        markers = self._marked(module, definition, name)
        for block in graph.order:
            statement = final_statements.get(dominators[block])  # None for the entry block
            for offset in graph.blocks[block].offsets:
                statement = markers.get(offset, statement)
                if statement is not None:
                    statements[offset] = statement
            final_statements[block] = statement
        return statements

    def _marked(
        self, module: CompiledModule, definition: FunctionDefinition, name: str
    ) -> Mapping[int, Statement]:
        assert definition.code is not None
        instructions = definition.code.instructions
        markers = {}
        for offset, instruction in enumerate(instructions):
            operand = instruction.operand
            if instruction.opcode is not Opcode.CALL or not isinstance(operand, int):
                continue
            # The compiler translates `passed(7)` to the instructions `LdU64 7` and `Call passed`.
            number = instructions[offset - 1].operand
            if module.function_id(operand) == _MARKER and isinstance(number, int):
                statement = self._statements[number]
                if statement.function.name == name:
                    markers[offset] = statement
        return markers


def _definition(module: CompiledModule, name: str) -> FunctionDefinition | None:
    for definition in module.function_definitions:
        handle = module.function_handles[definition.handle]
        if module.identifiers[handle.name] == name:
            return definition
    return None


class MarkedRun:
    """A runner of a package's tests with markers. The runner calls `build` at the first use."""

    def __init__(
        self, build: Callable[[], MarkedBuild], *, timeout_s: float, gas_limit: int
    ) -> None:
        self._build = build
        self._timeout_s = timeout_s * _MORE_TIME
        self._gas_limit = gas_limit
        self._counts: Counter[int] = Counter()
        self._last = 0

    def compile(self) -> None:
        """Build the package now, so that the time of the first test does not include the build."""
        _ = self._caller

    def coverage(self) -> Coverage:
        """Return the line coverage of all calls so far."""
        return coverage_of(self._marked, self._counts)

    def call(
        self, function: Function, arguments: Sequence[Value], failure: Failure | None
    ) -> list[Statement | None]:
        """Repeat a test that ended with `failure`, and return the statements of its frames.

        If the repeated test ends differently, the list is empty.
        """
        marked_function = self._caller.function(function.module, function.name)
        if marked_function is None or not self._marked.statements:
            return []
        is_out_of_gas = failure is not None and failure.kind == OUT_OF_GAS
        limit = self._gas_limit if is_out_of_gas else _GAS_FOR_ALL
        repeated_failure = self._caller.call(marked_function, arguments, limit).failure
        if (
            failure is None
            or repeated_failure is None
            or _place(repeated_failure) != _place(failure)
        ):
            return []
        statements = [self._lines.statement_at(frame) for frame in repeated_failure.frames]
        last_statement = self._marked.statements[self._last]
        if (
            is_out_of_gas
            and statements
            and last_statement.function.name == repeated_failure.frames[0].function
        ):
            statements[0] = last_statement
        return statements

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
    """Return the cause and the location of a failure, except parts that markers change."""
    functions = tuple((frame.module, frame.function) for frame in failure.frames)
    return failure.kind, failure.sub_status, failure.place, functions
