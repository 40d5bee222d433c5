"""The trace of one transaction: its commands, each with its calls of functions."""

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
    """The end of a call or a command.

    RETURNED   it succeeded FAILED     it caused the failure of the transaction UNWOUND    a
    function that it called failed NOT_RUN    the transaction had failed before
    """

    RETURNED = "returned"
    FAILED = "failed"
    UNWOUND = "unwound"
    NOT_RUN = "not_run"


class GasUse(Struct, frozen=True):
    """Units of the machine's meter: with all called functions, and without."""

    total: int
    own: int


class TracedValue(Struct, frozen=True):
    """An argument or a result of a call. `type` may be a reference.

    `after` is the value of a `&mut` argument when the call returned, if it had changed.
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
    """A call of a function. `steps` are its calls and events in order.

    `function.package` is the called version of the package. `left_out` counts calls in it that were
    not recorded.
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
        """The direct calls in it, without nested calls."""
        return tuple(step for step in self.steps if isinstance(step, CallTrace))

    def walk(self) -> Iterator["CallTrace | EventTrace"]:
        """Yield the call itself and everything in it, in the order of their starts."""
        yield self
        for step in self.steps:
            if isinstance(step, CallTrace):
                yield from step.walk()
            else:
                yield step


Step = CallTrace | EventTrace


class CommandArgument(Struct, frozen=True):
    """An argument of a command, and its value if its type is known.

    `after` is its value at the end of the command, if the command changed it.
    """

    argument: Argument
    value: MoveValue | None
    after: MoveValue | None = None


class CommandTrace(Struct, frozen=True):
    """A command of the transaction. `package` is the package that it published."""

    command: Command
    status: CallStatus
    arguments: tuple[CommandArgument, ...] = ()
    results: tuple[MoveValue, ...] = ()
    gas: GasUse = GasUse(0, 0)
    steps: tuple[Step, ...] = ()
    package: Address | None = None
    left_out: int = 0


class TraceFailure(Struct, frozen=True):
    """The reason why a transaction failed, and its command. `message` is for users.

    `clever_error` is the constant and the line that the abort code refers to.
    """

    error: ExecutionError
    command: int | None
    message: str
    clever_error: CleverError | None

    @property
    def location(self) -> MoveLocation | None:
        """The location of the failure in the code."""
        data = self.error.data
        if isinstance(data, MoveAbort):
            return data.location
        return data if isinstance(data, MoveLocation) else None

    @property
    def abort_code(self) -> int | None:
        """The code of an abort."""
        return self.error.data.code if isinstance(self.error.data, MoveAbort) else None


class TransactionTrace(Struct, frozen=True):
    """The trace of a transaction.

    `executed` and `objects` come from the chain, everything else from the second execution.
    `is_faithful` says whether both executions had the same effects, byte for byte. The number of
    recorded calls is limited. `left_out` counts the others. `is_simulated` is true for a
    transaction that was not sent. Then `executed` is what the chain would contain.
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
        """Return all calls, or those of one function if `name` is `module::function`."""
        return tuple(
            step
            for step in self.walk()
            if isinstance(step, CallTrace)
            and name in ("", f"{step.function.module.name}::{step.function.name}")
        )
