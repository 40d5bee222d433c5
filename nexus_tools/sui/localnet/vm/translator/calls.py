"""Instructions that leave the block: calls, branches, return and abort."""

from nexus_tools.sui.bytecode import Opcode
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type, substitute
from nexus_tools.sui.localnet.vm.translator.block import BlockTranslator, InstructionTable, Operand
from nexus_tools.sui.types.type_tag import Primitive


def _call(block: BlockTranslator, handle: int) -> None:
    _call_handle(block, handle, ())


def _call_generic(block: BlockTranslator, index: int) -> None:
    module = block.frame.module
    instantiation = module.compiled.function_instantiations[index]
    type_arguments = module.signature(instantiation.type_arguments)
    _call_handle(block, instantiation.target, type_arguments)


def _call_handle(block: BlockTranslator, index: int, type_arguments: tuple[Type, ...]) -> None:
    module = block.frame.module
    handle = module.compiled.function_handles[index]
    if len(type_arguments) != len(handle.type_parameters):
        raise block.invalid("type arguments are missing")
    parameters = module.signature(handle.parameters)
    arguments = block.pop_many(len(parameters))
    for operand, parameter in zip(arguments, parameters, strict=True):
        block.expect(operand, substitute(parameter, type_arguments))
    block.settle()
    name = block.frame.callee(index, type_arguments, block.offset)
    parts = ["context", "room - 1", *[part for operand in arguments for part in operand.parts]]
    returns = [substitute(type_, type_arguments) for type_ in module.signature(handle.returns)]
    _push_returns(block, returns, f"{name}({', '.join(parts)})")


def _push_returns(block: BlockTranslator, types: list[Type], text: str) -> None:
    """Call a function and push its results. A reference result is a container and a key."""
    if len(types) == 1 and not isinstance(types[0], ReferenceType):
        block.push_result(types[0], text, is_call=True)
        return
    names, operands = [], []
    for type_ in types:
        name = block.temporary()
        key = block.temporary() if isinstance(type_, ReferenceType) else None
        names += [name, key] if key else [name]
        operands.append(Operand(type_, name, key))
    block.line(f"{', '.join(names)} = {text}" if names else text, is_call=True)
    for operand in operands:
        block.push(operand)


def _return(block: BlockTranslator, _: object) -> None:
    types = block.frame.function.returns
    operands = block.pop_many(len(types))
    for operand, type_ in zip(operands, types, strict=True):
        block.expect(operand, type_)
    if block.has_operands:
        raise block.invalid("operands are left")
    parts = [part for operand in operands for part in operand.parts]
    block.close(f"return {', '.join(parts)}".rstrip())


def _abort(block: BlockTranslator, _: object) -> None:
    code = block.expect(block.pop(), Primitive.U64)
    block.close(f"raise abort({code.text}, function, {{offset}})")


def _branch_if(block: BlockTranslator, _: object) -> None:
    block.condition = block.expect(block.pop(), Primitive.BOOL).text


def _pop(block: BlockTranslator, _: object) -> None:
    block.pop()


def _nothing(_block: BlockTranslator, _: object) -> None:
    """Ignore NOP, and BRANCH, which is part of the control flow graph."""


CALLS: InstructionTable = {
    Opcode.CALL: _call,
    Opcode.CALL_GENERIC: _call_generic,
    Opcode.RET: _return,
    Opcode.ABORT: _abort,
    Opcode.BR_TRUE: _branch_if,
    Opcode.BR_FALSE: _branch_if,
    Opcode.BRANCH: _nothing,
    Opcode.NOP: _nothing,
    Opcode.POP: _pop,
}
