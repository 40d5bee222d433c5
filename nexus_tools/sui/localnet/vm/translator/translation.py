"""The translation of a function's bytecode to Python code.

The code object does not depend on type arguments or on the linkage of the running code. The code
reads values that depend on them through symbols, which are global names of the Python function.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import CodeType

from msgspec import Struct, field

from nexus_tools.sui.bytecode import Code
from nexus_tools.sui.localnet.vm.definitions import Function, ReferenceType, Type
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.localnet.vm.translator.block import BlockTranslator
from nexus_tools.sui.localnet.vm.translator.control_flow import Block, ControlFlowGraph
from nexus_tools.sui.localnet.vm.translator.frame import Frame, Symbol
from nexus_tools.sui.localnet.vm.translator.instructions import INSTRUCTIONS, NO_PUSH, PUSHES
from nexus_tools.sui.localnet.vm.translator.statement import BlockBody, Line, SourceLine, render
from nexus_tools.sui.localnet.vm.translator.structure import structure


class Translation(Struct, frozen=True):
    """A translated function: its Python lines, its code object, and its global names.

    `packed` contains each type whose values the function creates, with the offset of the
    instruction. `calls` maps the number of each line that calls a function to the offset of the
    instruction.
    """

    lines: Sequence[SourceLine]
    code: CodeType
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    packed: tuple[tuple[Type, int], ...] = ()
    calls: Mapping[int, int] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The Python code, with instructions and charges in comments.

        A statement may cover several instructions. The comment of a statement names the last of its
        instructions, because the earlier instructions only pushed an expression onto the operand
        stack.
        """
        return "".join([f"{line}\n" for line in self.lines])


def translate(module: LoadedModule, function: Function) -> Translation:
    """Translate a function of the module. Raises `InvalidCode`."""
    code = module.compiled.function_definitions[function.index].code
    assert code is not None, f"{function.name} is native"
    frame = Frame(module, function, code)
    graph = ControlFlowGraph(code)
    bodies = {name: _translate_block(frame, code, block) for name, block in graph.blocks.items()}
    statements = [*_prologue(frame), *structure(graph, bodies)]
    lines = [SourceLine(header(function)), *render(statements, 1)]
    calls = {number: line.call for number, line in enumerate(lines, 1) if line.call is not None}
    python_code = compiled(function, lines)
    return Translation(lines, python_code, frame.symbols, tuple(frame.packed), calls)


def _translate_block(frame: Frame, code: Code, block: Block) -> BlockBody:
    translator = BlockTranslator(frame)
    instructions = [code.instructions[offset] for offset in block.offsets]
    for offset, instruction, following in zip(
        block.offsets, instructions, [*instructions[1:], None], strict=True
    ):
        translator.offset, translator.following = offset, following
        translator.opcode = instruction.opcode
        translator.instructions += 1
        try:
            execute = INSTRUCTIONS[instruction.opcode]
        except KeyError:
            raise translator.invalid(f"{instruction.opcode.name} is not allowed") from None
        translator.charge(*PUSHES.get(instruction.opcode, NO_PUSH))
        execute(translator, instruction.operand)
    return translator.finish()


def header(function: Function) -> str:
    """Return the first line of a Python function."""
    # Because the module's name is the prefix, the name is never a Python keyword.
    return f"def {function.module.name}__{function.name}({', '.join(_parameters(function))}):"


def _parameters(function: Function) -> list[str]:
    names = ["context", "room"]
    for index, type_ in enumerate(function.parameters):
        is_reference = isinstance(type_, ReferenceType)
        names += [f"c{index}", f"k{index}"] if is_reference else [f"v{index}"]
    return names


def _prologue(frame: Frame) -> list[Line]:
    arguments = ", ".join(["context", "this", *_parameters(frame.function)[2:]])
    lines = [
        Line(f"if not room: return call_in_new_thread({arguments})"),
        Line("meter = context.meter"),
    ]
    for cell in sorted(frame.cells):
        value = f"v{cell}" if cell < len(frame.function.parameters) else "None"
        lines.append(Line(f"cell{cell} = [{value}]"))
    return lines


def compiled(function: Function, lines: Iterable[SourceLine]) -> CodeType:
    """Return the code object of the Python function with these source lines."""
    source = "\n".join([line.text for line in lines]) + "\n"
    name = f"<{function.package.short()}::{function.module.name}::{function.name}>"
    module_code = compile(source, name, "exec", dont_inherit=True)
    return next(item for item in module_code.co_consts if isinstance(item, CodeType))
