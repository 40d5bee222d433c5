from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import EVENT, EVENTS, Event
from nexus_tools.sui.types.type_tag import STRUCT_TAG, SUI


def test_event_has_its_fields_in_order():
    event = Event(Address.of(1), "shop", Address.of(2), SUI, b"\7")
    expected = Address.of(1) + b"\4shop" + Address.of(2) + STRUCT_TAG.encode(SUI) + b"\1\7"
    assert EVENT.encode(event) == expected


@given(st.data())
def test_events_round_trip(strategies, data):
    events = data.draw(
        strategies.tuples(
            st.builds(
                Event,
                strategies.addresses,
                strategies.names,
                strategies.addresses,
                strategies.struct_tags,
                strategies.raw,
            )
        )
    )
    assert EVENTS.decode(EVENTS.encode(events)) == events
