"""JSON values as trees of bounded size."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.explorer.rendering import environment
from nexus_tools.explorer.trees import json_tree

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\u200b"
TEMPLATE = '{% import "graphics.html" as graphics with context %}{{ graphics.tree(node) }}'


def drawn(value):
    template = environment().from_string(TEMPLATE)
    names = {"leader_name": lambda _: None, "now_ms": 0}
    return template.render(node=json_tree("value", value), **names)


def test_tree_shows_names_and_values():
    text = drawn({"count": 3, "words": ["a", None, True]})
    for part in ("count", "3", "words", "[3]", "“a”", "null", "true"):
        assert part in text


def test_hostile_names_and_values_are_harmless():
    text = drawn({HOSTILE: [HOSTILE, {HOSTILE: HOSTILE * 50}]})
    assert "<script" not in text
    assert not {"\x1b", "\u202e", "\u200b"} & {*text}


@pytest.mark.parametrize(
    "value",
    [
        ["<b>" * 40_000],
        [["<b>" * 400] * 100] * 100,
        {f"name{number}" * 50: number for number in range(10_000)},
        {"<" * 100_000: 1},
        10**4_000,
    ],
    ids=["text", "texts", "names", "name", "number"],
)
def test_large_values_stay_small(value):
    assert len(drawn(value)) < 40_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(json_values)
def test_any_value_is_drawn(value):
    assert '<ul class="tree">' in drawn(json.loads(json.dumps(value)))
