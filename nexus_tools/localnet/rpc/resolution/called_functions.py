"""The functions that a transaction calls, as far as they say what their arguments are."""

from collections.abc import Iterable

from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.status import invalid, not_found
from nexus_tools.localnet.vm import Function, Type
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import MovePackage
from nexus_tools.sui.transaction import Command, MoveCall


class CalledFunctions:
    """Looks functions up in packages, all of which have to exist.

    Raises `RpcError`: NOT_FOUND for a package, INVALID_ARGUMENT for an object that is none.
    """

    def __init__(self, node: Node, commands: Iterable[Command]) -> None:
        self._machine = node.machine
        for command in commands:
            if isinstance(command, MoveCall):
                _check_package(node, command.package)

    def parameter(self, call: MoveCall, position: int) -> Type:
        """The declared type of a parameter; type parameters of the function stay as they are.

        Raises `RpcError` (INVALID_ARGUMENT).
        """
        parameters = self._function(call).parameters
        if position >= len(parameters):
            raise invalid("invalid input parameter")
        return parameters[position]

    def _function(self, call: MoveCall) -> Function:
        function = self._machine.function(call.package, call.module, call.function)
        if function is None:
            raise invalid(
                f"unable to find function {call.package}::{call.module[:128]}"
                f"::{call.function[:128]}"
            )
        return function


def _check_package(node: Node, package: Address) -> None:
    found = node.ledger.get(package)
    if found is None:
        raise not_found(f"Object {package} not found")
    if not isinstance(found.data, MovePackage):
        raise invalid(f"object {package} is not a package")
