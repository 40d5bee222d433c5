"""Sui's own Move verifier and its verdict on a module.

The VM verifies modules that it loads for a call. Its error for a rejected module contains the
verifier's status in the message.
"""

import re
from collections.abc import Iterator, Sequence

from genuine.machine import Call, ask
from nexus_tools.sui.bytecode import CompiledModule, ReferenceToken, Visibility
from nexus_tools.sui.types.address import Address

ACCEPTED, UNREADABLE = "ACCEPTED", "UNREADABLE"
# In the wheel, the linker and not the verifier resolves names. The operand stack has no limit. The
# instructions of global storage are rejected only at run time.
NOT_COMPARED = {
    "MISSING_DEPENDENCY",
    "VALUE_STACK_PUSH_OVERFLOW",
    "DEPRECATED_BYTECODE_FORMAT",
}

_STATUS = re.compile(
    r"major_status: UNEXPECTED_VERIFIER_ERROR.*?Error: VMError { major_status: (\w+)", re.DOTALL
)
_UNREADABLE = re.compile(r"^Function '\w+' not found in module")
_CALLED = "execution failed: VMError"


def callable_functions(module: CompiledModule) -> Iterator[str]:
    """Yield the functions whose call makes the VM load the module."""
    for function in module.function_definitions:
        handle = module.function_handles[function.handle]
        name = module.function_id(function.handle)[2]
        is_open = function.visibility is Visibility.PUBLIC or function.is_entry
        returns = module.signatures[handle.returns]
        is_kept = any(isinstance(token, ReferenceToken) for token in returns)
        if is_open and not is_kept and not handle.type_parameters and name != "init":
            yield name


def verdict(package: Address, files: Sequence[bytes], module: str, function: str) -> str | None:
    """Return `ACCEPTED`, `UNREADABLE`, or the status of a rejected module.

    Returns None if the call itself is rejected before the module is loaded.
    """
    error = ask(Call(package, module, function), {package: files})["error"]
    if error is None:
        return ACCEPTED
    if _UNREADABLE.search(error):
        return UNREADABLE
    refused = _STATUS.search(error)
    if refused:
        return refused[1]
    return ACCEPTED if _CALLED in error else None
