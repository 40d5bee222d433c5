"""The trace of one transaction: its commands, and below each the calls of functions."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from nexus_tools.sui.bytecode import CleverError
from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.localnet.trace.changed_object import ChangedObject
from nexus_tools.sui.localnet.trace.value import MoveValue
from nexus_tools.sui.localnet.vm import Function, Type, TypeArguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ExecutionError, MoveAbort, MoveLocation
from nexus_tools.sui.types.transaction import Argument, Command
from nexus_tools.sui.types.type_tag import StructTag


class CallStatus(StrEnum):
    """How a call or a command ended.

    RETURNED   it did what it was to do
    FAILED     what ended the transaction happened in it
    UNWOUND    it ended because something that it called failed
    NOT_RUN    the transaction had ended before
    """

    RETURNED = "returned"
    FAILED = "failed"
    UNWOUND = "unwound"
    NOT_RUN = "not_run"


class GasUse(Struct, frozen=True):
    """Units of the machine's meter: with all that was called, and without."""

    total: int
    own: int


class TracedValue(Struct, frozen=True):
    """A value that went into a call, or came out of it; `type` may be a reference.

    `after` is what an argument lent as `&mut` was when the call returned, if it was changed.
    """

    type: Type
    value: MoveValue
    after: MoveValue | None = None


class EventTrace(Struct, frozen=True):
    """An event, the `index`th of the transaction."""

    index: int
    type: StructTag
    value: MoveValue


class CallTrace(Struct, frozen=True):
    """A call of a function; `steps` are the calls and events in it, in their order.

    `function.package` is the version of the package that was called. `left_out` counts the calls
    in it that were not kept.
    """

    function: Function
    type_arguments: TypeArguments
    arguments: tuple[TracedValue, ...]
    results: tuple[TracedValue, ...]
    status: CallStatus
    gas: GasUse
    steps: tuple["CallTrace | EventTrace", ...]
    left_out: int = 0

    @property
    def calls(self) -> tuple["CallTrace", ...]:
        """The calls in it, without what they call in turn."""
        return tuple(step for step in self.steps if isinstance(step, CallTrace))

    def walk(self) -> Iterator["CallTrace | EventTrace"]:
        """The call itself, and everything in it, in the order in which it began."""
        yield self
        for step in self.steps:
            if isinstance(step, CallTrace):
                yield from step.walk()
            else:
                yield step


Step = CallTrace | EventTrace


class CommandArgument(Struct, frozen=True):
    """An argument of a command, and its value if its type is known.

    `after` is what it was when the command ended, if the command changed it.
    """

    argument: Argument
    value: MoveValue | None
    after: MoveValue | None = None


class CommandTrace(Struct, frozen=True):
    """A command of the transaction; `package` is the one that it published."""

    command: Command
    status: CallStatus
    arguments: tuple[CommandArgument, ...] = ()
    results: tuple[MoveValue, ...] = ()
    gas: GasUse = GasUse(0, 0)
    steps: tuple[Step, ...] = ()
    package: Address | None = None
    left_out: int = 0


class TraceFailure(Struct, frozen=True):
    """Why the transaction failed, and in which command; `message` is for people.

    `clever_error` is what an abort code tells of its constant and its line.
    """

    error: ExecutionError
    command: int | None
    message: str
    clever_error: CleverError | None

    @property
    def location(self) -> MoveLocation | None:
        """Where the code failed."""
        data = self.error.data
        if isinstance(data, MoveAbort):
            return data.location
        return data if isinstance(data, MoveLocation) else None

    @property
    def abort_code(self) -> int | None:
        """The code of an abort."""
        return self.error.data.code if isinstance(self.error.data, MoveAbort) else None


class TransactionTrace(Struct, frozen=True):
    """What a transaction did.

    `executed` is what the chain knows of it, and `objects` are from there; all else is from its
    second execution. `is_faithful` says whether that had the same effects, byte for byte. At most
    so many calls are kept; `left_out` counts the others. `is_simulated` is of a transaction that
    was not sent: `executed` is what the chain would know of it.
    """

    executed: ExecutedTransaction
    is_faithful: bool
    failure: TraceFailure | None
    commands: tuple[CommandTrace, ...]
    objects: tuple[ChangedObject, ...]
    left_out: int
    is_simulated: bool = False

    def walk(self) -> Iterator[Step]:
        """All calls and events, in the order in which they began."""
        for command in self.commands:
            for step in command.steps:
                if isinstance(step, CallTrace):
                    yield from step.walk()
                else:
                    yield step

    def calls(self, name: str = "") -> tuple[CallTrace, ...]:
        """All calls, or those of one function: `name` is `module::function`."""
        return tuple(
            step
            for step in self.walk()
            if isinstance(step, CallTrace)
            and name in ("", f"{step.function.module.name}::{step.function.name}")
        )
