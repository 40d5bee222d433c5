"""Every export obeys the rules of its receiver for all schemas of tools."""

import datetime as dt
import enum
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from nexus_tools.bridges import (
    BridgeHost,
    HyperpocketBridge,
    McpBridge,
    Naming,
    NoraBridge,
    SosBridge,
    UnstractBridge,
    discover,
)
from nexus_tools.errors import ValidationError
from nexus_tools.export import FORMATS, export_tools
from nexus_tools.tool import InterfaceValidator, example_input
from nexus_tools.tool_server import Tool, ToolServer, Variant, tool
from tests.export.receivers import CHECKERS, problems

BRIDGED = Path(__file__).parents[2] / "examples" / "bridges"
TEXT = {"type": "string"}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


class Point(BaseModel):
    x: float
    y: float = 0.0
    tags: list[str] = []


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Done(Variant, name="ok"):
    result: str


ANNOTATIONS = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "bare_list": list,
    "bare_dict": dict,
    "any": Any,
    "texts": list[str],
    "matrix": list[list[float]],
    "pair": tuple[int, str],
    "unique": set[int],
    "table": dict[str, int],
    "optional": str | None,
    "union": int | str | None,
    "models": Point | Tree,
    "literal": Literal["a", "b"],
    "numbers": Literal[1, 2],
    "mixed": Literal["a", 1] | None,
    "empty": Literal["", "a"],
    "enum": Colour,
    "int_enum": Level,
    "moment": dt.datetime,
    "day": dt.date,
    "span": dt.timedelta,
    "uuid": uuid.UUID,
    "decimal": Decimal,
    "model": Point,
    "tree": Tree,
    "points": list[Point] | None,
    "bounded": Annotated[int, Field(ge=1, lt=10, description="From 1 to 9.")],
    "short": Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")],
}

OBJECT = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
OTHER = {"type": "object", "properties": {"b": TEXT}, "required": ["b"]}
# Each schema with whether every strict call satisfies it, and whether Gemini's subset can express
# it.
HOSTILE = {
    "nothing": ({"type": "object"}, True, True),
    "closed": ({"type": "object", "additionalProperties": False}, True, True),
    "bare_array": ({"type": "object", "properties": {"l": {"type": "array"}}}, False, False),
    "bare_object": ({"type": "object", "properties": {"o": {"type": "object"}}}, False, False),
    "nullable_array": (
        {"type": "object", "properties": {"l": {"type": ["array", "null"]}}},
        False,
        False,
    ),
    "deep_array": (
        {"type": "object", "properties": {"l": {"anyOf": [{"type": "array"}, TEXT]}}},
        False,
        False,
    ),
    "tuple": (
        {"type": "object", "properties": {"l": {"type": "array", "prefixItems": [TEXT]}}},
        False,
        False,
    ),
    "defined_array": (
        {
            "type": "object",
            "properties": {"l": {"$ref": "#/$defs/l"}},
            "$defs": {"l": {"type": "array"}},
        },
        False,
        False,
    ),
    "root_union": ({"type": "object", "oneOf": [OBJECT, OTHER]}, True, True),
    "root_reference": ({"$ref": "#/$defs/r", "$defs": {"r": OBJECT}}, True, True),
    "recursive": (
        {"type": "object", "properties": {"next": {"$ref": "#"}, "a": TEXT}},
        True,
        False,
    ),
    "true": ({"type": "object", "properties": {"p": True}}, False, False),
    "false": ({"type": "object", "properties": {"p": False}}, False, False),
    "no_type": ({"type": "object", "properties": {"p": {"description": "any"}}}, False, False),
    "object_enum": (
        {"type": "object", "properties": {"p": {"enum": [{"a": 1}]}}},
        False,
        False,
    ),
    "object_const": (
        {"type": "object", "properties": {"p": {**OBJECT, "const": {"a": "1", "b": 2}}}},
        False,
        True,
    ),
    "odd_names": (
        {"type": "object", "properties": {"o": {"type": "object", "properties": {"a b": TEXT}}}},
        True,
        False,
    ),
    "dependent_required": ({**OBJECT, "dependentRequired": {"a": ["z"]}}, False, False),
    "dependent_schemas": (
        {**OBJECT, "dependentSchemas": {"a": {"required": ["z"]}}},
        False,
        False,
    ),
    "then": ({**OBJECT, "if": {"required": ["a"]}, "then": {"required": ["z"]}}, False, False),
    "else": ({**OBJECT, "if": False, "else": {"required": ["z"]}}, False, False),
    "then_elsewhere": (
        {**OBJECT, "if": True, "then": {"$ref": "#/$defs/z"}, "$defs": {"z": {"required": ["z"]}}},
        False,
        False,
    ),
    "nested_condition": (
        {**OBJECT, "if": True, "then": {"allOf": [{"required": ["z"]}]}},
        False,
        False,
    ),
    "harmless_then": ({**OBJECT, "if": True, "then": {"required": ["a"]}}, True, True),
    "negation": ({**OBJECT, "not": {"required": ["z"]}}, None, None),
    "min_properties": ({**OBJECT, "minProperties": 2}, False, False),
    "few_properties": ({**OBJECT, "minProperties": 1}, True, True),
    "reference_and_required": (
        {
            "type": "object",
            "properties": {"p": {"$ref": "#/$defs/o", "required": ["z"]}},
            "$defs": {"o": OBJECT},
        },
        False,
        False,
    ),
    "union_and_minimum": (
        {"type": "object", "properties": {"p": {"anyOf": [OBJECT], "minProperties": 2}}},
        False,
        False,
    ),
    "contains": (
        {
            "type": "object",
            "properties": {
                "l": {"type": "array", "items": OBJECT, "contains": {"required": ["z"]}}
            },
        },
        False,
        True,
    ),
    "contains_reference": (
        {
            "type": "object",
            "properties": {
                "l": {"type": "array", "items": OBJECT, "contains": {"$ref": "#/$defs/z"}}
            },
            "$defs": {"z": {"required": ["z"]}},
        },
        False,
        True,
    ),
    "contains_described": (
        {
            "type": "object",
            "properties": {
                "l": {
                    "type": "array",
                    "items": OBJECT,
                    "contains": {"required": ["a"]},
                    "minItems": 1,
                }
            },
        },
        True,
        True,
    ),
    "empty_enum_text": ({"type": "object", "properties": {"p": {"enum": ["", "a"]}}}, True, True),
    "null_alone": ({"type": "object", "properties": {"p": {"type": "null"}}}, True, False),
}


@pytest.fixture
def hostile_definitions(define):
    """Return a definition for each schema above, by its name."""

    def wrapped(name, schema):
        # The registry accepts any object schema; ports are its top-level names.
        return define(f"xyz.example.hostile.{name}@1", input_schema=schema)

    return {name: wrapped(name, schema) for name, (schema, _, _) in HOSTILE.items()}


@pytest.fixture(scope="module")
def annotated_definitions():
    """Return definitions of functions with each annotation, required and optional."""
    tools = []
    for name, annotation in ANNOTATIONS.items():

        def required(port): ...

        def optional(port=None): ...

        required.__annotations__ = {"port": annotation, "return": Done}
        optional.__annotations__ = {"port": annotation | None, "return": Done}
        tools += [
            tool(f"xyz.example.{name}.{function.__name__}@1")(function)
            for function in (required, optional)
        ]
    assert all(isinstance(each, Tool) for each in tools)
    return ToolServer(tools).definitions("https://tools.example.com")


@pytest.fixture
async def bridged_definitions(tmp_path):
    """Return the definitions of all bridged examples."""
    bridges = [NoraBridge(), SosBridge(), HyperpocketBridge(), UnstractBridge(), McpBridge()]
    host = BridgeHost(
        Path(sys.executable),
        tmp_path / "scratch",
        tmp_path / "cache",
        {"PATH": "/usr/bin:/bin"},
        timeout_ms=60_000,
    )
    discovery = await discover([BRIDGED], bridges, host, Naming())
    assert {each.system for each in discovery.tools} == {bridge.system for bridge in bridges}
    return ToolServer(discovery.tools).definitions("https://tools.example.com")


def test_each_format_has_a_checker():
    assert CHECKERS.keys() == FORMATS.keys()


@pytest.mark.parametrize(
    ("system", "wrong"),
    [
        ("openai", {"type": "object"}),
        ("openai", {"type": "object", "properties": {"l": {"type": "array"}}}),
        ("openai-responses", {"type": "object", "properties": {}, "oneOf": [OBJECT]}),
        ("anthropic", {"anyOf": [OBJECT]}),
        ("anthropic", {"type": "object", "properties": {"a b": TEXT}}),
        ("mcp", {"type": "object", "properties": {"l": {"type": ["array", "null"]}}}),
        ("gemini", {"type": "object", "properties": {"o": {"type": "object"}}}),
        ("gemini", {"type": "object", "properties": {"n": {"type": "integer", "enum": [1]}}}),
        ("gemini", {"type": "object", "properties": {"r": {"$ref": "#"}}}),
    ],
)
def test_checker_finds_a_schema_that_its_receiver_rejects(system, wrong):
    flat = {"name": "one", "description": "One.", "parameters": wrong}
    document = {
        "openai": [{"type": "function", "function": flat}],
        "openai-responses": [{"type": "function", "strict": False, **flat}],
        "anthropic": [{"name": "one", "input_schema": wrong}],
        "mcp": {"tools": [{"name": "one", "inputSchema": wrong, "outputSchema": OBJECT}]},
        "gemini": {"functionDeclarations": [flat]},
    }[system]
    assert problems(system, document) != []


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("system", FORMATS)
def test_export_obeys_the_receiver_for_all_annotations(annotated_definitions, system, strict):
    done = export_tools(annotated_definitions, system, strict=strict)
    assert len(done.tools) == 2 * len(ANNOTATIONS)
    assert problems(system, done.document) == []


@pytest.mark.parametrize("system", FORMATS)
async def test_export_obeys_the_receiver_for_bridged_tools(bridged_definitions, system):
    for strict in (False, True):
        assert (
            problems(system, export_tools(bridged_definitions, system, strict=strict).document)
            == []
        )


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("system", FORMATS)
def test_export_obeys_the_receiver_for_hostile_schemas(hostile_definitions, system, strict):
    done = export_tools(list(hostile_definitions.values()), system, strict=strict)
    assert problems(system, done.document) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_schema_is_strict_only_when_a_strict_call_satisfies_it(hostile_definitions, name):
    expected = HOSTILE[name][1]
    done = export_tools([hostile_definitions[name]], "openai", strict=True)
    [document], [exported_tool] = done.document, done.tools
    is_strict = document["function"].get("strict", False)
    if expected is not None:
        assert is_strict is expected
    if is_strict:
        call = example_input(document["function"]["parameters"])
        InterfaceValidator(hostile_definitions[name]).check_input(exported_tool.to_ports(call))
    else:
        [warning] = done.warnings
        assert "cannot be strict" in warning


@pytest.mark.parametrize("name", HOSTILE)
def test_gemini_gets_json_schema_when_the_subset_cannot_express_it(hostile_definitions, name):
    expected = HOSTILE[name][2]
    done = export_tools([hostile_definitions[name]], "gemini")
    [declaration] = done.document["functionDeclarations"]
    assert ("parametersJsonSchema" in declaration) == bool(done.warnings)
    if expected is not None:
        assert ("parametersJsonSchema" not in declaration) is expected


def test_impossible_call_is_refused_by_the_tool(hostile_definitions):
    with pytest.raises(ValidationError):
        InterfaceValidator(hostile_definitions["then"]).check_input({"a": "x"})
