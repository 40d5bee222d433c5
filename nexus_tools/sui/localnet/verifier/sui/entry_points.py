"""The check that `init` has a valid signature and that no code calls it.

Entry functions may take and return any types. Sui no longer checks the signatures of entry
functions (`disable_entry_point_signature_check`) but checks the arguments of each call instead.

Source: `sui-verifier/src/entry_points_verifier.rs`.
"""

from nexus_tools.sui.bytecode import (
    INIT,
    CompiledModule,
    DatatypeToken,
    FunctionDefinition,
    FunctionHandle,
    Opcode,
    ReferenceToken,
    SignatureToken,
    Visibility,
)
from nexus_tools.sui.localnet.verifier.sui.violation import (
    TX_CONTEXT_TEXT,
    function_name,
    module_text,
    type_text,
    violation,
)
from nexus_tools.sui.types.type_tag import TX_CONTEXT

_TX_CONTEXT = TX_CONTEXT.datatype


def verify_entry_points(module: CompiledModule) -> None:
    """Check `init` and all calls. Raises `VerificationError`."""
    for function in module.function_definitions:
        _verify_init_not_called(module, function)
        if function_name(module, function) == INIT:
            _verify_init(module, function)


def _verify_init_not_called(module: CompiledModule, function: FunctionDefinition) -> None:
    for offset, instruction in enumerate(function.code.instructions if function.code else ()):
        if instruction.opcode not in (Opcode.CALL, Opcode.CALL_GENERIC):
            continue
        handle = instruction.operand
        assert isinstance(handle, int)
        if instruction.opcode is Opcode.CALL_GENERIC:
            handle = module.function_instantiations[handle].target
        if module.function_id(handle)[2] == INIT:
            raise violation(
                module,
                f"{module_text(module)}::{INIT} at offset {offset}. Cannot call a module's"
                f" '{INIT}' function from another Move function",
                function,
                offset,
            )


def _verify_init(module: CompiledModule, function: FunctionDefinition) -> None:
    handle = module.function_handles[function.handle]
    parameters = module.signatures[handle.parameters]
    reason = _init_declaration(module, function, handle)
    if not reason and not 1 <= len(parameters) <= 2:
        reason = (
            f"Expected at least one and at most two parameters for {module_text(module)}::{INIT}"
        )
    if not reason and not _is_tx_context(module, parameters[-1]):
        reason = (
            f"Expected last parameter for {module_text(module)}::{INIT} to be"
            f" &mut {TX_CONTEXT_TEXT} or &{TX_CONTEXT_TEXT}, but found"
            f" {type_text(module, parameters[0])}"
        )
    if reason:
        raise violation(module, reason, function)


def _init_declaration(
    module: CompiledModule, function: FunctionDefinition, handle: FunctionHandle
) -> str:
    """Return an error message for an invalid `init`, or "", without checking its parameters."""
    text = module_text(module)
    if function.visibility is not Visibility.PRIVATE:
        return f"{text}. '{INIT}' function must be private"
    if function.is_entry:
        return f"{text}. '{INIT}' cannot be 'entry'"
    if handle.type_parameters:
        return f"{text}. '{INIT}' function cannot have type parameters"
    if module.signatures[handle.returns]:
        return f"{text}, '{INIT}' function cannot have return values"
    return ""


def _is_tx_context(module: CompiledModule, token: SignatureToken) -> bool:
    """Return whether a type is a reference to the transaction's context."""
    target = token.target if isinstance(token, ReferenceToken) else None
    return isinstance(target, DatatypeToken) and module.datatype_id(target.handle) == _TX_CONTEXT
