"""From a function's bytecode to Python code.

The code object does not depend on type arguments or on the linkage of the running code: what does
is reached through symbols, which are global names of the Python function.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType

from nexus_tools.localnet.bytecode.module import Code
from nexus_tools.localnet.vm.definitions import Function
from nexus_tools.localnet.vm.loaded_module import LoadedModule
from nexus_tools.localnet.vm.metering import LARGE, Work
from nexus_tools.localnet.vm.translator.block import BlockTranslator
from nexus_tools.localnet.vm.translator.charges import NO_PUSH, PUSHES
from nexus_tools.localnet.vm.translator.control_flow import Block, ControlFlowGraph
from nexus_tools.localnet.vm.translator.frame import Frame, SizeOf, Symbol, packed_size
from nexus_tools.localnet.vm.translator.instructions import INSTRUCTIONS
from nexus_tools.localnet.vm.translator.statement import INDENT, Line, render
from nexus_tools.localnet.vm.translator.structure import BlockBody, structure
from nexus_tools.localnet.vm.types import Primitive, ReferenceType, Type
from nexus_tools.localnet.vm.value_size import REFERENCE_BYTES, scalar_bytes


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
    if code is None:
        source, compiled = _compile(function, _native_source(function))
        return Translation(source, compiled, _native_symbols(function))
    frame = Frame(module, function, code)
    graph = ControlFlowGraph(code)
    bodies = {name: _translate_block(frame, code, block) for name, block in graph.blocks.items()}
    statements = [*_prologue(frame), *structure(graph, bodies)]
    lines = [(_header(function), None), *render(statements, 1)]
    calls = {number: call for number, (_, call) in enumerate(lines, 1) if call is not None}
    source, compiled = _compile(function, [text for text, _ in lines])
    return Translation(source, compiled, frame.symbols, tuple(frame.packed), calls)


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


def _header(function: Function) -> str:
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


def _native_source(function: Function) -> list[str]:
    """A function that hands its arguments to `implementation`, references as objects."""
    arguments = ["context", "type_arguments"]
    for index, type_ in enumerate(function.parameters):
        is_reference = isinstance(type_, ReferenceType)
        arguments.append(f"Reference(c{index}, k{index})" if is_reference else f"v{index}")
    names = [f"r{index}" for index in range(len(function.returns))]
    parts: list[str] = []
    for name, type_ in zip(names, function.returns, strict=True):
        is_reference = isinstance(type_, ReferenceType)
        parts += [f"{name}.container", f"{name}.key"] if is_reference else [name]
    sized = _sized(function)
    assign = f"{', '.join(names)} = " if names else ""
    return [
        _header(function),
        f"{INDENT}meter = context.meter",
        f"{INDENT}meter.left -= {_native_work(function).left!r}",
        f"{INDENT}meter.native_calls += 1",
        f"{INDENT}try:",
        f"{INDENT * 2}{assign}implementation({', '.join(arguments)})",
        f"{INDENT}except NativeAbort as error:",
        f"{INDENT * 2}raise abort(error.code, function, 0) from None",
        f"{INDENT}except NativeLimit as error:",
        f"{INDENT * 2}raise memory_limit_exceeded(function) from error",
        *[f"{INDENT}{line}" for name, type_ in sized.items() for line in _charge(name, type_)],
        f"{INDENT}return {', '.join(parts)}",
    ]


def _native_work(function: Function) -> Work:
    """What a call of a native counts: one more instruction, and its results."""
    size = 0
    for type_ in function.returns:
        if isinstance(type_, Primitive):
            size += scalar_bytes(type_)
        elif isinstance(type_, ReferenceType):
            size += REFERENCE_BYTES
    return Work(1, len(function.returns), size)


def _sized(function: Function) -> dict[str, Type]:
    """The results of a native whose bytes are not known before."""
    return {
        f"r{index}": type_
        for index, type_ in enumerate(function.returns)
        if not isinstance(type_, Primitive | ReferenceType)
    }


def _charge(name: str, type_: Type) -> list[str]:
    """The lines that charge for the bytes of a result; natives look at the meter themselves."""
    return [
        f"size = {packed_size(name, type_) or f'size_{name}({name})'}",
        f"if size < {LARGE}: meter.left -= size * {Work(size=1).left!r}",
        "else: meter.charge_bytes(size)",
    ]


def _native_symbols(function: Function) -> dict[str, Symbol]:
    return {f"size_{name}": SizeOf(type_) for name, type_ in _sized(function).items()}


def _compile(function: Function, lines: list[str]) -> tuple[str, CodeType]:
    """The source of these lines, and the code of the function in it."""
    source = "\n".join(lines) + "\n"
    name = f"<{function.package.short()}::{function.module.name}::{function.name}>"
    module_code = compile(source, name, "exec", dont_inherit=True)
    return source, next(item for item in module_code.co_consts if isinstance(item, CodeType))
