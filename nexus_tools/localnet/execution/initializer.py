"""Running the `init` function of each module of a package that is published."""

from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.move_call import call
from nexus_tools.localnet.vm import Reference, Value
from nexus_tools.sui.address import Address

INIT = "init"


def run_initializer(context: ExecutionContext, package: Address, module: str) -> None:
    """Call `init`, if the module has it: with its one-time witness if it asks for it."""
    function = context.machine.function(package, module, INIT)
    if function is None:
        return
    # A one-time witness is a struct whose only field is a boolean, which is true.
    witness: list[Value] = [[True]] if len(function.parameters) == 2 else []
    call(context, function, (), [*witness, Reference(context.cell(context.tx_context), 0)])
