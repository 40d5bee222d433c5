"""The errors of Sui's passes, named as the effects of a transaction name them."""

from nexus_tools.localnet.bytecode import CompiledModule
from nexus_tools.localnet.bytecode.module import FunctionDefinition
from nexus_tools.localnet.verifier.errors import VerificationError

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
    """The module breaks a rule of Sui, perhaps in a function, at an instruction."""
    name = function_name(module, function) if function else None
    return VerificationError(status, message, module.name, name, offset)


def function_name(module: CompiledModule, function: FunctionDefinition) -> str:
    """The name of a function that the module defines."""
    return module.function_id(function.handle)[2]
