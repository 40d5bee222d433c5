"""Modules with every function callable, and with access to events that Sui's own VM hides.

Sui's own VM runs any code that it receives. If all functions of a module are made public, the VM
also runs functions that were private. Nothing else in the module is changed.
"""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from assembler import Assembler
from nexus_tools.sui.bytecode import (
    Code,
    CompiledModule,
    FunctionDefinition,
    Instruction,
    ModuleHandle,
    Opcode,
    ReferenceToken,
    Signature,
    SignatureToken,
    VectorToken,
    Visibility,
)

# Native test functions of the wheel in `sui::event`. If the second function is declared without a
# type parameter, it returns the bytes of all events.
EVENT_COUNT = "num_events"
EVENT_BYTES = "events_by_type"


def expose(module: CompiledModule) -> CompiledModule:
    """Return the module with all its functions public, and without friends."""
    definitions = tuple(
        [replace(row, visibility=Visibility.PUBLIC) for row in module.function_definitions]
    )
    return replace(module, function_definitions=definitions, friends=())


def count_events(event: CompiledModule) -> CompiledModule:
    """Return the module `sui::event` with the native functions that report emitted events."""
    made = Assembler.extending(event)
    for name, token in ((EVENT_COUNT, "u64"), (EVENT_BYTES, VectorToken("u8"))):
        handle = made.function_handle(made.self_handle, name, [], [token])
        row = FunctionDefinition(handle, Visibility.PUBLIC, is_entry=False, acquires=(), code=None)
        made.row("function_definitions", row)
    return made.build()


def only_emitting(event: CompiledModule) -> CompiledModule:
    """Return the module `sui::event` with only `emit`, which is its first function.

    The result needs no other module.
    """
    emit = event.function_definitions[0]
    handle = event.function_handles[emit.handle]
    name = event.identifiers[handle.name]
    own = event.module_handles[event.self_handle]
    return replace(
        event,
        self_handle=0,
        addresses=(event.addresses[own.address],),
        identifiers=(event.name, name),
        module_handles=(ModuleHandle(0, 0),),
        datatype_handles=(),
        signatures=(event.signatures[handle.parameters], ()),
        function_handles=(replace(handle, module=0, name=1, parameters=0, returns=1),),
        function_instantiations=(),
        function_definitions=(replace(emit, handle=0),),
        constants=(),
    )


_ABORTING = (Instruction(Opcode.LD_U64, 0), Instruction(Opcode.ABORT))


def aborting(module: CompiledModule, names: Collection[str]) -> CompiledModule:
    """Return the module in which the functions `names` only abort. They can be native."""
    signatures = [*module.signatures, *([] if () in module.signatures else [()])]
    code = Code(signatures.index(()), _ABORTING, ())
    definitions = [
        replace(row, code=code) if module.function_id(row.handle)[2] in names else row
        for row in module.function_definitions
    ]
    return replace(module, signatures=tuple(signatures), function_definitions=tuple(definitions))


def only_reached(module: CompiledModule, name: str) -> CompiledModule:
    """Return the module with code only in a function and the functions that it calls.

    All other functions abort, so that a VM verifies less code.
    """
    by_handle = {row.handle: row for row in module.function_definitions}
    names = {module.function_id(handle)[2]: handle for handle in by_handle}
    reached: set[int] = set()
    waiting = [names[name]]
    while waiting:
        handle = waiting.pop()
        if handle in by_handle and handle not in reached:
            reached.add(handle)
            waiting += _called(module, by_handle[handle])
    others = [
        other
        for other, handle in names.items()
        if handle not in reached and by_handle[handle].code is not None
    ]
    return aborting(module, others)


def _called(module: CompiledModule, row: FunctionDefinition) -> Iterator[int]:
    """Yield the handles of the functions that a function calls."""
    for one in row.code.instructions if row.code else ():
        operand: Any = one.operand
        if one.opcode is Opcode.CALL:
            yield operand
        elif one.opcode is Opcode.CALL_GENERIC:
            yield module.function_instantiations[operand].target


def natives_by_value(module: CompiledModule, names: Collection[str]) -> CompiledModule:
    """Return the module with native functions that take the targets of references by value.

    The wheel's native functions expect their arguments in this form. The functions of the module
    call the native functions through added functions, which read the references. Other modules
    cannot call the native functions.
    """
    tables = _ByValue(module)
    for row in module.function_definitions:
        if module.function_id(row.handle)[2] in names:
            tables.change(row.handle)
    return tables.module()


class _ByValue:
    """The tables of a module that change when native functions take values."""

    def __init__(self, module: CompiledModule) -> None:
        self._module = module
        self._identifiers = list(module.identifiers)
        self._signatures = list(module.signatures)
        self._handles = list(module.function_handles)
        self._readers: list[FunctionDefinition] = []
        self._instead: dict[Any, int] = {}

    def change(self, native: int) -> None:
        handle = self._handles[native]
        parameters = self._signatures[handle.parameters]
        values = self._signature(tuple([pointed(token) for token in parameters]))
        self._handles[native] = replace(handle, parameters=values)
        self._identifiers.append(f"{self._identifiers[handle.name]}_of_references")
        self._handles.append(replace(handle, name=len(self._identifiers) - 1))
        self._instead[native] = len(self._handles) - 1
        instructions = []
        for place, token in enumerate(parameters):
            instructions.append(Instruction(Opcode.MOVE_LOC, place))
            if isinstance(token, ReferenceToken):
                instructions.append(Instruction(Opcode.READ_REF))
        instructions += [Instruction(Opcode.CALL, native), Instruction(Opcode.RET)]
        code = Code(self._signature(()), tuple(instructions), ())
        self._readers.append(
            FunctionDefinition(len(self._handles) - 1, Visibility.PUBLIC, False, (), code)
        )

    def module(self) -> CompiledModule:
        definitions = [self._calling_readers(row) for row in self._module.function_definitions]
        return replace(
            self._module,
            identifiers=tuple(self._identifiers),
            signatures=tuple(self._signatures),
            function_handles=tuple(self._handles),
            function_definitions=tuple(definitions + self._readers),
        )

    def _calling_readers(self, row: FunctionDefinition) -> FunctionDefinition:
        if row.code is None:
            return row
        instructions = [
            replace(one, operand=self._instead.get(one.operand, one.operand))
            if one.opcode is Opcode.CALL
            else one
            for one in row.code.instructions
        ]
        return replace(row, code=replace(row.code, instructions=tuple(instructions)))

    def _signature(self, signature: Signature) -> int:
        if signature not in self._signatures:
            self._signatures.append(signature)
        return self._signatures.index(signature)


def pointed(token: SignatureToken) -> SignatureToken:
    """Return the target type of a reference. Any other type is returned unchanged."""
    return token.target if isinstance(token, ReferenceToken) else token
