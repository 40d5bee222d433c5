"""What an executed transaction did."""

from collections.abc import Mapping

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.event import Event
from nexus_tools.sui.object import Object
from nexus_tools.sui.transaction import Argument
from nexus_tools.sui.type_tag import TypeTag

TypedBytes = tuple[TypeTag, bytes]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command returned, and what it made of arguments that it took by `&mut`, as BCS."""

    return_values: tuple[TypedBytes, ...]
    mutated_by_reference: tuple[tuple[Argument, TypeTag, bytes], ...]


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """The effects, and the objects behind them.

    `written` are objects as they are now, `removed` objects as they were before they were deleted
    or wrapped, `input_objects` all that was read or changed, as it was. `command_results` is empty
    in mode COMMIT, and has the commands before the one that failed. `failure` explains the status
    to people; it is "" after success.
    """

    effects: TransactionEffects
    events: tuple[Event, ...]
    written: Mapping[Address, Object]
    removed: Mapping[Address, Object]
    input_objects: tuple[Object, ...]
    command_results: tuple[CommandResult, ...]
    failure: str = ""
