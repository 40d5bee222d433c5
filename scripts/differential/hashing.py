"""Hashes that both machines know, in the place of those which the wheel takes by value only."""

from collections.abc import Sequence
from dataclasses import replace

from nexus_tools.localnet.bytecode import CompiledModule
from nexus_tools.localnet.bytecode.module import (
    Code,
    FunctionDefinition,
    FunctionHandle,
    Instruction,
    ModuleHandle,
    ReferenceToken,
    VectorToken,
    Visibility,
)
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, Address

_MODULE = "hash"
_BYTES = VectorToken("u8")
_OWN, _STD = 0, 1
_NAMES = ("hash", "blake2b256", "keccak256", "sha3_256")
_CALLED = 2


def with_known_hashes(package: Address, modules: Sequence[CompiledModule]) -> list[CompiledModule]:
    """The modules of a package with SHA3-256 wherever they ask `sui::hash` for another hash.

    The package gets a module `hash` that calls `std::hash`, whose natives are genuine.
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
    code = Code(
        0,
        (
            Instruction(Opcode.MOVE_LOC, 0),
            Instruction(Opcode.READ_REF),
            Instruction(Opcode.CALL, _CALLED),
            Instruction(Opcode.RET),
        ),
        (),
    )
    definitions = [
        FunctionDefinition(place, Visibility.PUBLIC, is_entry=False, acquires=(), code=code)
        for place in range(_CALLED)
    ]
    return CompiledModule(
        version=6,
        flavor=0,
        self_handle=_OWN,
        module_handles=(ModuleHandle(0, 0), ModuleHandle(1, 0)),
        datatype_handles=(),
        function_handles=(
            FunctionHandle(_OWN, 1, 1, 2, ()),
            FunctionHandle(_OWN, 2, 1, 2, ()),
            FunctionHandle(_STD, 3, 2, 2, ()),
        ),
        function_instantiations=(),
        signatures=((), (ReferenceToken(_BYTES, mutable=False),), (_BYTES,)),
        constants=(),
        identifiers=_NAMES,
        addresses=(bytes(package), bytes(MOVE_STDLIB)),
        struct_definitions=(),
        struct_instantiations=(),
        function_definitions=tuple(definitions),
        field_handles=(),
        field_instantiations=(),
        friends=(),
        metadata=(),
        enum_definitions=(),
        enum_instantiations=(),
        variant_handles=(),
        variant_instantiations=(),
    )
