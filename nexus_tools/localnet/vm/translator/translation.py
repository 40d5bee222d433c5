"""From a function's bytecode to Python code.

The code object does not depend on type arguments or on the linkage of the running code: what does
is reached through symbols, which are global names of the Python function.
"""

from collections.abc import Mapping
from dataclasses import field
from types import CodeType

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.module import Code
from nexus_tools.localnet.vm.definitions import Function
from nexus_tools.localnet.vm.loaded_module import LoadedModule
from nexus_tools.localnet.vm.translator.block import BlockTranslator
from nexus_tools.localnet.vm.translator.charges import NO_PUSH, PUSHES
from nexus_tools.localnet.vm.translator.control_flow import Block, ControlFlowGraph
from nexus_tools.localnet.vm.translator.frame import Frame, Symbol
from nexus_tools.localnet.vm.translator.instructions import INSTRUCTIONS
from nexus_tools.localnet.vm.translator.statement import Line, render
from nexus_tools.localnet.vm.translator.structure import BlockBody, structure
from nexus_tools.localnet.vm.types import ReferenceType, Type


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated function: its Python source and code, and what its global names stand for.

    `packed` are the types of which it makes values, each with the offset of the instruction;
    `calls` gives the offset of the instruction for each line that calls a function.
    """

    source: str
    code: CodeType
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    packed: tuple[tuple[Type, int], ...] = ()
    calls: Mapping[int, int] = field(default_factory=dict)


def translate(module: LoadedModule, function: Function) -> Translation:
    """Translate a function of the module. Raises `InvalidCode`."""
    code = module.compiled.function_definitions[function.index].code
    assert code is not None, f"{function.name} is native"
    frame = Frame(module, function, code)
    graph = ControlFlowGraph(code)
    bodies = {name: _translate_block(frame, code, block) for name, block in graph.blocks.items()}
    statements = [*_prologue(frame), *structure(graph, bodies)]
    lines = [(header(function), None), *render(statements, 1)]
    calls = {number: call for number, (_, call) in enumerate(lines, 1) if call is not None}
    source, python_code = compiled(function, [text for text, _ in lines])
    return Translation(source, python_code, frame.symbols, tuple(frame.packed), calls)


def _translate_block(frame: Frame, code: Code, block: Block) -> BlockBody:
    translator = BlockTranslator(frame)
    instructions = [code.instructions[offset] for offset in block.offsets]
    for offset, instruction, following in zip(
        block.offsets, instructions, [*instructions[1:], None], strict=True
    ):
        translator.offset, translator.following = offset, following
        translator.instructions += 1
        try:
            execute = INSTRUCTIONS[instruction.opcode]
        except KeyError:
            raise translator.invalid(f"{instruction.opcode.name} is not allowed") from None
        translator.charge(*PUSHES.get(instruction.opcode, NO_PUSH))
        execute(translator, instruction.operand)
    return translator.finish()


def header(function: Function) -> str:
    """The first line of a Python function."""
    # With the module's name in front it is never a word of Python.
    return f"def {function.module.name}__{function.name}({', '.join(_parameters(function))}):"


def _parameters(function: Function) -> list[str]:
    names = ["context", "room"]
    for index, type_ in enumerate(function.parameters):
        is_reference = isinstance(type_, ReferenceType)
        names += [f"c{index}", f"k{index}"] if is_reference else [f"v{index}"]
    return names


def _prologue(frame: Frame) -> list[Line]:
    arguments = ", ".join(["context", "this", *_parameters(frame.function)[2:]])
    lines = [Line(f"if not room: return go_deeper({arguments})"), Line("meter = context.meter")]
    for cell in sorted(frame.cells):
        value = f"v{cell}" if cell < len(frame.function.parameters) else "None"
        lines.append(Line(f"cell{cell} = [{value}]"))
    return lines


def compiled(function: Function, lines: list[str]) -> tuple[str, CodeType]:
    """The source of these lines, and the code of the function in it."""
    source = "\n".join(lines) + "\n"
    name = f"<{function.package.short()}::{function.module.name}::{function.name}>"
    module_code = compile(source, name, "exec", dont_inherit=True)
    return source, next(item for item in module_code.co_consts if isinstance(item, CodeType))
