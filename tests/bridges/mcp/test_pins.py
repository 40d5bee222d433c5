import hashlib
import json

import pytest

from nexus_tools.bridges.mcp.listing import Fingerprint
from nexus_tools.bridges.mcp.pins import Pins
from nexus_tools.errors import ValidationError

ENTRY = {"name": "greet", "description": "It greets.", "inputSchema": {"type": "object"}}


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "folder" / "pins.json")


def fingerprint(**more):
    return Fingerprint.of(ENTRY | more)


def test_new_tool_is_pinned(pins):
    assert pins.check("a#b", {"greet": fingerprint()}) == {}
    assert pins.check("a#b", {"greet": fingerprint()}) == {}


def test_pin_is_the_sha_256_of_the_canonical_entry(pins):
    pins.check("a#b", {"greet": fingerprint()})
    pin = json.loads(pins.path.read_text())["servers"]["a#b"]["greet"]
    text = b'{"description":"It greets.","inputSchema":{"type":"object"},"name":"greet"}'
    assert pin["sha256"] == hashlib.sha256(text).hexdigest()
    assert pin["fields"]["name"] == hashlib.sha256(b'"greet"').hexdigest()


def test_changes_are_described(pins):
    pins.check("a#b", {"greet": fingerprint()})
    changed = fingerprint(
        description="x", inputSchema={}, outputSchema={}, annotations={}, icons=[]
    )
    assert pins.check("a#b", {"greet": changed}) == {
        "greet": (
            "the annotations",
            "the description",
            "the field icons",
            "the input schema",
            "the output schema",
        )
    }


def test_check_does_not_pin_a_change(pins):
    pins.check("a#b", {"greet": fingerprint()})
    for _ in range(2):
        assert pins.check("a#b", {"greet": fingerprint(description="x")})


def test_order_of_names_is_not_a_change(pins):
    pins.check("a#b", {"greet": fingerprint()})
    turned = Fingerprint.of(dict(reversed(ENTRY.items())))
    assert pins.check("a#b", {"greet": turned}) == {}


def test_removed_field_is_a_change(pins):
    pins.check("a#b", {"greet": fingerprint()})
    less = {name: value for name, value in ENTRY.items() if name != "description"}
    assert pins.check("a#b", {"greet": Fingerprint.of(less)}) == {"greet": ("the description",)}


def test_accepted_change_is_the_pin(pins):
    pins.check("a#b", {"greet": fingerprint()})
    pins.accept("a#b", {"greet": fingerprint(description="x")})
    assert pins.check("a#b", {"greet": fingerprint(description="x")}) == {}
    assert pins.check("a#b", {"greet": fingerprint()}) == {"greet": ("the description",)}


def test_tools_with_one_name_on_two_servers_are_separate(pins):
    pins.check("a#b", {"greet": fingerprint()})
    assert pins.check("a#c", {"greet": fingerprint(description="x")}) == {}


def test_file_is_sorted_and_readable(pins):
    pins.check("b#b", {"two": fingerprint(), "one": fingerprint()})
    pins.check("a#a", {"one": fingerprint()})
    text = pins.path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert [*json.loads(text)["servers"]] == ["a#a", "b#b"]


def test_only_the_lock_remains_beside_the_file(pins):
    pins.check("a#b", {"greet": fingerprint()})
    assert {file.name for file in pins.path.parent.iterdir()} == {"pins.json", "pins.json.lock"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2, "servers": {}}', '{"format": 1, "servers": [1]}']
)
def test_invalid_pin_file_is_an_error_and_stays(pins, text):
    pins.path.parent.mkdir()
    pins.path.write_text(text)
    with pytest.raises(ValidationError) as raised:
        pins.check("a#b", {"greet": fingerprint()})
    assert raised.value.code == "pins_invalid"
    assert pins.path.read_text() == text
