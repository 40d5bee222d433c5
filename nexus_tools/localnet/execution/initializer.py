"""Running the `init` function of each module of a package that is published.

Source: `entry_points_verifier.rs` and `one_time_witness_verifier.rs` of `sui-verifier`.
"""

from nexus_tools.localnet.bytecode.module import Ability, Visibility
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.move_call import call, is_tx_context, tx_context_argument
from nexus_tools.localnet.vm import Function, Type, Value
from nexus_tools.sui.address import Address
from nexus_tools.sui.execution_status import ErrorKind
from nexus_tools.sui.type_tag import Primitive, StructTag

INIT = "init"


def check_initializer(context: ExecutionContext, package: Address, module: str) -> None:
    """Refuse a module whose `init` has another signature than Sui asks for."""
    function = context.machine.function(package, module, INIT)
    if function is None:
        return
    fits = (
        function.visibility is Visibility.PRIVATE
        and not function.is_entry
        and not function.type_parameters
        and not function.returns
        and 1 <= len(function.parameters) <= 2
        and is_tx_context(function.parameters[-1])
        and (len(function.parameters) == 1 or _is_witness(context, function))
    )
    if not fits:
        raise CommandFailed(
            ErrorKind.SUI_MOVE_VERIFICATION_ERROR,
            message=f"{module}::{INIT} has not the signature of a module initializer",
        )


def run_initializer(context: ExecutionContext, package: Address, module: str) -> None:
    """Call `init`, if the module has it: with its one-time witness if it asks for it."""
    function = context.machine.function(package, module, INIT)
    if function is None:
        return
    # A one-time witness is a struct whose only field is a boolean, which is true.
    witness: list[Value] = [[True]] if len(function.parameters) == 2 else []
    call(context, function, (), [*witness, tx_context_argument(context)])


def _is_witness(context: ExecutionContext, function: Function) -> bool:
    type_: Type = function.parameters[0]
    if not isinstance(type_, StructTag) or type_.name != type_.module.upper():
        return False
    datatype = context.machine.datatype(type_)
    if datatype is None or type_.module != function.module.name:
        return False
    fields = [field for _, field in datatype.fields or ()]
    return datatype.abilities == Ability.DROP and fields == [Primitive.BOOL]
