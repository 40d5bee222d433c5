import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.workflow.document.source_lines import json_positions, place_of

TEXT = """{
  "vertices": [
    { "name": "a", "kind": {} },
    7
  ],
  "é/~": "x \\" y", "last": [[], {}]
}
"""


def test_json_positions_have_line_and_column_of_every_value():
    assert json_positions(TEXT) == {
        "": (1, 1),
        "/vertices": (2, 3),
        "/vertices/0": (3, 5),
        "/vertices/0/name": (3, 7),
        "/vertices/0/kind": (3, 20),
        "/vertices/1": (4, 5),
        "/é~1~0": (6, 3),
        "/last": (6, 20),
        "/last/0": (6, 29),
        "/last/1": (6, 33),
    }


def test_position_of_a_missing_value_is_that_of_its_parent():
    places = json_positions(TEXT)
    assert place_of(places, "/vertices/0/kind/tool_fqn") == (3, 20)
    assert place_of(places, "/nowhere/at/all") == (1, 1)


def test_invalid_json_has_no_positions():
    with pytest.raises(ValidationError) as refused:
        json_positions('{"a": 1,}')
    assert refused.value.code == "json_invalid"


def pointers(value, here=""):
    yield here
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in members:
            step = str(name).replace("~", "~0").replace("/", "~1")
            yield from pointers(member, f"{here}/{step}")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    ),
    st.sampled_from([None, 0, 3]),
)
def test_json_positions_point_to_every_value(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    places = json_positions(text)
    assert list(places) == list(pointers(value))
    lines = text.split("\n")
    for line, column in places.values():
        assert not lines[line - 1][column - 1].isspace()
