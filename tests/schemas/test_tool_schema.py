"""The schema of tool definitions, compared with `ToolDefinition.parse`."""

import json
import re
from pathlib import Path

import pytest

from nexus_tools.cli.schema import file_schema
from nexus_tools.tool import ToolDefinition, ask_definition, definition, parse_json
from nexus_tools.tool.definition_schema import UNSTATED_RULES
from tests.schemas.judges import Judge, compare, with_change

ROOT = Path(__file__).parents[2]
BADGE = json.loads((ROOT / "examples/on_chain/badge.json").read_text())
ASK = ask_definition("0x2").as_json()
PORTS = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
VARIANT = {"type": "object", "properties": {"ok": PORTS}, "required": ["ok"]}
OFFCHAIN = {
    "fqn": "xyz.example.math.add@1",
    "url": "https://tools.example.com/add",
    "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "output_schema": {"oneOf": [VARIANT]},
}
FULL = OFFCHAIN | {
    "$schema": "./tool.schema.json",
    "type": "offchain",
    "timeout": 5_000,
    "description": "Adds.",
}
# The words with which the reader reports the rules that the schema does not state.
REASONS = {
    "bytes": "expected at most 4096 bytes of description",
    "version": "is larger than 4294967295",
    "host": "the URL's host is neither|the URL is malformed",
    "variant": "a branch must have one property|another branch describes the variant",
    "references": "the subschema .* does not exist|must be an object of ports",
    "linear": "nests deeper than|takes too long|is not supported|linear",
    "old_keywords": "belongs to an older draft|starts another document",
    "integer": "the timeout must be an integer",
}


def read(document):
    """Read a document as `tool register --from-meta` does."""
    value = parse_json(json.dumps(document))
    for item in value if isinstance(value, list) and value else [value]:
        ToolDefinition.parse(item)


@pytest.fixture(scope="module")
def judge():
    return Judge("tool", read)


def is_unstated(reason):
    return any(re.search(words, reason) for words in REASONS.values())


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(FULL, id="offchain"),
        pytest.param(BADGE, id="onchain", marks=pytest.mark.long),
        pytest.param(ASK, id="ask", marks=pytest.mark.long),
        pytest.param([OFFCHAIN, BADGE], id="list", marks=pytest.mark.long),
    ],
)
def test_verdicts_on_mutations_agree(judge, base):
    accepted, rejected = compare(judge, base, is_unstated)
    assert (accepted > 30, rejected > 300) == (True, True)


def ports(**properties):
    return {"input_schema": {"properties": properties}}


VALID = (
    {},
    {"fqn": "ab.cd.ef@4294967295"},
    {"url": "http://127.0.0.1:8080"},
    {"url": "HTTPS://[::1]:0443/a%20b/"},
    {"url": "https://example.com./x:y@z"},
    {"description": "é" * 2_048},
    {"timeout": 1_000},
    {"timeout": 120_000},
    {"function": None},
    ports(**{f"p{number}": True for number in range(31)}),
    {"input_schema": {"$ref": "#/$defs/ports", "$defs": {"ports": {"type": "object"}}}},
    {"input_schema": {"x-mcp-annotations": {"title": "Add"}}},
    {"output_schema": {"type": "object"}},
    {
        "output_schema": {
            "oneOf": [VARIANT, {"$ref": "#/$defs/err"}],
            "$defs": {"err": VARIANT | {"properties": {"err": PORTS}, "required": ["err"]}},
        }
    },
)
INVALID = (
    *(
        {"fqn": fqn}
        for fqn in ("a", "xyz.add@1", "xyz.example.add", "xyz.example.add@0", "x.yz.ab@1")
    ),
    *({"fqn": fqn} for fqn in ("xyz.example.Add@1", "xyz.example.add@01", f"xy.{'z' * 200}.add@1")),
    *(
        {"url": url}
        for url in ("", "tools.example.com", "ftp://example.com", "https://", "https://a:")
    ),
    *(
        {"url": url}
        for url in ("https://a/?q", "https://a/#f", "https://u@a", "https://a:0", "http://a b")
    ),
    {"url": "https://example.com/" + "a" * 2_048},
    {"url": "0x2::math::add"},
    {"type": "web"},
    {"type": "onchain"},
    {"type": None},
    {"description": "a" * 4_097},
    {"description": None},
    {"timeout": 999},
    {"timeout": 120_001},
    {"timeout": "10s"},
    {"function": {"witness": "0x2::a::B"}},
    {"colour": "red"},
    {"$schema": 1},
    {"input_schema": {"type": "array"}},
    {"input_schema": {"type": "objekt"}},
    {"input_schema": {"properties": []}},
    ports(Capital=True),
    ports(**{"a-b": True}),
    ports(**{f"p{number}": True for number in range(32)}),
    {"input_schema": {"required": ["A"]}},
    {"output_schema": {"oneOf": []}},
    {"output_schema": {"type": "array"}},
    *(
        {"output_schema": {"oneOf": [VARIANT | change]}}
        for change in (
            {"type": "string"},
            {"required": []},
            {"required": ["ok", "no"]},
            {"properties": {}},
            {"properties": {"Ok": PORTS}, "required": ["Ok"]},
            {"properties": {"ok": {"type": "string"}}},
            {"properties": {"ok": True}},
            {"properties": {"ok": PORTS | {"properties": {"Total": True}}}},
        )
    ),
)
UNSTATED = {
    "bytes": {"description": "é" * 2_049},
    "version": {"fqn": "xyz.example.math.add@4294967296"},
    "host": {"url": "https://example.com:65536"},
    "variant": {"output_schema": {"oneOf": [VARIANT, VARIANT]}},
    "references": {"input_schema": {"properties": {"a": {"$ref": "#/$defs/none"}}}},
    "linear": ports(a={"pattern": "(a+)+$(?=b)"}),
    "old_keywords": ports(a={"dependencies": {}}),
    "integer": {"timeout": 1000.0},
}


@pytest.mark.parametrize("change", VALID, ids=str)
def test_valid_definition_is_accepted(judge, change):
    verdict = judge.judge(with_change(OFFCHAIN, change))
    assert (verdict.by_schema, verdict.reason) == (True, None)


@pytest.mark.parametrize("change", INVALID, ids=lambda change: str(change)[:80])
def test_invalid_definition_is_rejected(judge, change):
    verdict = judge.judge(with_change(OFFCHAIN, change))
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


FUNCTION = (
    *(
        {"witness": witness}
        for witness in ("B", "0x2::a", "2::a::B", "0x2::a::B<", "0x2::a::" + "B" * 512)
    ),
    {"type_arguments": "0x2::sui::SUI"},
    {"type_arguments": ["0x2::sui::SUI"] * 9},
    {"type_arguments": ["&u8"]},
    {"objects": ["6"]},
    {"objects": ["0x1::badge::Collection"]},
    {"objects": ["0x6"] * 17},
    {"gas": -1},
    {"gas": 50_000_001},
    {"closed_by": "nobody"},
    {"colour": "red"},
)


@pytest.mark.parametrize("change", FUNCTION, ids=lambda change: str(change)[:80])
def test_invalid_function_is_rejected(judge, change):
    verdict = judge.judge(with_change(BADGE, {"function": change}))
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


@pytest.mark.parametrize(
    ("closed_by", "timeout", "is_valid"),
    [
        ("leaders", 120_000, True),
        ("leaders", 120_001, False),
        ("anyone", 90 * 86_400_000, True),
        ("anyone", 90 * 86_400_000 + 1, False),
    ],
)
def test_timeout_may_be_longer_if_anyone_may_call(judge, closed_by, timeout, is_valid):
    change = {"function": {"closed_by": closed_by}, "timeout": timeout}
    verdict = judge.judge(with_change(BADGE, change))
    assert (verdict.by_schema, verdict.by_reader) == (is_valid, is_valid)


@pytest.mark.parametrize("rule", UNSTATED_RULES)
def test_reader_rejects_what_the_schema_does_not_state(judge, rule):
    verdict = judge.judge(with_change(OFFCHAIN, UNSTATED[rule]))
    assert verdict.by_schema
    assert re.search(REASONS[rule], verdict.reason)


def test_schema_has_the_fields_of_the_parser():
    properties = file_schema("tool")["$defs"]["definition"]["properties"]
    assert set(properties) == {"$schema", *definition.REQUIRED, *definition.OPTIONAL}


def test_parser_ignores_the_name_of_the_schema():
    named = ToolDefinition.parse(OFFCHAIN | {"$schema": "./tool.schema.json"})
    assert named == ToolDefinition.parse(OFFCHAIN)
    assert "$schema" not in named.as_json()
