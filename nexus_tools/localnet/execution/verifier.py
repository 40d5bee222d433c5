"""What Sui asks of modules beyond the rules of Move, before a package is published.

Source: `sui-verifier/src/{struct_with_key_verifier,private_generics,entry_points_verifier}.rs`.
The compiler enforces these rules as well; they are checked here for bytecode of other origin. Not
checked are the leaks of ids (`id_leak_verifier.rs`) and misuse of one-time witnesses.
"""

from collections.abc import Iterator

from nexus_tools.localnet.bytecode import CompiledModule, Opcode
from nexus_tools.localnet.bytecode.module import Ability, DatatypeToken, SignatureToken
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.execution_status import ErrorKind

PRIVATE_TRANSFERS = frozenset(
    {"transfer", "freeze_object", "share_object", "receive", "party_transfer"}
)
"""Functions of `sui::transfer` that only the module of the type may call."""

_UID = (bytes(SUI_FRAMEWORK), "object", "UID")


def verify_module(module: CompiledModule) -> None:
    """Refuse a module that breaks a rule of this file. Raises `CommandFailed`."""
    _verify_objects(module)
    for function, token in _private_generics(module):
        if not _is_defined_here(module, token):
            raise _broken(f"{module.name} calls {function} for a type of another module")


def _verify_objects(module: CompiledModule) -> None:
    """A struct with the ability key begins with `id: UID`; an enum has not the ability."""
    for struct in module.struct_definitions:
        if not module.datatype_handles[struct.handle].abilities & Ability.KEY:
            continue
        first = struct.fields[0] if struct.fields else None
        named = first is not None and module.identifiers[first.name] == "id"
        if first is None or not named or not _is_uid(module, first.type):
            name = module.datatype_id(struct.handle)[2]
            raise _broken(f"the first field of {module.name}::{name} is not `id: UID`")
    for enum in module.enum_definitions:
        if module.datatype_handles[enum.handle].abilities & Ability.KEY:
            raise _broken(f"an enum of {module.name} has the ability key")


def _is_uid(module: CompiledModule, token: SignatureToken) -> bool:
    return isinstance(token, DatatypeToken) and module.datatype_id(token.handle) == _UID


def _private_generics(module: CompiledModule) -> Iterator[tuple[str, SignatureToken]]:
    """Calls of private transfers and of `event::emit`, with the types that they are for."""
    for definition in module.function_definitions:
        for instruction in definition.code.instructions if definition.code else ():
            if instruction.opcode is not Opcode.CALL_GENERIC:
                continue
            assert isinstance(instruction.operand, int)
            row = module.function_instantiations[instruction.operand]
            address, name, function = module.function_id(row.target)
            if address == SUI_FRAMEWORK and _is_private(name, function):
                yield f"{name}::{function}", module.signatures[row.type_arguments][0]


def _is_private(module: str, function: str) -> bool:
    if module == "event":
        return function == "emit"
    return module == "transfer" and function in PRIVATE_TRANSFERS


def _is_defined_here(module: CompiledModule, token: SignatureToken) -> bool:
    if not isinstance(token, DatatypeToken):
        return False
    return module.datatype_handles[token.handle].module == module.self_handle


def _broken(message: str) -> CommandFailed:
    return CommandFailed(ErrorKind.SUI_MOVE_VERIFICATION_ERROR, message=message)
