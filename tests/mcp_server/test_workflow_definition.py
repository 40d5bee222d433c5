"""The inputs and endings of a workflow, as MCP clients see them."""

import pytest

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.mcp_server.catalogue.workflow_definition import WorkflowDefinition
from nexus_tools.mcp_server.presentation import Presentation
from nexus_tools.tool import InterfaceValidator, ToolFqn, canonical_json
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
    """Return a function that defines a document whose tools take a place and a number."""

    def interface(*vertices, **more):
        document = Document(vertices, (), **more)
        tools = {ADD: define(input_schema=PLACED)}
        return WorkflowDefinition.of(FLOW, "Flows.", document, tools, duration_ms=60_000)

    return interface


def test_entry_ports_are_properties_with_the_schemas_of_their_tools(interface):
    workflow = interface(Vertex("first", ADD, entry_ports=("number",)), Vertex("second", ADD))
    assert workflow.input_schema == {
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 1}},
        "required": ["number"],
        "additionalProperties": False,
    }
    assert workflow.group_port == ""
    assert workflow.chosen({"number": 3}) == (None, {"number": 3})


def test_referenced_definitions_are_included(interface):
    validator = InterfaceValidator(interface(Vertex("first", ADD, entry_ports=("place",))))
    validator.check_input({"place": "here"})
    with pytest.raises(ValidationError, match="does not match"):
        validator.check_input({"place": "nowhere"})


def test_equal_port_names_are_distinguished_by_their_vertices(interface):
    vertices = (Vertex(name, ADD, entry_ports=("number",)) for name in ("first", "second"))
    assert [*interface(*vertices).input_schema["properties"]] == ["first.number", "second.number"]


def test_input_for_several_ports_satisfies_all_of_them(interface):
    vertex = Vertex("first", ADD, entry_ports=("number", "place", "_after"))
    all_three = Input("all", tuple(InputPort("first", port) for port in vertex.entry_ports))
    [(name, schema)] = (
        interface(vertex, inputs=(all_three,), dialect=DIALECT).input_schema["properties"].items()
    )
    assert name == "all"
    assert schema["allOf"][0] == {"type": "integer", "minimum": 1}
    assert schema["allOf"][2] == {}


def test_entry_group_is_selected_by_a_separate_port(interface):
    vertices = (
        Vertex("first", ADD, entry_ports=("number", "place")),
        Vertex("second", ADD, entry_ports=("number", "group")),
    )
    groups = (EntryGroup("one", ("first",)), EntryGroup("other", ("second",)))
    workflow = interface(*vertices, entry_groups=groups)
    schema = workflow.input_schema
    assert workflow.group_port == "entry_group"
    assert schema["required"] == ["entry_group", "number"]
    assert schema["properties"]["entry_group"]["enum"] == ["one", "other"]
    description = schema["properties"]["entry_group"]["description"]
    assert "one: number, place; other: number, group" in description
    arguments = {"entry_group": "other", "number": 1, "group": 2}
    assert workflow.chosen(arguments) == ("other", {"number": 1, "group": 2})
    with pytest.raises(UsageError) as unsaid:
        workflow.chosen({"number": 1})
    assert unsaid.value.code == "group_missing"


def test_ending_is_a_variant_and_early_endings_are_errors(interface):
    named = Output(OutputPort("first", "ok", "sum"), "total")
    workflow = interface(Vertex("first", ADD, entry_ports=("number",)), outputs=(named,))
    validator = InterfaceValidator(workflow)
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
        *workflow.output_schema["oneOf"][0]["properties"]["completed"]["properties"]["outputs"][
            "properties"
        ]
    ] == ["total"]


# --- Workflows that are too large for a list that every client reads


def wide(name, count, **more):
    return Vertex(name, ADD, entry_ports=tuple(f"{name}{at}" for at in range(count)), **more)


@pytest.mark.parametrize(
    ("vertices", "more"),
    [
        ([wide("a", 257)], {}),
        ([wide("a", 129), wide("b", 128)], {}),
        ([wide("a", 129)], {"entry_groups": (EntryGroup("x", ("a",)), EntryGroup("y", ("a",)))}),
        (
            [wide("a", 1)],
            {"inputs": (Input("all", (InputPort("a", "a0"),) * 257),), "dialect": DIALECT},
        ),
        (
            [wide("a", 1)],
            {"outputs": tuple(Output(OutputPort("a", "ok", f"p{at}"), "") for at in range(257))},
        ),
        ([wide("a", 1)], {"outputs": (Output(OutputPort("a", "ok", "p"), "x" * 20_000),)}),
    ],
    ids=["ports", "vertices", "groups", "targets", "outputs", "name"],
)
def test_oversized_workflow_is_rejected(interface, vertices, more):
    with pytest.raises(ValidationError) as refused:
        interface(*vertices, **more)
    assert refused.value.code == "definition_too_large"


def test_workflow_at_the_limits_is_offered(interface):
    outputs = tuple(Output(OutputPort("a", "ok", f"p{at}"), "") for at in range(256))
    workflow = interface(wide("a", 256), outputs=outputs)
    assert len(workflow.input_schema["properties"]) == 256


LARGE = {"enum": [f"value {number}" for number in range(2_500)]}


@pytest.mark.parametrize(
    "named",
    [
        {"properties": {"a": LARGE}},
        {"properties": {"a": {"$ref": "#/$defs/Large"}}, "$defs": {"Large": LARGE}},
    ],
    ids=["repeated", "referred to"],
)
def test_workflow_with_oversized_schemas_is_rejected_early(define, monkeypatch, named):
    """The server converts only two of a hundred tools with schemas of 30 KB."""
    fqns = [f"xyz.example.math.add@{version}" for version in range(1, 101)]
    tools = {fqn: define(fqn=fqn, input_schema=named) for fqn in fqns}
    vertices = tuple(Vertex(f"v{at}", fqn, entry_ports=("a",)) for at, fqn in enumerate(fqns, 1))
    written = []

    def counting(value):
        written.append(len(canonical_json(value)))
        return canonical_json(value)

    monkeypatch.setattr(
        "nexus_tools.mcp_server.catalogue.workflow_definition.canonical_json", counting
    )
    with pytest.raises(ValidationError) as refused:
        WorkflowDefinition.of(FLOW, "Flows.", Document(vertices, ()), tools, duration_ms=60_000)
    assert refused.value.code == "definition_too_large"
    assert sum(written) < 4 * 40_000


def test_client_sees_the_cost_of_a_call(interface):
    workflow = interface(Vertex("first", ADD, entry_ports=("number",)))
    tool = Presentation("xyz.example", is_paid=True).document(workflow, 300_000_000)
    assert tool.name == "flow_v1"
    assert tool.description == (
        "Flows.\n\nA call costs up to 0.3 SUI plus gas. Unused funds are refunded."
    )
    assert tool.meta == {
        "nexus/fqn": "xyz.example.flow@1",
        "nexus/type": "workflow",
        "nexus/timeout_ms": 60_000,
        "nexus/price_mist": 300_000_000,
    }
