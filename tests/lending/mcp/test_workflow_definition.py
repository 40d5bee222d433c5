"""What a workflow asks for, and what it can come to, as MCP clients read it."""

import pytest

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.lending.mcp.presentation import Presentation
from nexus_tools.lending.mcp.workflow_definition import WorkflowDefinition
from nexus_tools.tool import InterfaceValidator, ToolFqn
from nexus_tools.workflow import (
    DIALECT,
    Document,
    EntryGroup,
    Input,
    InputPort,
    Output,
    OutputPort,
    Vertex,
)

ADD = "xyz.example.math.add@1"
FLOW = ToolFqn.parse("xyz.example.flow@1")
PLACED = {
    "type": "object",
    "properties": {
        "place": {"$ref": "#/$defs/Place"},
        "number": {"type": "integer", "minimum": 1},
    },
    "$defs": {"Place": {"type": "string", "enum": ["here", "there"]}},
}


@pytest.fixture
def interface(define):
    """The definition of a document, all of whose tools take a place and a number."""

    def interface(*vertices, **more):
        document = Document(vertices, (), **more)
        tools = {ADD: define(input_schema=PLACED)}
        return WorkflowDefinition.of(FLOW, "Flows.", document, tools, lasts_ms=60_000)

    return interface


def test_each_entry_port_is_a_property_with_the_schema_of_its_tool(interface):
    found = interface(Vertex("first", ADD, entry_ports=("number",)), Vertex("second", ADD))
    assert found.input_schema == {
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 1}},
        "required": ["number"],
        "additionalProperties": False,
    }
    assert found.group_port == ""
    assert found.chosen({"number": 3}) == (None, {"number": 3})


def test_what_a_schema_refers_to_comes_with_it(interface):
    validator = InterfaceValidator(interface(Vertex("first", ADD, entry_ports=("place",))))
    validator.check_input({"place": "here"})
    with pytest.raises(ValidationError, match="does not match"):
        validator.check_input({"place": "nowhere"})


def test_ports_of_one_name_are_told_apart_by_their_vertices(interface):
    vertices = (Vertex(name, ADD, entry_ports=("number",)) for name in ("first", "second"))
    assert [*interface(*vertices).input_schema["properties"]] == ["first.number", "second.number"]


def test_an_input_for_several_ports_fits_them_all(interface):
    vertex = Vertex("first", ADD, entry_ports=("number", "place", "_after"))
    all_three = Input("all", tuple(InputPort("first", port) for port in vertex.entry_ports))
    [(name, schema)] = (
        interface(vertex, inputs=(all_three,), dialect=DIALECT).input_schema["properties"].items()
    )
    assert name == "all"
    assert schema["allOf"][0] == {"type": "integer", "minimum": 1}
    assert schema["allOf"][2] == {}


def test_one_of_several_entry_groups_is_named_by_a_port_of_its_own(interface):
    vertices = (
        Vertex("first", ADD, entry_ports=("number", "place")),
        Vertex("second", ADD, entry_ports=("number", "group")),
    )
    groups = (EntryGroup("one", ("first",)), EntryGroup("other", ("second",)))
    found = interface(*vertices, entry_groups=groups)
    schema = found.input_schema
    assert found.group_port == "entry_group"
    assert schema["required"] == ["entry_group", "number"]
    assert schema["properties"]["entry_group"]["enum"] == ["one", "other"]
    told = schema["properties"]["entry_group"]["description"]
    assert "one: number, place; other: number, group" in told
    arguments = {"entry_group": "other", "number": 1, "group": 2}
    assert found.chosen(arguments) == ("other", {"number": 1, "group": 2})
    with pytest.raises(UsageError) as unsaid:
        found.chosen({"number": 1})
    assert unsaid.value.code == "group_missing"


def test_how_it_ends_is_a_variant_and_early_ends_are_errors(interface):
    named = Output(OutputPort("first", "ok", "sum"), "total")
    found = interface(Vertex("first", ADD, entry_ports=("number",)), outputs=(named,))
    validator = InterfaceValidator(found)
    assert validator.variants == (
        "completed",
        "completed_with_failures",
        "err_terminated",
        "err_cancelled",
        "err_timed_out",
    )
    ports = {"execution": "0x1", "outputs": {"total": [1, 2]}}
    validator.check_output({"completed": ports})
    validator.check_output({"err_timed_out": ports | {"reason": "It took too long."}})
    assert [
        *found.output_schema["oneOf"][0]["properties"]["completed"]["properties"]["outputs"][
            "properties"
        ]
    ] == ["total"]


def test_a_client_is_told_what_a_call_takes(interface):
    found = interface(Vertex("first", ADD, entry_ports=("number",)))
    tool = Presentation("xyz.example", is_paid=True).document(found, 300_000_000)
    assert tool.name == "flow_v1"
    assert tool.description == (
        "Flows.\n\nA call takes 0.3 SUI and gas; what it does not use comes back."
    )
    assert tool.meta == {
        "nexus/fqn": "xyz.example.flow@1",
        "nexus/type": "workflow",
        "nexus/timeout_ms": 60_000,
        "nexus/price_mist": 300_000_000,
    }
