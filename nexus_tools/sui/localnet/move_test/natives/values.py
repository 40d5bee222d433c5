"""The test-only native functions of framework modules that create and destroy values."""

import random
from collections.abc import Callable

from nexus_tools.sui.localnet.move_test.natives.framework import new_uid
from nexus_tools.sui.localnet.move_test.scenario import ScenarioRuntime
from nexus_tools.sui.localnet.natives import NativeTable, natives_of, object_id_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference, TypeArguments, Value
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK
from nexus_tools.sui.types.clock import CLOCK_TYPE
from nexus_tools.sui.types.object import Shared
from nexus_tools.sui.types.type_tag import StructTag

_TICKS_BACKWARDS = 0
_SEED_SIZE = 32


def destroy(_context: Context, _types: TypeArguments, _value: Value) -> None:
    """Drop a value even if it lacks the `drop` ability."""


def create_one_time_witness(_context: Context, _types: TypeArguments) -> Value:
    """Return a one-time witness. The witness has only the dummy field that the compiler adds."""
    return [False]


# --- Clock


def create_clock(context: Context, _types: TypeArguments, _ctx: Reference) -> Value:
    """Return a new clock object, set to 0 ms."""
    return [new_uid(context), 0]


def share_clock(context: Context, _types: TypeArguments, clock: Value) -> None:
    """Share a clock."""
    runtime_of(context).transfer(Shared(0), CLOCK_TYPE, clock)


def increment_clock(_context: Context, _types: TypeArguments, clock: Reference, ms: int) -> None:
    """Advance a clock by `ms`."""
    clock.read()[1] += ms


def set_clock(_context: Context, _types: TypeArguments, clock: Reference, ms: int) -> None:
    """Set a clock to a time. Abort if the time would decrease."""
    if ms < clock.read()[1]:
        raise NativeAbort(_TICKS_BACKWARDS)
    clock.read()[1] = ms


def destroy_clock(context: Context, _types: TypeArguments, clock: Value) -> None:
    """Delete a clock."""
    runtime_of(context).delete_id(object_id_of(clock))


# --- Balances (structs with one number) and coins (objects with a balance)


def create_balance(_context: Context, _types: TypeArguments, value: int) -> Value:
    """Return a `Balance` with this value."""
    return [value]


def destroy_balance(_context: Context, _types: TypeArguments, balance: Value) -> int:
    """Return the value of a balance."""
    value: int = balance[0]
    return value


def empty_supply(_context: Context, _types: TypeArguments) -> Value:
    """Return an empty supply."""
    return [0]


def mint(context: Context, _types: TypeArguments, value: int, _ctx: Reference) -> Value:
    """Return a new coin."""
    return [new_uid(context), [value]]


def burn(context: Context, _types: TypeArguments, coin: Value) -> int:
    """Delete a coin and return its value."""
    runtime_of(context).delete_id(object_id_of(coin))
    value: int = coin[1][0]
    return value


def treasury_cap(context: Context, _types: TypeArguments, _ctx: Reference) -> Value:
    """Return a `TreasuryCap` with an empty supply."""
    return [new_uid(context), [0]]


# --- Events


def num_events(context: Context, _types: TypeArguments) -> int:
    """Return the number of events that the transaction has emitted."""
    return len(_runtime(context).emitted())


def events_by_type(context: Context, types: TypeArguments) -> Value:
    """Return the transaction's events of a type."""
    return [
        context.types.decode(types[0], event.contents)
        for event in _runtime(context).emitted()
        if event.type == types[0]
    ]


# --- Random numbers


def generator(context: Context, _types: TypeArguments) -> Value:
    """Return a random generator whose seed is the same in each run of a test.

    No test should depend on the seed.
    """
    seed = random.Random(runtime_of(context).transaction.ids_created)  # noqa: S311 - for tests
    return [bytearray(seed.randbytes(_SEED_SIZE)), 0, bytearray()]


def generator_from_seed(_context: Context, _types: TypeArguments, seed: bytearray) -> Value:
    """Return a random generator with this seed."""
    return [seed, 0, bytearray()]


# --- Packages


def claim(context: Context, types: TypeArguments, _witness: Value, _ctx: Reference) -> Value:
    """Return the `Publisher` for the package of a type."""
    tag = types[0]
    assert isinstance(tag, StructTag)  # only structs are witnesses
    names = (bytes(tag.address).hex(), tag.module)
    return [new_uid(context), *([bytearray(name.encode())] for name in names)]


def upgrade_cap(context: Context, _types: TypeArguments, package: Value, _ctx: Reference) -> Value:
    """Return an `UpgradeCap` of version 1 for a package.

    The policy allows all compatible upgrades.
    """
    return [new_uid(context), package, 1, 0]


def _runtime(context: Context) -> ScenarioRuntime:
    runtime = context.runtime
    assert isinstance(runtime, ScenarioRuntime)
    return runtime


def _in(module: str, **functions: Callable[..., Value]) -> NativeTable:
    return natives_of(SUI_FRAMEWORK, module, **functions)


NATIVES: NativeTable = {
    **natives_of(MOVE_STDLIB, "unit_test", destroy=destroy),
    **_in("test_utils", destroy=destroy, create_one_time_witness=create_one_time_witness),
    **_in(
        "clock",
        create_for_testing=create_clock,
        share_for_testing=share_clock,
        increment_for_testing=increment_clock,
        set_for_testing=set_clock,
        destroy_for_testing=destroy_clock,
    ),
    **_in(
        "balance",
        create_for_testing=create_balance,
        destroy_for_testing=destroy_balance,
        create_supply_for_testing=empty_supply,
    ),
    **_in(
        "coin",
        mint_for_testing=mint,
        burn_for_testing=burn,
        create_treasury_cap_for_testing=treasury_cap,
    ),
    **_in("event", num_events=num_events, events_by_type=events_by_type),
    **_in(
        "random",
        new_generator_for_testing=generator,
        new_generator_from_seed_for_testing=generator_from_seed,
    ),
    **_in("package", test_claim=claim, test_publish=upgrade_cap),
}
