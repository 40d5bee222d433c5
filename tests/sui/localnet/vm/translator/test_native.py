"""The kinds of natives whose cost or types are known before a call."""

import hashlib

import pytest

from nexus_tools.sui.localnet.vm import (
    Context,
    HashNative,
    Location,
    Meter,
    MoveAbort,
    NativeAbort,
    OutOfGas,
    PricedNative,
    TypedNative,
    borrow,
)
from nexus_tools.sui.localnet.vm.metering import FREE_NATIVE_CALLS, LARGE
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive

PACKAGE = Address.of(0xABC)
BYTES = ("vector", "u8")
# After 300 000 instructions, each further one costs 100 units.
MANY, PRICE = 300_000, 100


def charge(context, units):
    context.meter.charge_native(units)


def priced(function, cost):
    return PricedNative(function, cost, charge)


def by_length(size):
    return 52 + 2 * size


def meter_after_many_calls(budget=10**9):
    meter = Meter(budget)
    meter.pays_natives, meter.native_calls = True, FREE_NATIVE_CALLS + 1
    meter.charge_work(MANY, 0, 0)
    return meter


@pytest.fixture
def native(assembler, machine_of):
    """Return native(implementation, parameters, returns), which calls it as a module's function."""

    def make(implementation, parameters=(), returns=(), *, type_parameters=()):
        assembler.function("f", parameters, returns, None, type_parameters)
        machine = machine_of(assembler.package(), natives={(PACKAGE, "m", "f"): implementation})
        function = machine.types.function(PACKAGE, "m", "f")

        def run(*arguments, types=(), meter=None):
            context = Context(machine.types, meter or Meter(10**9))
            return machine.call(function, types, list(arguments), context)

        return run

    return make


# --- Natives with a price


def test_priced_native_receives_arguments_and_reference_targets(native):
    f = native(
        priced(lambda *arguments: list(arguments), 1), (("&", BYTES), "u8"), (("vector", "u8"),)
    )
    data = bytearray(b"ab")
    assert f(borrow(data), 7) == [[data, 7]]


@pytest.mark.parametrize("cost", [0, 52, LARGE - 1, LARGE, 70_000])
def test_native_cost_is_separate_at_first(native, cost):
    """The call itself is one instruction."""
    meter = Meter(10**9)
    native(priced(lambda: None, cost))(meter=meter)
    assert (meter.spent, meter.instructions) == (1 + cost, 1)


@pytest.mark.parametrize("cost", [0, 52, LARGE - 1, LARGE, 70_000])
def test_native_cost_counts_as_instructions_after_many_calls(native, cost):
    meter = meter_after_many_calls()
    before = meter.spent
    native(priced(lambda: None, cost))(meter=meter)
    assert meter.instructions == MANY + 1 + cost
    assert meter.spent - before == PRICE * (1 + cost)


@pytest.mark.parametrize("size", [0, 1, 485, 486, 5_000])
def test_native_price_may_depend_on_length_of_first_argument(native, size):
    """The result is pushed: one unit, and eight for the bytes of a number."""
    f, meter = native(priced(len, by_length), (("&", BYTES),), ("u64",)), meter_after_many_calls()
    before = meter.spent
    assert f(borrow(bytearray(size)), meter=meter) == [size]
    assert meter.spent - before == PRICE * (1 + 52 + 2 * size) + 1 + 8


def test_units_across_tiers_have_price_of_last_unit(native):
    """Above 20 000 instructions the price is two, but the call itself is below."""
    meter = Meter(10**9)
    meter.pays_natives, meter.native_calls = True, FREE_NATIVE_CALLS + 1
    meter.charge_work(19_990, 0, 0)
    native(priced(lambda: None, 100))(meter=meter)
    assert meter.spent == 19_990 + 1 + 2 * 100


def test_natives_with_own_gas_do_not_use_meter(native):
    meter, used = meter_after_many_calls(), []
    meter.pays_natives = False
    meter.settle()
    native(PricedNative(lambda: None, 52, lambda _, units: used.append(units)))(meter=meter)
    assert (used, meter.instructions) == ([52], MANY + 1)


def test_exact_budget_is_sufficient_for_native(native):
    f = native(priced(lambda: None, 52))
    cost = meter_after_many_calls().spent + PRICE * (1 + 52)
    f(meter=meter_after_many_calls(cost))
    with pytest.raises(OutOfGas):
        f(meter=meter_after_many_calls(cost - 1))


def test_unaffordable_native_is_out_of_gas_even_when_it_aborts(native):
    def fail():
        raise NativeAbort(4)

    f = native(priced(fail, 52))
    with pytest.raises(OutOfGas):
        f(meter=meter_after_many_calls(meter_after_many_calls().spent + PRICE * (1 + 52) - 1))


def test_priced_native_abort_has_its_location(native):
    def fail():
        raise NativeAbort(4)

    with pytest.raises(MoveAbort) as caught:
        native(priced(fail, 1))()
    assert caught.value.location == Location(PACKAGE, "m", 0, 0, "f")


# --- Hash functions


@pytest.mark.parametrize("size", [0, 32, 485, 486, 5_000])
@pytest.mark.parametrize("parameter", [BYTES, ("&", BYTES)])
def test_hash_costs_its_price_and_digest_bytes(native, parameter, size):
    f = native(HashNative(hashlib.sha256(), by_length, charge), (parameter,), (BYTES,))
    message, meter = bytearray(size), meter_after_many_calls()
    before = meter.spent
    argument = message if parameter == BYTES else borrow(message)
    assert f(argument, meter=meter) == [hashlib.sha256(message).digest()]
    assert meter.spent - before == PRICE * (1 + 52 + 2 * size) + 1 + (2 + 32)


def test_each_hash_result_is_a_new_vector(native):
    f = native(HashNative(hashlib.sha256(), by_length, charge), (BYTES,), (BYTES,))
    [one], [other] = f(bytearray(b"a")), f(bytearray(b"a"))
    one.append(0)
    assert len(other) == 32


# --- Natives that are made for type arguments


def test_typed_native_is_made_once_per_type_argument(native):
    made = []

    def make(types_of_machine, types):
        made.append(types)
        return lambda context, value: value + (context.types is types_of_machine)

    f = native(TypedNative(make), ("u64",), ("u64",), type_parameters=(0,))
    calls = [(Primitive.U8,), (Primitive.U8,), (Primitive.U16,)]
    assert [f(5, types=types) for types in calls] == [[6]] * 3
    assert made == [(Primitive.U8,), (Primitive.U16,)]


def test_typed_native_returns_references_as_container_and_key(native):
    reference = ("&mut", ("vector", "u64"))
    f = native(
        TypedNative(lambda _types_of_machine, _types: lambda _context, numbers: (numbers, 1)),
        (reference,),
        (("&mut", "u64"),),
    )
    numbers = [1, 2]
    f(borrow(numbers))[0].write(7)
    assert numbers == [1, 7]


def test_typed_native_counts_as_call(native):
    meter = Meter(10**9)
    native(TypedNative(lambda _types_of_machine, _types: lambda _context: None))(meter=meter)
    assert (meter.native_calls, meter.spent) == (1, 1)
