"""The check that certain framework functions are called only with types of the calling module.

Source: `sui-verifier/src/private_generics_verifier_v2.rs`.

For example, `sui::transfer::transfer<T>` transfers an object without `store`. If every module could
call this function, anyone could transfer an object that must stay with its owner. In a module that
defines `Ticket`, `transfer<Ticket>` is allowed, and `transfer<Coin<SUI>>` is rejected. For types
with `store`, the framework has `public_transfer`.
"""

from nexus_tools.sui.bytecode import (
    CompiledModule,
    DatatypeToken,
    FunctionDefinition,
    Instruction,
    Opcode,
    Signature,
    SignatureToken,
    Visibility,
)
from nexus_tools.sui.localnet.verifier.sui.violation import (
    INVARIANT_VIOLATION,
    function_name,
    module_text,
    type_text,
    violation,
)
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK

_PACKAGES = {bytes(MOVE_STDLIB): "std", bytes(SUI_FRAMEWORK): "sui"}
_EXHAUSTIVE = frozenset({"sui::event", "sui::transfer"})
"""The modules whose public functions must all be in `_INTERNAL`."""

_INTERNAL: dict[str, tuple[bool, ...]] = {
    "std::internal::permit": (True,),
    "sui::event::emit": (True,),
    "sui::event::emit_authenticated": (True,),
    "sui::event::num_events": (),
    "sui::event::events_by_type": (False,),
    "sui::transfer::public_transfer": (False,),
    "sui::transfer::public_freeze_object": (False,),
    "sui::transfer::public_share_object": (False,),
    "sui::transfer::public_receive": (False,),
    "sui::transfer::receiving_object_id": (False,),
    "sui::transfer::public_party_transfer": (False,),
    "sui::transfer::transfer": (True,),
    "sui::transfer::freeze_object": (True,),
    "sui::transfer::share_object": (True,),
    "sui::transfer::receive": (True,),
    "sui::transfer::party_transfer": (True,),
    "sui::coin_registry::new_currency": (True,),
}
"""Whether each type argument of a function must be a type that the calling module defines."""


def is_internal(address: bytes, module: str, function: str) -> bool:
    """Return whether a function requires types of the calling module, so a PTB cannot call it."""
    return any(_INTERNAL.get(f"{_PACKAGES.get(address)}::{module}::{function}", ()))


def verify_private_generics(module: CompiledModule) -> None:
    """Check all calls of the functions in `_INTERNAL`. Raises `VerificationError`."""
    module_name = f"{_PACKAGES.get(module.address)}::{module.name}"
    if module_name == "sui::test_scenario":
        return  # this module simulates the transactions of a test
    if module_name in _EXHAUSTIVE:
        _verify_table(module, module_name)
    for function in module.function_definitions:
        for offset, instruction in enumerate(function.code.instructions if function.code else ()):
            if instruction.opcode in (Opcode.CALL, Opcode.CALL_GENERIC):
                _verify_call(module, function, offset, instruction)


def _verify_table(module: CompiledModule, table_name: str) -> None:
    for function in module.function_definitions:
        name = function_name(module, function)
        if function.visibility is Visibility.PUBLIC and f"{table_name}::{name}" not in _INTERNAL:
            text = module_text(module)
            raise violation(
                module,
                f"Unknown function '{text}::{name}'. All functions in '{text}' must be listed in"
                " FUNCTIONS_TO_CHECK",
                function,
                status=INVARIANT_VIOLATION,
            )


def _verify_call(
    module: CompiledModule, function: FunctionDefinition, offset: int, instruction: Instruction
) -> None:
    callee, type_arguments = _callee(module, instruction)
    internal = _INTERNAL.get(callee)
    if internal is None:
        return
    prefix = f"{module_text(module)}::{function_name(module, function)}. "
    if len(type_arguments) != len(internal):
        raise violation(
            module,
            f"{prefix}'{callee}' expects {len(internal)} type arguments found"
            f" {len(type_arguments)}",
            function,
            offset,
            INVARIANT_VIOLATION,
        )
    for index, token in enumerate(type_arguments):
        if internal[index] and not _is_defined_here(module, token):
            raise violation(
                module,
                f"{prefix}Invalid call to '{callee}'. Type argument #{index} must be a type defined"
                f" in the current module, found '{type_text(module, token)}'.{_hint(callee)}",
                function,
                offset,
            )


def _callee(module: CompiledModule, instruction: Instruction) -> tuple[str, Signature]:
    """Return the called function as `package::module::name`, and its type arguments."""
    assert isinstance(instruction.operand, int)
    handle = instruction.operand
    type_arguments: Signature = ()
    if instruction.opcode is Opcode.CALL_GENERIC:
        row = module.function_instantiations[handle]
        handle, type_arguments = row.target, module.signatures[row.type_arguments]
    address, name, function = module.function_id(handle)
    return f"{_PACKAGES.get(address)}::{name}::{function}", type_arguments


def _is_defined_here(module: CompiledModule, token: SignatureToken) -> bool:
    if not isinstance(token, DatatypeToken):
        return False
    return module.datatype_handles[token.handle].module == module.self_handle


def _hint(callee: str) -> str:
    if not callee.startswith("sui::transfer::"):
        return ""
    public = callee.replace("sui::transfer::", "sui::transfer::public_")
    return f" If the type has the 'store' ability, use the public variant instead: '{public}'."
