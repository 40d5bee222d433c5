import re

import pytest

from nexus_tools.lending.export.names import mcp_name
from nexus_tools.lending.mcp.catalogue import ToolNames
from nexus_tools.tool import ToolDefinition, ToolFqn

EMPTY = None  # a catalogue that is not asked: all names have been given out


def defined(fqn):
    ports = {"type": "object", "properties": {}}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com",
            "input_schema": ports,
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
    )


def name(fqn):
    return mcp_name(ToolFqn.parse(fqn))


def test_dots_become_underscores_and_the_version_a_suffix():
    assert name("xyz.example.math.add@12") == "xyz_example_math_add_v12"


def test_a_dash_stays():
    assert name("xyz.my-tools.add@1") == "xyz_my-tools_add_v1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("xyz.a_b.cd@1", "xyz.ab.c_d@1"),
        ("xyz.aa_bb.cc@1", "xyz.aa.bb.cc@1"),
        ("xyz.aa.bb_v1@2", "xyz.aa.bb@1"),
        (f"xyz.{'a' * 90}.bb@1", f"xyz.{'a' * 90}.bb@2"),
    ],
)
def test_two_tools_never_have_one_name(one, other):
    assert name(one) != name(other)


def test_labels_with_an_underscore_end_in_the_digits_of_the_sha_256():
    # printf xyz.aa.b_b@1 | sha256sum
    assert name("xyz.aa.b_b@1") == "xyz_aa_b_b_v1_c4bf368b72e5155e"


@pytest.mark.parametrize("length", [10, 40, 41, 42, 43, 44, 45, 100])
def test_a_name_is_one_that_models_take(length):
    found = name(f"xyz.{'a' * length}.{'b' * 10}@4294967295")
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", found)


async def test_a_name_keeps_the_fqn_that_it_had_first(monkeypatch):
    """Should two tools have the same name after all, the later one is not called in its place."""
    monkeypatch.setattr("nexus_tools.lending.mcp.catalogue.mcp_name", lambda _: "same")
    names = ToolNames(EMPTY, page_size=1)
    names.give([defined("xyz.example.math.add@1")])
    names.give([defined("xyz.example.math.sub@1")])
    assert str(await names.find("same")) == "xyz.example.math.add@1"
