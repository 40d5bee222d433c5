"""The uses of an input by the commands of a transaction.

For an argument of a Move call, the declared type of the function's parameter determines the use.
"""

from collections.abc import Iterable, Iterator
from enum import Enum, auto

from msgspec import Struct

from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import invalid, not_found
from nexus_tools.sui.localnet.vm import Function, Type
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import (
    Argument,
    Command,
    InputArgument,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    SplitCoins,
    TransferObjects,
    Upgrade,
)


class Role(Enum):
    """The role of an input in a command."""

    PARAMETER = auto()
    TRANSFERRED = auto()
    RECIPIENT = auto()
    COIN = auto()
    AMOUNT = auto()
    ELEMENT = auto()
    TICKET = auto()


class Use(Struct, frozen=True):
    """One use of an input. `position` is the index among the command's arguments with this role."""

    command: Command
    role: Role
    position: int


class Uses:
    """The uses of a transaction's inputs, by the index of the input."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._uses: dict[int, list[Use]] = {}
        for command in commands:
            for role, arguments in _roles(command):
                self._note(command, role, arguments)

    def of(self, index: int) -> tuple[Use, ...]:
        """Return the uses of the `index`th input, in the order of the commands."""
        return tuple(self._uses.get(index, ()))

    def _note(self, command: Command, role: Role, arguments: tuple[Argument, ...]) -> None:
        for position, argument in enumerate(arguments):
            if isinstance(argument, InputArgument):
                use = Use(command, role, position)
                self._uses.setdefault(argument.index, []).append(use)


def _roles(command: Command) -> Iterator[tuple[Role, tuple[Argument, ...]]]:
    match command:
        case MoveCall():
            yield Role.PARAMETER, command.arguments
        case TransferObjects():
            yield Role.TRANSFERRED, command.objects
            yield Role.RECIPIENT, (command.address,)
        case SplitCoins():
            yield Role.COIN, (command.coin,)
            yield Role.AMOUNT, command.amounts
        case MergeCoins():
            yield Role.COIN, (command.destination, *command.sources)
        case MakeMoveVec():
            yield Role.ELEMENT, command.elements
        case Upgrade():
            yield Role.TICKET, (command.ticket,)
        case _:
            return


# --- Called functions


class CalledFunctions:
    """The functions that commands call. All their packages must exist.

    Raises:
        RpcError: NOT_FOUND if a package does not exist, INVALID_ARGUMENT if the object is not a
            package.
    """

    def __init__(self, node: Node, commands: Iterable[Command]) -> None:
        self._machine = node.machine
        for command in commands:
            if isinstance(command, MoveCall):
                _check_package(node, command.package)

    def parameter(self, call: MoveCall, position: int) -> Type:
        """Return the declared type of a parameter.

        The type may contain the function's type parameters.

        Raises:
            RpcError: INVALID_ARGUMENT.
        """
        parameters = self._function(call).parameters
        if position >= len(parameters):
            raise invalid("invalid input parameter")
        return parameters[position]

    def _function(self, call: MoveCall) -> Function:
        function = self._machine.types.function(call.package, call.module, call.function)
        if function is None:
            raise invalid(
                f"unable to find function {call.package}::{call.module[:128]}"
                f"::{call.function[:128]}"
            )
        return function


def _check_package(node: Node, package: Address) -> None:
    value = node.ledger.get(package)
    if value is None:
        raise not_found(f"Object {package} not found")
    if not isinstance(value.data, MovePackage):
        raise invalid(f"object {package} is not a package")
