"""The check that code does not use Move's global storage, because Sui stores objects itself.

Source: `sui-verifier/src/global_storage_access_verifier.rs`.
"""

from nexus_tools.sui.bytecode import CompiledModule, Opcode
from nexus_tools.sui.localnet.verifier.sui.violation import function_name, violation

_SUFFIX = "_DEPRECATED"
_GLOBAL_STORAGE = {
    opcode: opcode.name.removesuffix(_SUFFIX).title().replace("_", "")
    for opcode in Opcode
    if opcode.name.endswith(_SUFFIX)
}


def verify_global_storage_access(module: CompiledModule) -> None:
    """Check all code. Raises `VerificationError`."""
    for function in module.function_definitions:
        instructions = function.code.instructions if function.code else ()
        accesses = [
            f"{_GLOBAL_STORAGE[row.opcode]}({_index(row.opcode)}({row.operand}))"
            for row in instructions
            if row.opcode in _GLOBAL_STORAGE
        ]
        if accesses:
            raise violation(
                module,
                "Access to Move global storage is not allowed. Found in function"
                f" {function_name(module, function)}: [{', '.join(accesses)}]",
                function,
            )


def _index(opcode: Opcode) -> str:
    """Return the name of the operand's type, an index into a table of the module."""
    generic = "GENERIC" in opcode.name
    return "StructDefInstantiationIndex" if generic else "StructDefinitionIndex"
