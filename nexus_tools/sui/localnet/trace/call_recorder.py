"""The recorder of calls during an execution."""

from msgspec import Struct, field

from nexus_tools.sui.localnet.natives import runtime_of
from nexus_tools.sui.localnet.trace.transaction_trace import (
    CallStatus,
    CallTrace,
    EventTrace,
    GasUse,
    Step,
    TracedValue,
)
from nexus_tools.sui.localnet.trace.value_reader import ValueReader
from nexus_tools.sui.localnet.vm import Context, LinkedFunction, Meter, ReferenceType, Type, Value

MAX_CALLS = 10_000
"""The maximum number of recorded calls. Calls that lead to a failure are always recorded."""

MAX_DEPTH = 100
"""The maximum depth of recorded calls, because the code that reads a trace is recursive."""


class Running(Struct):
    """A running call or command. `left_out` is the number of its unrecorded calls.

    `values` are the arguments, and `arguments` are copies of the arguments at the start of the
    call. At the end of the call, the targets of `&mut` arguments are read again.
    """

    gas_before: int
    callee: LinkedFunction | None = None
    is_kept: bool = True
    events_before: int = 0
    values: list[Value] = field(default_factory=list)
    arguments: tuple[TracedValue, ...] = ()
    steps: list[Step] = field(default_factory=list)
    gas_of_callees: int = 0
    left_out: int = 0

    def gas(self, meter: Meter) -> GasUse:
        """Return the gas used since the start of the call or command.

        For example, if a call used 100 units, 70 of them in functions that it called, its own use
        is 30 units.
        """
        total = meter.spent - self.gas_before
        return GasUse(total, total - self.gas_of_callees)


class CallRecorder:
    """A `CallObserver` that builds the call trees of one transaction's commands."""

    def __init__(self, values: ValueReader) -> None:
        self._values = values
        self._stack: list[Running] = []
        self._calls = 0
        self._events = 0
        self.left_out = 0
        self.failing_module: bytes | None = None
        """The bytecode of the module in which the transaction failed."""

    # --- Commands

    def begin(self, meter: Meter) -> None:
        """Start the record of a command."""
        self._stack = [Running(meter.spent)]

    def end(self) -> Running:
        """End the record of the command and return it."""
        return self._stack.pop()

    # --- Calls

    def enter(self, callee: LinkedFunction, context: Context, arguments: list[Value]) -> None:
        """Record the start of a call."""
        if not self._stack:  # a call of system code does not belong to a command
            self.begin(context.meter)
        self._calls += 1
        is_kept = self._calls <= MAX_CALLS and len(self._stack) <= MAX_DEPTH
        running = Running(context.meter.spent, callee, is_kept)
        if running.is_kept:
            running.values = arguments
            running.arguments = self._traced(callee.parameters, arguments)
        running.events_before = len(runtime_of(context).pending_events)
        self._stack.append(running)

    def leave(self, context: Context, results: list[Value]) -> None:
        """Record the return of the innermost call."""
        running = self._stack.pop()
        caller, gas = self._stack[-1], running.gas(context.meter)
        caller.gas_of_callees += gas.total
        callee = running.callee
        assert callee is not None
        if running.is_kept:
            arguments = self._with_after(running, callee)
            returned = self._traced(callee.returns, results)
            caller.steps.append(_call(running, CallStatus.RETURNED, gas, arguments, returned))
        else:
            self._leave_out(running, caller)
        # Only native functions such as `event::emit` emit events. The events are steps of the
        # caller.
        if callee.function.is_native:
            self._note_events(context, running.events_before, caller)

    def fail(self, context: Context, failure: BaseException) -> None:  # noqa: ARG002
        """Record the failure of the innermost call.

        The callers of the failed function fail next.
        """
        running = self._stack.pop()
        caller, gas = self._stack[-1], running.gas(context.meter)
        caller.gas_of_callees += gas.total
        assert running.callee is not None
        failed_before = self.failing_module is not None
        if not failed_before:
            self.failing_module = _module_code(running.callee, context)
        if len(self._stack) > MAX_DEPTH:
            self._leave_out(running, caller)
            return
        status = CallStatus.UNWOUND if failed_before else CallStatus.FAILED
        caller.steps.append(_call(running, status, gas, running.arguments, ()))

    def _leave_out(self, running: Running, caller: Running) -> None:
        """Count a call that is not recorded, and move its events to the caller."""
        self.left_out += 1
        caller.left_out += 1 + running.left_out
        caller.steps.extend(running.steps)

    # --- Values and events

    def _traced(self, types: tuple[Type, ...], values: list[Value]) -> tuple[TracedValue, ...]:
        read = self._values.read
        return tuple(
            [
                TracedValue(type_, read(type_, value))
                for type_, value in zip(types, values, strict=True)
            ]
        )

    def _with_after(self, running: Running, callee: LinkedFunction) -> tuple[TracedValue, ...]:
        """Return the arguments, including the final values of changed `&mut` arguments."""
        if not self._values.has_room:  # the new copy might be truncated
            return running.arguments
        arguments = list(running.arguments)
        for place, type_ in enumerate(callee.parameters):
            if isinstance(type_, ReferenceType) and type_.mutable:
                after = self._values.read(type_, running.values[place])
                if after != arguments[place].value:
                    arguments[place] = TracedValue(type_, arguments[place].value, after)
        return tuple(arguments)

    def _note_events(self, context: Context, since: int, caller: Running) -> None:
        for event in runtime_of(context).pending_events[since:]:
            value = self._values.decode(event.type, event.contents)
            caller.steps.append(EventTrace(self._events, event.type, value))
            self._events += 1


def _call(
    running: Running,
    status: CallStatus,
    gas: GasUse,
    arguments: tuple[TracedValue, ...],
    results: tuple[TracedValue, ...],
) -> CallTrace:
    callee = running.callee
    assert callee is not None
    return CallTrace(
        callee.function,
        callee.type_arguments,
        arguments,
        results,
        status,
        gas,
        tuple(running.steps),
        running.left_out,
    )


def _module_code(callee: LinkedFunction, context: Context) -> bytes:
    function = callee.function
    package = context.types.package(function.package)
    assert package is not None
    return dict(package.package.modules)[function.module.name]
