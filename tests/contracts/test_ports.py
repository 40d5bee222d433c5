import pytest

from nexus_tools.contracts import RemoteReference, ports_of
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import ValidationError


def test_ports_are_sorted_and_their_json_is_canonical():
    ports = ports_of({"b": {"y": 1, "x": [1, 2.5, None]}, "a": "ä"})
    assert ports.values == (
        ("a", Value.Inline('"ä"'.encode())),
        ("b", Value.Inline(b'{"x":[1,2.5,null],"y":1}')),
    )


def test_ports_round_trip_as_json():
    values = {"a": 1, "list": [1, {"deep": True}], "text": "x"}
    assert ports_of(values).as_json() == values


def test_ports_are_encoded_as_move_vec_map_of_enums():
    # One entry: the key "a" (length 1), variant 0 with the three bytes of the text "1" quoted.
    assert Ports.bcs.encode(ports_of({"a": "1"})).hex() == "01" + "0161" + "00" + "03223122"
    assert ports_of({"a": "1"}).size() == 8


def test_every_kind_of_value_has_its_enum_number():
    ports = Ports(
        (
            ("i", Value.Inline(b"1")),
            ("l", Value.InlineList(((b"1", b"2"), (b"3",)))),
            ("r", Value.Remote("walrus", b"\x01")),
            ("s", Value.RemoteList("walrus", (b"\x01", b"\x02"))),
            ("t", Value.InlineChunks((b"1", b"2"))),
        )
    )
    assert Ports.bcs.encode(ports).hex() == (
        "05"
        + ("0169" + "00" + "0131")
        + ("016c" + "01" + "02" + ("02" + "0131" + "0132") + ("01" + "0133"))
        + ("0172" + "02" + "0677616c727573" + "0101")
        + ("0173" + "03" + "0677616c727573" + "02" + "0101" + "0102")
        + ("0174" + "04" + "02" + "0131" + "0132")
    )
    assert Ports.bcs.decode(Ports.bcs.encode(ports)) == ports


def test_long_text_is_split_into_chunks():
    ports = ports_of({"text": "x" * 40_000})
    ((_, value),) = ports.values
    assert [len(chunk) for chunk in value.pos0] == [16_381, 16_381, 7_240]
    assert ports.as_json() == {"text": "x" * 40_000}


def test_list_has_one_text_per_element():
    ports = ports_of({"empty": [], "list": [1, {"b": 1, "a": []}, [2, 3]]})
    assert ports.values == (
        ("empty", Value.InlineList(())),
        ("list", Value.InlineList(((b"1", b'{"a":[],"b":1}', b"[2,3]"),))),
    )
    assert ports.as_json() == {"empty": [], "list": [1, {"b": 1, "a": []}, [2, 3]]}


def test_long_list_is_split_into_argument_sized_parts():
    # Quoted, an element takes 98 bytes, and its length takes another one. A part of 16 384 bytes
    # holds 165 elements and the two bytes of their number, because 2 + 165 x 99 = 16 337.
    ports = ports_of({"list": ["x" * 96] * 400})
    ((_, value),) = ports.values
    assert [len(part) for part in value.pos0] == [165, 165, 70]
    assert ports.as_json() == {"list": ["x" * 96] * 400}


def test_element_may_have_the_size_of_an_argument():
    ports = ports_of({"list": ["x" * 16_379, "y"]})
    ((_, value),) = ports.values
    assert [[len(text) for text in part] for part in value.pos0] == [[16_381], [3]]


def test_list_with_longer_element_is_encoded_as_text():
    ports = ports_of({"list": ["x" * 16_380, 1]})
    ((_, value),) = ports.values
    assert b"".join(value.pos0) == b'["' + b"x" * 16_380 + b'",1]'
    assert ports.as_json() == {"list": ["x" * 16_380, 1]}


def test_as_json_raises_for_remote_value():
    with pytest.raises(ValidationError) as caught:
        Ports((("r", Value.Remote("walrus", b"key")),)).as_json()
    assert caught.value.code == "remote_value_unavailable"


def test_as_json_inserts_fetched_values():
    one, two = (RemoteReference("walrus", key) for key in (b"1", b"2"))
    ports = Ports(
        (
            ("a", Value.RemoteList("walrus", (b"2", b"1", b"2"))),
            ("b", Value.Inline(b"0")),
            ("c", Value.Remote("walrus", b"1")),
        )
    )
    assert [*ports.remote()] == [("a", two), ("a", one), ("a", two), ("c", one)]
    assert ports.as_json({one: "one", two: [2]}) == {"a": [[2], "one", [2]], "b": 0, "c": "one"}
    first, second = ({"storage": "walrus", "key": key} for key in "12")
    assert ports.with_locations() == {"a": [second, first, second], "b": 0, "c": first}
    with pytest.raises(ValidationError, match="the value of port a is in the storage walrus"):
        ports.as_json({one: "one"})


@pytest.mark.parametrize("name", ["", "ä"])
def test_ports_of_rejects_port_name_that_is_not_ascii(name):
    with pytest.raises(ValidationError) as caught:
        ports_of({name: 1})
    assert caught.value.code == "port_name_invalid"


def test_ports_of_rejects_too_many_ports():
    assert len(ports_of({f"port_{number}": 1 for number in range(32)}).values) == 32
    with pytest.raises(ValidationError) as caught:
        ports_of({f"port_{number}": 1 for number in range(33)})
    assert caught.value.code == "too_many_ports"


def test_ports_of_rejects_values_outside_json():
    with pytest.raises(ValidationError) as caught:
        ports_of({"a": float("nan")})
    assert caught.value.code == "json_invalid"
