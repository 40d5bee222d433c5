"""The genuine verifier of Move, asked for its verdict on a module.

The machine verifies what it loads when it is to call a function. What it says of a module that it
refuses has the status of the verifier inside the message.
"""

import re
from collections.abc import Iterator, Sequence

from genuine.machine import Call, ask
from nexus_tools.sui.bytecode import CompiledModule, ReferenceToken, Visibility
from nexus_tools.sui.types.address import Address

ACCEPTED, UNREADABLE = "ACCEPTED", "UNREADABLE"
# Its linker, not its verifier, looks for what a module names; its stack of operands has no limit;
# the instructions of global storage are refused when they are run.
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
    """The functions by whose call the machine can be made to load the module."""
    for function in module.function_definitions:
        handle = module.function_handles[function.handle]
        name = module.function_id(function.handle)[2]
        is_open = function.visibility is Visibility.PUBLIC or function.is_entry
        returns = module.signatures[handle.returns]
        is_kept = any(isinstance(token, ReferenceToken) for token in returns)
        if is_open and not is_kept and not handle.type_parameters and name != "init":
            yield name


def verdict(package: Address, files: Sequence[bytes], module: str, function: str) -> str | None:
    """`ACCEPTED`, `UNREADABLE`, or the status with which a module of a package is refused.

    None if the call itself is refused, before the module is loaded.
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
