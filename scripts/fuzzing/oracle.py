"""The genuine verifier of Move, asked for its verdict on a module.

The one in the `sui_sandbox` wheel verifies what it loads when it is to call a function.
"""

import re
from collections.abc import Iterator, Mapping

import sui_sandbox

from fuzzing.corpus import PACKAGE
from nexus_tools.localnet.bytecode.module import CompiledModule, ReferenceToken, Visibility

_STATUS = re.compile(
    r"major_status: UNEXPECTED_VERIFIER_ERROR.*?Error: VMError { major_status: (\w+)", re.DOTALL
)
_UNREADABLE = re.compile(r"^Function '\w+' not found in module")
_CALLED = "execution failed: VMError"
ACCEPTED, UNREADABLE = "ACCEPTED", "UNREADABLE"


def callable_functions(module: CompiledModule) -> Iterator[str]:
    """The functions by whose call the oracle can be made to load the module."""
    for function in module.function_definitions:
        handle = module.function_handles[function.handle]
        name = module.function_id(function.handle)[2]
        is_open = function.visibility is Visibility.PUBLIC or function.is_entry
        returns = module.signatures[handle.returns]
        is_kept = any(isinstance(token, ReferenceToken) for token in returns)
        if is_open and not is_kept and not handle.type_parameters and name != "init":
            yield name


def verdict(files: Mapping[str, bytes], module: str, function: str) -> str | None:
    """`ACCEPTED`, `UNREADABLE`, or the status with which a module of a package is refused.

    None if the oracle refuses the call itself, before it loads the module.
    """
    answer = sui_sandbox.call_view_function(
        PACKAGE.short(),
        module,
        function,
        type_args=[],
        object_inputs=[],
        package_bytecodes={PACKAGE.short(): list(files.values())},
        fetch_deps=False,
    )
    error = answer["error"]
    if error is None:
        return ACCEPTED
    if _UNREADABLE.search(error):
        return UNREADABLE
    refused = _STATUS.search(error)
    if refused:
        return refused[1]
    return ACCEPTED if _CALLED in error else None
