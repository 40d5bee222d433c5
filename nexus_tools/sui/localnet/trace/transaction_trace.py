"""The trace of one transaction: its commands, and the function calls of each command."""

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
    """The status of a call or a command at its end.

    The values have these meanings:

        RETURNED   it succeeded
        FAILED     it caused the failure of the transaction
        UNWOUND    a function that it called failed
        NOT_RUN    the transaction failed before it started
    """

    RETURNED = "returned"
    FAILED = "failed"
    UNWOUND = "unwound"
    NOT_RUN = "not_run"


class GasUse(Struct, frozen=True):
    """The internal gas units of a call: `total` includes called functions, and `own` does not."""

    total: int
    own: int


class TracedValue(Struct, frozen=True):
    """An argument or a result of a call. `type` may be a reference.

    `after` is the value of a `&mut` argument when the call returned, if the call changed it.
    """

    type: Type
    value: MoveValue
    after: MoveValue | None = None


class EventTrace(Struct, frozen=True):
    """An event, with its index among the events of the transaction."""

    index: int
    type: StructTag
    value: MoveValue


class CallTrace(Struct, frozen=True):
    """A function call. `steps` are its calls and events in order.

    `function.package` is the called version of the package. `left_out` counts the unrecorded calls
    inside this call.
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
        """The calls that this function made directly."""
        return tuple(step for step in self.steps if isinstance(step, CallTrace))

    def walk(self) -> Iterator["CallTrace | EventTrace"]:
        """Yield this call and all nested calls and events, in the order in which they started."""
        yield self
        for step in self.steps:
            if isinstance(step, CallTrace):
                yield from step.walk()
            else:
                yield step


Step = CallTrace | EventTrace


class CommandArgument(Struct, frozen=True):
    """An argument of a command, and the argument's value if it is known.

    `after` is the argument's value at the end of the command, if the command changed it.
    """

    argument: Argument
    value: MoveValue | None
    after: MoveValue | None = None


class CommandTrace(Struct, frozen=True):
    """The trace of a command. `package` is the ID of the package that the command published."""

    command: Command
    status: CallStatus
    arguments: tuple[CommandArgument, ...] = ()
    results: tuple[MoveValue, ...] = ()
    gas: GasUse = GasUse(0, 0)
    steps: tuple[Step, ...] = ()
    package: Address | None = None
    left_out: int = 0


class TraceFailure(Struct, frozen=True):
    """The reason why a transaction failed, and the failed command. `message` is for users.

    `clever_error` has the constant and the line to which the abort code refers.
    """

    error: ExecutionError
    command: int | None
    message: str
    clever_error: CleverError | None

    @property
    def location(self) -> MoveLocation | None:
        """The location of the failure in Move code, or None."""
        data = self.error.data
        if isinstance(data, MoveAbort):
            return data.location
        return data if isinstance(data, MoveLocation) else None

    @property
    def abort_code(self) -> int | None:
        """The abort code, or None if the failure is not an abort."""
        return self.error.data.code if isinstance(self.error.data, MoveAbort) else None


class TransactionTrace(Struct, frozen=True):
    """The trace of a transaction.

    `executed` and `objects` come from the chain. All other data come from the second execution.
    `is_faithful` is true if both executions had the same effects, byte for byte. The number of
    recorded calls is limited, and `left_out` is the number of unrecorded calls. For a simulated
    transaction, `is_simulated` is true, and `executed` is the transaction that the chain would
    contain.
    """

    executed: ExecutedTransaction
    is_faithful: bool
    failure: TraceFailure | None
    commands: tuple[CommandTrace, ...]
    objects: tuple[ChangedObject, ...]
    left_out: int
    is_simulated: bool = False

    def walk(self) -> Iterator[Step]:
        """Yield all calls and events in the order of their starts."""
        for command in self.commands:
            for step in command.steps:
                if isinstance(step, CallTrace):
                    yield from step.walk()
                else:
                    yield step

    def calls(self, name: str = "") -> tuple[CallTrace, ...]:
        """Return all calls or, if `name` is a `module::function`, only its calls."""
        return tuple(
            step
            for step in self.walk()
            if isinstance(step, CallTrace)
            and name in ("", f"{step.function.module.name}::{step.function.name}")
        )
