import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.export.names import mcp_name
from nexus_tools.mcp_server.catalogue.tool_names import ToolNames
from nexus_tools.tool import ToolDefinition, ToolFqn

EMPTY = None  # the catalogue is not used, because all names are registered


def definition_of(fqn):
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


def test_dash_stays():
    assert name("xyz.my-tools.add@1") == "xyz_my-tools_add_v1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("xyz.a_b.cd@1", "xyz.ab.c_d@1"),
        ("xyz.aa_bb.cc@1", "xyz.aa.bb.cc@1"),
        ("xyz.aa.bb_v1@2", "xyz.aa.bb@1"),
        ("xyz.a-b.cc_d@1", "xyz.aa.b_cc-d@1"),
        ("xyz.ab-c.dd@1", "xyz-ab.c_dd.ee@1"),
        (f"xyz.{'a' * 90}.bb@1", f"xyz.{'a' * 90}.bb@2"),
    ],
)
def test_different_fqns_have_different_names(one, other):
    assert name(one) != name(other)


@pytest.mark.parametrize(
    ("fqn", "readable"),
    [
        ("xyz.aa.b_b@1", "xyz-aa-b_b-v1"),
        ("xyz.a-a.bb@1", "xyz_a-a_bb_v1"),
        ("xyz.a-a.b_b@1", "xyz--a-a--b_b--v1"),
    ],
)
def test_labels_are_joined_by_a_separator_they_do_not_contain(fqn, readable):
    assert name(fqn) == readable


def test_ambiguous_labels_end_in_the_digits_of_the_sha_256():
    # printf xyz.a--a.b_b@1 | sha256sum
    assert name("xyz.a--a.b_b@1") == "xyz_a--a_b_b_v1_851d1df8305bde64"


def test_long_name_keeps_its_end():
    fqn = "org.example.borrowed.github-enterprise.create_pull_request@1"
    assert re.fullmatch(r"create_pull_request--v1_[0-9a-f]{16}", name(fqn))


LABELS = st.text("ab_-", min_size=1, max_size=3).map(lambda end: f"a{end}")
FQNS = st.lists(LABELS, min_size=3, max_size=5).flatmap(
    lambda labels: st.integers(1, 12).map(lambda version: f"{'.'.join(labels)}@{version}")
)


@given(FQNS, FQNS)
def test_similar_fqns_never_have_one_name(one, other):
    assert one == other or name(one) != name(other)


@pytest.mark.parametrize("length", [10, 40, 41, 42, 43, 44, 45, 100])
def test_name_is_valid_for_models(length):
    tool_name = name(f"xyz.{'a' * length}.{'b' * 10}@4294967295")
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,48}", tool_name)


async def test_name_keeps_its_first_fqn():
    """If two tools had the same name, the later one must not replace the first one."""
    names = ToolNames(EMPTY, lambda _: "same", page_size=1)
    names.assign([definition_of("xyz.example.math.add@1")])
    names.assign([definition_of("xyz.example.math.sub@1")])
    assert str(await names.find("same")) == "xyz.example.math.add@1"
