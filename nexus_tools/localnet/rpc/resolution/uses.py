"""Where the commands of a transaction use an input, and what that says about it."""

from collections.abc import Iterable, Iterator
from enum import Enum, auto

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.transaction import (
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
    """What a command wants the input for; for a call, its parameter says it."""

    PARAMETER = auto()
    TRANSFERRED = auto()
    RECIPIENT = auto()
    COIN = auto()
    AMOUNT = auto()
    ELEMENT = auto()
    TICKET = auto()


@dataclass(frozen=True, slots=True)
class Use:
    """One use: `position` is that of the argument among those of the same role."""

    command: Command
    role: Role
    position: int


class Uses:
    """All uses of all inputs, by the number of the input."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._uses: dict[int, list[Use]] = {}
        for command in commands:
            for role, arguments in _roles(command):
                self._note(command, role, arguments)

    def of(self, index: int) -> tuple[Use, ...]:
        """The uses of the `index`th input, in the order of the commands."""
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
