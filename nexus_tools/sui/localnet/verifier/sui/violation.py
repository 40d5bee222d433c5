"""The errors of Sui's verifier passes, with the names and texts that a Sui node uses."""

from nexus_tools.sui.bytecode import (
    CompiledModule,
    DatatypeToken,
    FunctionDefinition,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

SUI_MOVE_VERIFICATION_ERROR = "SUI_MOVE_VERIFICATION_ERROR"
SUI_MOVE_VERIFICATION_TIMEDOUT = "SUI_MOVE_VERIFICATION_TIMEDOUT"
INVARIANT_VIOLATION = "INVARIANT_VIOLATION"


def violation(
    module: CompiledModule,
    message: str,
    function: FunctionDefinition | None = None,
    offset: int | None = None,
    status: str = SUI_MOVE_VERIFICATION_ERROR,
) -> VerificationError:
    """Return the error for a violated rule. `function` and `offset` are its location."""
    name = function_name(module, function) if function else None
    return VerificationError(status, message, module.name, name, offset)


def function_name(module: CompiledModule, function: FunctionDefinition) -> str:
    """Return the name of a function that the module defines."""
    return module.function_id(function.handle)[2]


FRAMEWORK_TEXT = SUI_FRAMEWORK.hex()
"""The framework's address in the format of error messages, with all digits and without `0x`."""

TX_CONTEXT_TEXT = f"{FRAMEWORK_TEXT}::tx_context::TxContext"


def module_text(module: CompiledModule) -> str:
    """Return the address and the name of a module."""
    return f"{module.address.hex()}::{module.name}"


def type_text(module: CompiledModule, token: SignatureToken) -> str:
    """Return a type in the notation of source code. A type parameter is `T` and its index."""
    if isinstance(token, VectorToken):
        return f"vector<{type_text(module, token.element)}>"
    if isinstance(token, ReferenceToken):
        return ("&mut " if token.mutable else "&") + type_text(module, token.target)
    if isinstance(token, TypeParameterToken):
        return f"T{token.index}"
    if isinstance(token, DatatypeToken):
        address, name, datatype = module.datatype_id(token.handle)
        arguments = ", ".join([type_text(module, token) for token in token.type_arguments])
        text = f"{Address(address).short()}::{name}::{datatype}"
        return f"{text}<{arguments}>" if arguments else text
    return token


def token_text(token: SignatureToken) -> str:
    """Return a type in the notation of module tables. A datatype is the index of its handle."""
    if isinstance(token, VectorToken):
        return f"Vector({token_text(token.element)})"
    if isinstance(token, ReferenceToken):
        kind = "MutableReference" if token.mutable else "Reference"
        return f"{kind}({token_text(token.target)})"
    if isinstance(token, TypeParameterToken):
        return f"TypeParameter({token.index})"
    if isinstance(token, DatatypeToken):
        handle = f"DatatypeHandleIndex({token.handle})"
        if not token.type_arguments:
            return f"Struct({handle})"
        arguments = ", ".join([token_text(token) for token in token.type_arguments])
        return f"StructInstantiation({handle}, [{arguments}])"
    return token.capitalize()
