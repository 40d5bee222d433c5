"""Forms from input schemas: the controls, their texts, and the commands that call a tool."""

import ast
import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.explorer.forms.commands import call_texts
from nexus_tools.explorer.forms.controls import ControlKind, input_controls
from nexus_tools.explorer.forms.interface import ToolInterface
from nexus_tools.explorer.forms.texts import TextBudget
from nexus_tools.explorer.forms.values import inputs_of, texts_of
from nexus_tools.tool import SchemaDocument, ToolFqn

OUTPUT = {
    "type": "object",
    "oneOf": [
        {
            "type": "object",
            "properties": {"ok": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "required": ["ok"],
        }
    ],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20, "title": "Name", "description": "Who?"},
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "ratio": {"type": ["number", "null"]},
        "unit": {"enum": ["c", "f", 1, None]},
        "exact": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "object"}},
        "any": {},
        "place": {"$ref": "#/$defs/place"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["name", "count"],
    "additionalProperties": False,
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x"],
        },
        "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}},
    },
}


def controls_of(schema):
    return input_controls(SchemaDocument.parse(schema), TextBudget())


def interface(schema, output=OUTPUT):
    texts = [json.dumps(part).encode() for part in (schema, output)]
    fqn, url = "xyz.example.form@1", "https://tools.example.com/form"
    return ToolInterface(Definition(fqn, "offchain", url, "Text", *texts, 5_000, None))


def test_kinds_follow_the_schema():
    kinds = {control.key: control.kind for control in controls_of(SCHEMA)}
    assert kinds == {
        "name": ControlKind.TEXT,
        "text": ControlKind.LONG_TEXT,
        "count": ControlKind.INTEGER,
        "ratio": ControlKind.NUMBER,
        "unit": ControlKind.CHOICE,
        "exact": ControlKind.CHOICE,
        "tags": ControlKind.LINES,
        "sizes": ControlKind.LINES,
        "rows": ControlKind.JSON,
        "any": ControlKind.JSON,
        "place": ControlKind.GROUP,
        "maybe": ControlKind.INTEGER,
        "tree": ControlKind.GROUP,
    }


def test_required_ports_come_first_with_their_texts_and_limits():
    first, second, *_ = controls_of(SCHEMA)
    assert (first.label, first.description, first.is_required) == ("Name", "Who?", True)
    assert second.key == "count"
    assert second.hints == ("at least 1", "at most 9", "default 3")


def test_recursive_schema_has_a_bounded_form():
    def depth(controls):
        return 1 + max((depth(control.controls) for control in controls), default=0)

    controls = controls_of(SCHEMA)
    assert depth(controls) < 10
    wide = {f"p{number}": {"$ref": "#/$defs/tree"} for number in range(30)}
    [control] = controls_of({"type": "object", "properties": wide, "$defs": SCHEMA["$defs"]})
    assert control.name == "in"


def test_element_ids_are_unique_even_for_strange_names():
    names = ["a b", 'a"b', "a/b", "a~1b", "", "ä", "<x>"]
    inner = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    [group] = controls_of({"type": "object", "properties": {"o": inner}})
    ids = [control.element_id for control in group.controls]
    assert len(set(ids)) == len(names)
    assert all(text.replace("-", "").isalnum() for text in ids)
    read = inputs_of([group], {control.name: control.key for control in group.controls})
    assert read.inputs == {"o": {name: name for name in names if name}}


def test_schema_without_ports_has_a_form_for_all_inputs_or_none():
    [control] = controls_of({"type": "object"})
    assert (control.name, control.kind) == ("in", ControlKind.JSON)
    assert inputs_of([control], {"in": '{"a": 1}'}).inputs == {"a": 1}
    assert controls_of({"type": "object", "additionalProperties": False}) == ()


INPUTS = st.fixed_dictionaries(
    {
        "name": st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
        "count": st.integers(1, 9),
    },
    optional={
        "text": st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1),
        "ratio": st.floats(allow_nan=False, allow_infinity=False),
        "unit": st.sampled_from(["c", "f", 1]),
        "exact": st.booleans(),
        "tags": st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1),
        "sizes": st.lists(st.integers(), min_size=1),
        "rows": st.lists(st.dictionaries(st.text(max_size=3), st.integers())),
        "any": st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
        "place": st.fixed_dictionaries({"x": st.floats(-9, 9)}, optional={"y": st.floats(-9, 9)}),
        "maybe": st.integers(),
    },
)


@given(INPUTS)
def test_inputs_survive_the_form(inputs):
    controls = controls_of(SCHEMA)
    read = inputs_of(controls, texts_of(controls, inputs))
    assert read.problems == {}
    assert read.inputs == inputs


def test_lists_have_one_item_per_line_or_json():
    controls = controls_of(SCHEMA)
    read = inputs_of(controls, {"in/tags": "a\r\nb c\r\n\r\n", "in/sizes": "1\n2"})
    assert (read.inputs["tags"], read.inputs["sizes"]) == (["a", "b c"], [1, 2])
    as_json = inputs_of(controls, {"in/tags": '["a\\nb", ""]'})
    assert as_json.inputs["tags"] == ["a\nb", ""]


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ({"in/count": "many"}, "in/count"),
        ({"in/unit": "k"}, "in/unit"),
        ({"in/any": "{"}, "in/any"),
        ({"in/sizes": "1\nx"}, "in/sizes"),
        ({"in/name": "", "in/count": "1"}, None),
        ({"in/name": "a", "in/count": "10"}, "in/count"),
        ({"in/name": "a", "in/count": "1", "in/place/y": "2"}, "in/place"),
    ],
)
def test_problems_belong_to_their_control(texts, name):
    filled = interface(SCHEMA).filled(texts)
    assert (name in filled.problems) if name else not filled.problems


def test_all_wrong_inputs_are_reported_together():
    filled = interface(SCHEMA).filled({"in/name": "a" * 21, "in/count": "many", "in/unit": "k"})
    assert filled.problems["in/count"] == "expected an integer, got 'many'"
    assert set(filled.problems) == {"in/name", "in/count", "in/unit"}


def test_form_starts_with_an_example_that_is_valid():
    form = interface(SCHEMA)
    filled = form.filled(None)
    assert form.problem == ""
    assert form.filled(dict(filled.texts)).problems == {}
    assert filled.inputs["count"] == 3


def test_author_examples_fill_the_form():
    examples = [{"name": "a", "count": 1}, {"name": "b", "count": 2, "tags": ["x", "y"]}, 7]
    form = interface(SCHEMA | {"examples": examples})
    assert [form.filled(texts).inputs for texts in form.examples] == examples[:2]
    assert form.filled(None).inputs == examples[0]


@pytest.mark.parametrize("example", [{"name": "\u202e", "count": 1}, {"name": "a" * 9_000}])
def test_hostile_examples_are_omitted(example):
    assert interface(SCHEMA | {"examples": [example]}).examples == ()


@pytest.mark.parametrize(
    "schema",
    [{"type": "nothing"}, {"type": "object", "properties": {"a": {"$ref": "#/x"}}}, [], 1, "x"],
)
def test_invalid_schema_has_a_form_for_json(schema):
    form = interface(schema)
    assert form.problem
    assert [control.name for control in form.controls] == ["in"]
    assert form.filled({"in": "[1]"}).inputs == {}


# --- Commands

FQN = ToolFqn.parse("xyz.example.math.add@1")
HOSTILE = {"a": "'; rm -rf / #", "b": '\u202e\x1b[31m$(id)`id`\n"\\', "c": {"d": ["€", None, 1.5]}}


def texts(inputs, url="https://tools.example.com/add", is_offchain=True):
    found = call_texts(FQN, inputs, url=url, network="localnet", is_offchain=is_offchain)
    return {text.name: text.text for text in found}


@pytest.mark.parametrize("inputs", [{}, {"a": 1}, HOSTILE])
def test_commands_contain_exactly_the_inputs(inputs):
    found = texts(inputs)
    command = shlex.split(found["Command line"].replace("\\\n", " "))
    assert command[:4] == ["nexus-tools", "tool", "invoke", str(FQN)]
    assert json.loads(command[command.index("--input") + 1]) == inputs
    curl = shlex.split(found["curl"].replace("\\\n", " "))
    assert curl[:2] == ["curl", "https://tools.example.com/add/invoke"]
    assert json.loads(curl[3]) == inputs
    assert json.loads(found["MCP"])["params"]["arguments"] == inputs
    program = ast.parse(found["Python"])
    [value] = [
        node.value
        for node in ast.walk(program)
        if isinstance(node, ast.Assign) and node.targets[0].id == "inputs"
    ]
    assert ast.literal_eval(value) == inputs


def test_commands_contain_no_invisible_characters():
    for text in texts(HOSTILE).values():
        assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "0x2::math::add",
        "https://u:p@host/",
        "https://host/'; rm -rf /",
        "file:///x",
    ],
)
def test_curl_is_omitted_without_a_valid_url(url):
    assert "curl" not in texts({}, url=url)


def test_curl_is_omitted_for_move_functions():
    assert "curl" not in texts({}, is_offchain=False)
