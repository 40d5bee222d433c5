"""Replacement of `sui::hash`, which the wheel implements differently, by hashes of both VMs."""

from collections.abc import Sequence

from msgspec.structs import replace

from assembler import Assembler
from nexus_tools.sui.bytecode import (
    Code,
    CompiledModule,
    FunctionDefinition,
    Instruction,
    Opcode,
    ReferenceToken,
    VectorToken,
    Visibility,
)
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, Address

_MODULE = "hash"
_BYTES = VectorToken("u8")
_NAMES = ("blake2b256", "keccak256")


def with_known_hashes(package: Address, modules: Sequence[CompiledModule]) -> list[CompiledModule]:
    """Return the modules of a package that use SHA3-256 instead of every hash of `sui::hash`.

    The package gets a module `hash` that calls `std::hash`. The wheel has Sui's native functions of
    `std::hash`.
    """
    return [*[_redirected(module) for module in modules], _known_hashes(package)]


def _redirected(module: CompiledModule) -> CompiledModule:
    own = module.module_handles[module.self_handle].address
    handles = [
        replace(row, address=own) if module.module_id(place) == (SUI_FRAMEWORK, _MODULE) else row
        for place, row in enumerate(module.module_handles)
    ]
    return replace(module, module_handles=tuple(handles))


def _known_hashes(package: Address) -> CompiledModule:
    made = Assembler(package, _MODULE)
    std = made.module(MOVE_STDLIB, _MODULE)
    called = made.function_handle(std, "sha3_256", [_BYTES], [_BYTES])
    instructions = (
        Instruction(Opcode.MOVE_LOC, 0),
        Instruction(Opcode.READ_REF),
        Instruction(Opcode.CALL, called),
        Instruction(Opcode.RET),
    )
    code = Code(made.signature([]), instructions, ())
    for name in _NAMES:
        reference = ReferenceToken(_BYTES, mutable=False)
        handle = made.function_handle(made.self_handle, name, [reference], [_BYTES])
        row = FunctionDefinition(handle, Visibility.PUBLIC, is_entry=False, acquires=(), code=code)
        made.row("function_definitions", row)
    return made.build()
