"""The localnet's Move VM with the interface of Sui's own VM."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from differential.exposure import EVENT_BYTES, EVENT_COUNT
from genuine import ABORTED, LIMIT, RETURNED, Outcome
from genuine.machine import EPOCH, EPOCH_TIMESTAMP_MS, GAS_BUDGET, GAS_PRICE, SENDER
from nexus_tools.sui.localnet.natives import (
    NATIVES,
    EmittedEvent,
    LimitExceeded,
    MalformedArgument,
    NativeGas,
    ObjectRuntime,
    TransactionContext,
    UnsupportedNative,
)
from nexus_tools.sui.localnet.vm import (
    AnyNative,
    Context,
    Function,
    HashNative,
    Location,
    Machine,
    Meter,
    MoveAbort,
    Native,
    OutOfGas,
    PricedNative,
    PrimitiveError,
    ReferenceType,
    TypedNative,
    borrow,
    copy_value,
    substitute,
)
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import Object
from nexus_tools.sui.types.type_tag import TypeTag
from packages import package_of

_BUDGET = 300_000
_NATIVE_GAS = 10**12

# This name is recorded as a called native if a field exists with another type than requested.
ANOTHER_TYPE = ("dynamic_field", "has_child_object_with_ty of another type")
_HAS_WITH_TYPE = ("dynamic_field", "has_child_object_with_ty")

Value = object
NativeName = tuple[str, str]
"""The module and the name of a native function."""


@dataclass(slots=True)
class Answer:
    """The outcome of a call, with the objects that it created and the native functions it called.

    `outcome` is None if the localnet cannot execute the call. The call then needs the missing
    native function `absent`, or does not end in time.
    """

    outcome: Outcome | None
    fresh_ids: list[bytes] = field(default_factory=list)
    natives: set[NativeName] = field(default_factory=set)
    absent: str | None = None


class _ShownRuntime(ObjectRuntime):
    """A runtime that lets code query its events, as the wheel does."""

    def shown_events(self) -> list[EmittedEvent]:
        """Return all events so far, without removing them."""
        return self._events


class LocalnetVm:
    """A VM for packages. `packages` maps the address of a package to its module files."""

    def __init__(
        self,
        packages: Mapping[Address, Sequence[bytes]],
        find: Callable[[Address], Object | None] = lambda _: None,
    ) -> None:
        made = {address: package_of(address, files) for address, files in packages.items()}
        self._called: set[NativeName] = set()
        self._find = find
        natives = {key: self._watched(key[1:], native) for key, native in NATIVES.items()}
        for name, native in ((EVENT_COUNT, _event_count), (EVENT_BYTES, _event_bytes)):
            natives[SUI_FRAMEWORK, "event", name] = native
        self.machine = Machine(natives, made.get)

    def call(
        self,
        function: Function,
        type_arguments: Sequence[TypeTag],
        values: Sequence[Value],
        new_ids: Iterable[Address] = (),
    ) -> Answer:
        """Call a function with copies of the values. For a reference, pass the target's value.

        `new_ids` are the IDs that the transaction created before the call.
        """
        self._called.clear()
        runtime = self._runtime()
        for object_id in new_ids:
            runtime.record_new_id(object_id)
        context = Context(self.machine.types, Meter(_BUDGET), runtime)
        arguments = [
            borrow(copy_value(value)) if isinstance(type_, ReferenceType) else copy_value(value)
            for type_, value in zip(function.parameters, values, strict=True)
        ]
        answer = Answer(None)
        try:
            results = self.machine.call(function, type_arguments, arguments, context)
            answer.outcome = self._returned(function, type_arguments, results)
        except (UnsupportedNative, OutOfGas) as error:
            answer.absent = error.name if isinstance(error, UnsupportedNative) else None
        except MoveAbort as abort:
            answer.outcome = Outcome(ABORTED, abort.code, _place(abort.location))
        except PrimitiveError as error:
            answer.outcome = Outcome(str(error.kind), error.sub_status, _place(error.location))
            if isinstance(error.__cause__, LimitExceeded):
                answer.outcome = Outcome(f"{LIMIT}: {error.__cause__}")
        except MalformedArgument:
            answer.outcome = Outcome("MALFORMED")
        answer.natives = set(self._called)
        transaction = runtime.transaction
        number, transaction.ids_created = transaction.ids_created, 0
        answer.fresh_ids = [bytes(transaction.fresh_id()) for _ in range(number)]
        return answer

    def _returned(
        self, function: Function, type_arguments: Sequence[TypeTag], results: Sequence[Value]
    ) -> Outcome:
        types: list[Any] = [substitute(type_, type_arguments) for type_ in function.returns]
        pairs = zip(types, results, strict=True)
        values = tuple([self.machine.types.encode(type_, value) for type_, value in pairs])
        return Outcome(RETURNED, values=values)

    def _runtime(self) -> _ShownRuntime:
        transaction = TransactionContext(
            SENDER,
            Digest(bytes(32)),
            EPOCH,
            EPOCH_TIMESTAMP_MS,
            GAS_PRICE,
            GAS_PRICE,
            GAS_BUDGET,
            None,
        )
        gas = NativeGas(_NATIVE_GAS)
        return _ShownRuntime(transaction, {}, self._find, self.machine.types.decode, gas)

    def _watched(self, key: NativeName, native: AnyNative) -> AnyNative:
        if isinstance(native, TypedNative):
            make = native.make
            return TypedNative(lambda machine, types: self._noting(key, make(machine, types)))
        if isinstance(native, PricedNative | HashNative):
            return replace(native, charge=self._noting(key, native.charge))
        return self._watching_types(native) if key == _HAS_WITH_TYPE else self._noting(key, native)

    def _noting(self, key: NativeName, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self._called.add(key)
            return function(*arguments)

        return call

    def _watching_types(self, native: Native) -> Native:
        """Wrap the native function `has_child_object_with_ty`, to record fields of other types."""

        def call(context: Context, types: tuple[TypeTag, ...], parent: bytes, child: bytes) -> bool:
            found: bool = native(context, types, parent, child)
            self._called.add(_HAS_WITH_TYPE)
            if not found and context.runtime.children.exists(Address(parent), Address(child)):
                self._called.add(ANOTHER_TYPE)
            return found

        return call


def _event_count(context: Context, _types: tuple[TypeTag, ...]) -> int:
    return len(context.runtime.shown_events())


def _event_bytes(context: Context, _types: tuple[TypeTag, ...]) -> bytearray:
    return bytearray(b"".join(event.contents for event in context.runtime.shown_events()))


def _place(location: Location | None) -> tuple[object, ...]:
    if location is None:
        return ()
    return location.package, location.module, location.function, location.instruction
