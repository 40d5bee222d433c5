import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.client import Cursor, EventFilter, Mark
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import StructTag

PACKAGE, OTHER = Address.of(0xAA), Address.of(0xBB)

DIGEST = Digest(b"\7" * 32)


def event(package, module, name):
    return Event(OTHER, "caller", Address.of(1), StructTag(package, module, name), b"")


@pytest.mark.parametrize(
    "cursor",
    [
        Cursor.beginning(),
        Cursor.after_checkpoint(7),
        Cursor(5, 2, 1, b"\0opaque\xff"),
        Cursor(5, 2, 1, mark=Mark(4, 1, DIGEST)),
        Cursor.after_checkpoint(7, mark=Mark.of_checkpoint(6, DIGEST)),
    ],
)
def test_cursor_round_trips_as_text(cursor):
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "[1,2]", "{}", "[1,2,3,null]", "[1,2,null,null]", '["a",1,2,null,null]'),
        *("[1,2,3,4,null]", "[1,2,3,null,4]", "[1,2,3,null,[4,5]]", '[1,2,3,null,[4,5,"x"]]'),
    ],
)
def test_parse_refuses_invalid_cursors(text):
    with pytest.raises(ValidationError) as caught:
        Cursor.parse(text)
    assert caught.value.code == "cursor_invalid"


def test_positions_are_ordered_as_on_the_chain():
    places = [
        Cursor.beginning(),
        Cursor(0, 0, 0),
        Cursor(5, 0, 9),
        Cursor(5, 1, 0),
        Cursor.after_checkpoint(5),
        Cursor(6, 0, 0),
    ]
    positions = [place.position for place in places]
    assert positions == sorted(positions)
    assert len(set(positions)) == len(positions)


def test_resume_position_is_the_earlier_of_cursor_and_mark():
    assert Cursor(5, 2, 1).at_mark() == Cursor(5, 2, 1)
    in_a_transaction = Cursor(5, 2, 1, b"token", Mark(5, 2, DIGEST))
    assert in_a_transaction.at_mark() == in_a_transaction
    checkpoint = Mark.of_checkpoint(4, DIGEST)
    assert Cursor(5, 2, 1, mark=checkpoint).at_mark() == Cursor.after_checkpoint(4, mark=checkpoint)
    early, late = Cursor(4, 8, 9), Cursor(4, 9, 0)
    marked = Cursor.after_checkpoint(6, b"token", Mark(4, 8, DIGEST)).at_mark()
    assert early.position < marked.position < late.position


def test_filter_uses_the_defining_package_of_the_type():
    accept = EventFilter(PACKAGE, ("events",), ("Requested", "Settled"))
    assert accept.matches(event(PACKAGE, "events", "Settled"))
    assert not accept.matches(event(OTHER, "events", "Settled"))
    assert not accept.matches(event(PACKAGE, "other", "Settled"))
    assert not accept.matches(event(PACKAGE, "events", "Failed"))
    assert EventFilter(PACKAGE).matches(event(PACKAGE, "other", "Failed"))


def test_filter_with_names_requires_modules():
    with pytest.raises(ValidationError):
        EventFilter(PACKAGE, names=("Settled",))


def test_filter_message_has_an_alternative_for_each_type():
    asked = EventFilter(PACKAGE, ("events",), ("A", "B")).message()
    message = load_messages().message("sui.rpc.v2.EventFilter")(**asked)
    types = [term.literals[0].event_type.event_type for term in message.terms]
    assert types == [f"{PACKAGE}::events::A", f"{PACKAGE}::events::B"]
