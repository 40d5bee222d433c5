"""The source lines of a call stack, from the markers in the bytecode of its functions."""

from collections.abc import Mapping

from nexus_tools.localnet.bytecode import CompiledModule, deserialize
from nexus_tools.localnet.bytecode.module import FunctionDefinition
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.move_test.failure import Frame
from nexus_tools.localnet.move_test.marked_build import MarkedBuild
from nexus_tools.localnet.move_test.markers import FUNCTION, MODULE, Statement
from nexus_tools.localnet.vm.translator.control_flow import ENTRY, ControlFlowGraph
from nexus_tools.sui.address import ZERO

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
        """The statement of each instruction. Markers of macros belong to other functions."""
        definition = _definition(module, name)
        if definition is None or definition.code is None:
            return {}
        graph = ControlFlowGraph(definition.code)
        dominators = graph.dominators()
        found: dict[int, Statement] = {}
        leaving: dict[int, Statement | None] = {}
        marked = self._marked(module, definition, name)
        for block in graph.order:
            current = None if block == ENTRY else leaving[dominators[block]]
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
