"""Events and event streams."""

import pytest

from nexus_tools.sui.localnet.natives import StreamEvent
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import EVENT_STREAM_HEAD
from nexus_tools.sui.types.type_tag import parse_type_tag

EVENT = parse_type_tag("0x2::object::ID")
VALUE = [b"\xb0" * 32]
STREAM = Address(b"\xc0" * 32)


@pytest.fixture
def emit(call):
    return lambda: call("event", "emit", VALUE, types=(EVENT,))


@pytest.fixture
def emit_authenticated(call):
    def run():
        types = (EVENT_STREAM_HEAD, EVENT)
        call("event", "emit_authenticated_impl", bytes(32), bytes(STREAM), VALUE, types=types)

    return run


def test_authenticated_event_is_also_an_event(call, emit_authenticated):
    emit_authenticated()
    (event,) = call.runtime.take_events()
    assert (event.type, event.contents) == (EVENT, VALUE[0])


def test_authenticated_event_is_streamed_by_its_number(call, emit, emit_authenticated):
    emit()
    emit_authenticated()
    call.runtime.take_events()  # as after each command of a transaction
    emit()
    emit_authenticated()
    assert call.runtime.accumulators.streamed == [
        StreamEvent(STREAM, EVENT_STREAM_HEAD, number) for number in (1, 3)
    ]
    assert list(call.runtime.accumulators) == []


def test_package_stream_has_address_of_the_package(call):
    call("event", "emit_authenticated", VALUE, types=(EVENT,))
    (streamed,) = call.runtime.accumulators.streamed
    assert streamed == StreamEvent(Address.of(2), EVENT_STREAM_HEAD, 0)


def test_stream_costs_52_more_units(call, emit, emit_authenticated):
    emit()
    plain = call.runtime.gas.used
    emit_authenticated()
    assert call.runtime.gas.used == 2 * plain + 52
