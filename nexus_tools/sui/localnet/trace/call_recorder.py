"""Recording calls while they happen."""

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
"""So many calls of a transaction are kept, and beyond them those that lead to a failure."""

MAX_DEPTH = 100
"""So deep calls are kept; what reads a trace goes into them by calls of its own."""


class Running(Struct):
    """A call or a command that has not ended; `left_out` counts calls in it that are not kept.

    `values` are the arguments themselves, `arguments` what they were when the call began: when it
    ends, those behind `&mut` are read again.
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
        """What was used since it began.

        A call that used 100 units, of which the functions that it called used 70, has 30 of its
        own.
        """
        total = meter.spent - self.gas_before
        return GasUse(total, total - self.gas_of_callees)


class CallRecorder:
    """Builds the call trees of the commands of one transaction: a `CallObserver`."""

    def __init__(self, values: ValueReader) -> None:
        self._values = values
        self._stack: list[Running] = []
        self._calls = 0
        self._events = 0
        self.left_out = 0
        self.failing_module: bytes | None = None
        """The code of the module in which the transaction failed."""

    # --- Commands

    def begin(self, meter: Meter) -> None:
        """A command begins."""
        self._stack = [Running(meter.spent)]

    def end(self) -> Running:
        """The command ends; gives what happened in it."""
        return self._stack.pop()

    # --- Calls

    def enter(self, callee: LinkedFunction, context: Context, arguments: list[Value]) -> None:
        """A function is called."""
        if not self._stack:  # what the network itself calls belongs to no command
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
        """The function that was entered last returns."""
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
        # Only `event::emit` and its like make events; what they emit is a step of who calls them.
        if callee.function.is_native:
            self._note_events(context, running.events_before, caller)

    def fail(self, context: Context, failure: BaseException) -> None:  # noqa: ARG002
        """The function that was entered last ends with this, and so do those around it."""
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
        """Count a call that is not kept; events in it are the caller's."""
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
        """The arguments; those lent as `&mut` with what became of them."""
        if not self._values.has_room:  # a value that is cut now was perhaps not cut before
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
    loaded = context.types.package(function.package)
    assert loaded is not None
    return dict(loaded.package.modules)[function.module.name]
