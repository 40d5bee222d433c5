import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolFqn

# The grammar of the Nexus SDK, with one spelling of a version and without nested quantifiers.
_GRAMMAR = re.compile(r"[a-z][a-z0-9_-]+(?:\.[a-z][a-z0-9_-]+){2,}@[1-9][0-9]{0,9}", re.ASCII)

VALID = [
    "xyz.taluslabs.example@1",
    "xyz123.talus_labs.example-1@1",
    "xyz.talus.labs.tool.llm.example@1",
    "xyz.taluslabs.math.i64.add@4294967295",
    "ab.c1.d_-@10",
    "xyz.taluslabs." + "a" * 184 + "@1",
]
INVALID = [
    "",
    "@1",
    "add@1",
    "xyz.tool@1",
    "xyz.taluslabs.example",
    "xyz.taluslabs.example@",
    "x.taluslabs.tool@1",
    "xyz.taluslabs.t@1",
    "xy..add@1",
    ".xy.zz.add@1",
    "xy.zz.add.@1",
    "xyz.taluslabs.1tool@1",
    "1xyz.taluslabs.tool@1",
    "xyz.1taluslabs.example@1",
    "xyz.taluslabs._tool@1",
    "_xyz.taluslabs.tool@1",
    "xyz._taluslabs.example@1",
    "xyz.taluslabs.-tool@1",
    "-xyz.taluslabs.tool@1",
    "xyz.-taluslabs.example@1",
    "xyz.taluslabs.example@a",
    "xyz.taluslabs.example@-1",
    "xyz.taluslabs.example@1.1",
    "xyz.taluslabs.example@01",
    "xyz.taluslabs.example@1@1",
    "xyz.ta!u$labs.example@1",
    "XYZ.taluslabs.example@1",
    "xyz.talusLabs.add@1",
    "xyz.talus`labs.add@1",
    "xyz.talus{labs.add@1",
    "xyz.talus:labs.add@1",
    "xyz.taluslabs.example@4294967296",
    "xyz.taluslabs.example@99999999999999999999999999999999",
    "xyz.taluslabs.example@0",
    "xyz.taluslabs.example@1\n",
    "xyz.taluslabs.example@\u0661",
    "xyz.taluslabs.exämple@1",
    "xyz.taluslabs." + "a" * 184 + "@10",
]


@pytest.mark.parametrize("text", VALID)
def test_well_formed_names_are_parsed_and_spelled_the_same(text):
    assert str(ToolFqn.parse(text)) == text


@pytest.mark.parametrize("text", INVALID)
def test_malformed_names_are_refused(text):
    with pytest.raises(ValidationError) as caught:
        ToolFqn.parse(text)
    assert caught.value.code == "fqn_invalid"


@given(st.text(alphabet="aZ09._-@\n", max_size=30) | st.from_regex(_GRAMMAR, fullmatch=True))
def test_parser_accepts_the_grammar_and_nothing_else(text):
    matches = _GRAMMAR.fullmatch(text) is not None
    version = text.rpartition("@")[2]
    expected = matches and int(version) < 2**32 and len(text) <= 200
    try:
        ToolFqn.parse(text)
        accepted = True
    except ValidationError:
        accepted = False
    assert accepted == expected


def test_last_label_is_the_name_and_the_rest_the_domain():
    fqn = ToolFqn.parse("xyz.taluslabs.math.add@7")
    assert (fqn.domain, fqn.name, fqn.version) == ("xyz.taluslabs.math", "add", 7)


def test_versions_share_the_unversioned_name():
    fqns = [ToolFqn.parse(f"xyz.taluslabs.add@{version}") for version in (1, 20)]
    assert {fqn.unversioned for fqn in fqns} == {"xyz.taluslabs.add"}


def test_versions_are_ordered_as_numbers():
    assert ToolFqn.parse("xyz.example.add@9") < ToolFqn.parse("xyz.example.add@10")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("xyz.Example.add@1", "'Example'"),
        ("xyz.example.a@1", "shorter than two"),
        ("xyz.add@1", "two labels"),
        ("xyz.example.add@0", "got '0'"),
        ("xyz.example.add@4294967296", "larger than 4294967295"),
        ("xyz.example.add", "'@' is missing"),
    ],
)
def test_error_names_the_invalid_part(text, part):
    with pytest.raises(ValidationError, match=re.escape(part)):
        ToolFqn.parse(text)
