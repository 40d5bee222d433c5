"""Whether tools fit together as a document joins them, by what the registry says of them."""

from dataclasses import replace

import pytest

from nexus_tools.tool import ToolDefinition
from nexus_tools.workflow import (
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    Output,
    OutputPort,
    Severity,
    ToolFacts,
    Verifier,
    Vertex,
    VertexKind,
    lint_interfaces,
)

LEE = "0x1ee"
MAX = "0x3a5"
ANN = "0xa22"


def ports(required, optional=None):
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required)}


def facts(fqn, takes, gives, **more):
    """Return the registry record of a tool with an input schema and the schemas of its variants."""
    branches = [ports({name: schema}) for name, schema in gives.items()]
    definition = ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com/it",
            "input_schema": takes,
            "output_schema": {"oneOf": branches},
        }
    )
    return ToolFacts(definition, **more)


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
TEXTS = {"type": "array", "items": TEXT}
TOOLS = {
    str(tool.definition.fqn): tool
    for tool in (
        facts(
            "xyz.example.search@1",
            ports({"topic": TEXT}),
            {"ok": ports({"papers": TEXTS, "count": {"type": "integer"}}, {"best": TEXT})},
        ),
        facts(
            "xyz.example.summarise@1",
            ports({"paper": TEXT}, {"words": {"type": "integer", "minimum": 1}}),
            {"ok": ports({"text": TEXT})},
        ),
        facts(
            "xyz.example.weigh@1",
            ports({"weight": NUMBER}),
            {"ok": ports({}, {"any": True})},
        ),
        facts("xyz.example.write@1", ports({"notes": TEXTS}), {"ok": ports({"text": TEXT})}),
    )
}


def vertex(name, tool="", **more):
    return Vertex(name, f"xyz.example.{tool or name}@1", **more)


def edge(source, target, kind=EdgeKind.NORMAL):
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)


def default(target, data):
    return Default(InputPort(*target.split(".")), data)


SEARCH = vertex("search", entry_ports=("topic",))
SPLIT = edge("search.ok.papers", "summarise.paper", EdgeKind.FOR_EACH)
COLLECT = edge("summarise.ok.text", "write.notes", EdgeKind.COLLECT)
FITS = Document(
    vertices=(SEARCH, vertex("summarise"), vertex("write")),
    edges=(SPLIT, COLLECT),
    defaults=(default("summarise.words", 50),),
    outputs=(Output(OutputPort("write", "ok", "text")),),
)


def violations(document, tools=TOOLS, leaders=(), caps_mist=None):
    return [
        (violation.rule, violation.message, violation.pointer)
        for violation in lint_interfaces(document, tools, leaders, caps_mist)
    ]


def document_with_edges(*edges, **more):
    """A search and a summary, joined by these edges alone."""
    return Document((SEARCH, vertex("summarise", entry_ports=("paper",))), edges, **more)


def test_compatible_tools_have_no_violations():
    assert violations(FITS) == []


def test_unregistered_tool_is_reported():
    document = Document((vertex("x", "serch", entry_ports=("a",)),), ())
    message = "The tool xyz.example.serch@1 is not registered. Did you mean xyz.example.search@1?"
    assert violations(document) == [("unregistered", message, "/vertices/0/kind/tool_fqn")]


def test_unknown_variant_is_reported():
    document = document_with_edges(edge("search.okay.papers", "summarise.words"))
    message = "The tool of search has no variant 'okay'. Did you mean ok?"
    assert violations(document) == [("unknown_variant", message, "/edges/0/from/output_variant")]


def test_unknown_output_port_is_reported():
    document = document_with_edges(edge("search.ok.counts", "summarise.words"))
    message = "search.ok has no port 'counts'. Did you mean count?"
    assert violations(document) == [("unknown_port", message, "/edges/0/from/output_port")]


def test_unknown_input_port_is_reported():
    document = document_with_edges(edge("search.ok.count", "summarise.word"))
    message = "The tool of summarise has no input port 'word'. Did you mean words?"
    assert violations(document) == [("unknown_port", message, "/edges/0/to/input_port")]


def test_unknown_entry_ports_defaults_and_outputs_are_reported():
    document = Document(
        (vertex("search", entry_ports=("topic", "more")),),
        (),
        defaults=(default("search.less", 1),),
        outputs=(Output(OutputPort("search", "ok", "text")),),
    )
    assert [(rule, pointer) for rule, _, pointer in violations(document)] == [
        ("unknown_port", "/vertices/0/entry_ports/1/name"),
        ("unknown_port", "/default_values/0/input_port"),
        ("unknown_port", "/outputs/0/output_port"),
    ]


def test_unfed_required_port_is_reported():
    document = replace(FITS, edges=(SPLIT,))
    message = "write.notes has no value, but xyz.example.write@1 requires one."
    assert violations(document) == [("unfed_port", message, "/vertices/2")]


def test_order_only_port_needs_no_port_of_the_tool():
    assert violations(document_with_edges(edge("search.ok.count", "summarise._after"))) == []


def test_failure_has_only_a_reason_and_a_detail():
    handled = document_with_edges(edge("search._err_eval.reason", "summarise._after"))
    assert violations(handled) == []
    document = document_with_edges(edge("search._err_eval.cause", "summarise._after"))
    message = "search._err_eval has no port 'cause'."
    assert violations(document) == [("unknown_port", message, "/edges/0/from/output_port")]


def test_edge_from_an_optional_port_is_a_warning():
    document = document_with_edges(edge("search.ok.best", "summarise._after"))
    [violation] = lint_interfaces(document, TOOLS)
    assert violation.message == "search.ok.best is optional. A run without it fails."
    assert (violation.rule, violation.severity) == ("may_be_missing", Severity.WARNING)
    [strict] = lint_interfaces(document, TOOLS, strict=True)
    assert strict.severity is Severity.ERROR


def test_invalid_default_value_is_reported():
    document = replace(FITS, defaults=(default("summarise.words", 0),))
    [(rule, message, pointer)] = violations(document)
    assert (rule, pointer) == ("value_mismatches", "/default_values/0/value/data")
    assert message.startswith("The default value of summarise.words does not match: ")


@pytest.mark.parametrize("data", [1, 50])
def test_valid_default_value_is_accepted(data):
    assert violations(replace(FITS, defaults=(default("summarise.words", data),))) == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (edge("search.ok.papers", "summarise.words"), "integer, but the edge passes array"),
        (
            edge("search.ok.papers", "summarise.words", EdgeKind.FOR_EACH),
            "integer, but the edge passes string",
        ),
        (
            edge("search.ok.count", "summarise.words", EdgeKind.COLLECT),
            "integer, but the edge passes array",
        ),
        (
            edge("search._err_eval.reason", "summarise.words", EdgeKind.STATIC),
            "integer, but the edge passes string",
        ),
    ],
)
def test_edge_between_incompatible_types_is_reported(made, message):
    assert violations(document_with_edges(made)) == [
        ("value_mismatches", f"summarise.words is {message}.", "/edges/0")
    ]


def test_for_each_over_a_value_that_is_not_an_array_is_reported():
    document = document_with_edges(edge("search.ok.count", "summarise.words", EdgeKind.FOR_EACH))
    message = "search.ok.count is integer, but for_each needs an array."
    assert violations(document) == [("not_a_list", message, "/edges/0")]


def test_integer_may_feed_a_number():
    document = Document((SEARCH, vertex("weigh")), (edge("search.ok.count", "weigh.weight"),))
    assert violations(document) == []


def test_possible_match_is_not_reported():
    document = Document(
        (vertex("weigh", entry_ports=("weight",)), vertex("summarise", entry_ports=("paper",))),
        (edge("weigh.ok.any", "summarise.words"),),
    )
    assert [rule for rule, _, _ in violations(document)] == ["may_be_missing"]


def test_unregistered_tools_have_no_further_violations():
    document = document_with_edges(edge("search.what.ever", "summarise.words"))
    tools = {fqn: tool for fqn, tool in TOOLS.items() if "search" not in fqn}
    assert [rule for rule, _, _ in violations(document, tools)] == ["unregistered"]


# --- The tools themselves


def single_vertex(**more):
    """A document with one summary."""
    return Document((vertex("summarise", entry_ports=("paper",), **more),), ())


def violations_with(document, **more):
    tool = TOOLS["xyz.example.summarise@1"]
    return violations(document, {"xyz.example.summarise@1": replace(tool, **more)})


def test_inactive_tool_is_reported():
    message = "xyz.example.summarise@1 does not accept invocations."
    assert violations_with(single_vertex(), is_active=False) == [
        ("inactive", message, "/vertices/0/kind/tool_fqn")
    ]


def test_unproven_name_is_a_warning():
    message = "The domain of xyz.example.summarise@1 does not confirm the owner of the tool."
    assert violations_with(single_vertex(), is_proven=False) == [
        ("unproven", message, "/vertices/0/kind/tool_fqn")
    ]


def test_on_chain_vertex_requires_an_on_chain_tool():
    message = "xyz.example.summarise@1 is not on_chain: it is off_chain."
    document = single_vertex(kind=VertexKind.ON_CHAIN)
    assert violations_with(document) == [("kind", message, "/vertices/0/kind/variant")]


def test_vertex_with_registered_key_requires_a_signing_tool():
    document = single_vertex(verifier=Verifier.REGISTERED_KEY)
    message = "xyz.example.summarise@1 does not require signed answers."
    assert violations_with(document) == [("unsigned", message, "/vertices/0/verifier")]
    assert violations_with(document, signs=True) == []


def test_tool_above_its_price_cap_is_reported():
    fqn = "xyz.example.summarise@1"
    tools = {fqn: replace(TOOLS[fqn], price_mist=1_500_000_000)}
    assert violations(single_vertex(), tools, caps_mist={fqn: 1_500_000_000}) == []
    message = f"{fqn} costs 1.5 SUI per run, but the maximum is 1 SUI."
    assert violations(single_vertex(), tools, caps_mist={fqn: 1_000_000_000}) == [
        ("too_dear", message, "/vertices/0/kind/tool_fqn")
    ]


def test_attempts_longer_than_an_execution_are_reported():
    day_ms = 24 * 3_600_000
    assert violations_with(single_vertex(attempts=90, retry_after_ms=day_ms)) == []
    message = (
        "The attempts of summarise can take more than 90 days, which is the maximum duration of an"
        " execution."
    )
    assert violations_with(single_vertex(attempts=91, retry_after_ms=day_ms)) == [
        ("too_slow", message, "/vertices/0")
    ]


# --- Leaders


def tools_accepting(*leaders):
    """The tools, of which each lists some leaders, in the order of the vertices."""
    names = ("search", "summarise", "write")
    return TOOLS | {
        f"xyz.example.{name}@1": replace(
            TOOLS[f"xyz.example.{name}@1"],
            leaders=None if listed is None else frozenset(listed),
        )
        for name, listed in zip(names, leaders, strict=True)
    }


def test_tools_that_accept_one_of_the_named_leaders_are_valid():
    assert violations(FITS, tools_accepting([LEE, ANN], [MAX], None), (LEE, MAX)) == []


def test_tool_that_accepts_none_of_the_named_leaders_is_reported():
    message = f"xyz.example.summarise@1 accepts none of the leaders {LEE}, {ANN}."
    assert violations(FITS, tools_accepting([LEE], [MAX], None), (LEE, ANN)) == [
        ("no_leader", message, "/vertices/1")
    ]


@pytest.mark.parametrize(
    "leaders",
    [([LEE], [MAX], None), ([LEE, MAX], [MAX, ANN], [ANN, LEE]), ([LEE], [LEE], [LEE])],
)
def test_two_common_leaders_are_enough_for_all_tools(leaders):
    assert violations(FITS, tools_accepting(*leaders)) == []


@pytest.mark.parametrize("leaders", [([LEE], [MAX], [ANN]), ([], None, None)])
def test_tools_without_two_common_leaders_are_reported(leaders):
    message = (
        "No two leaders together serve all tools of the workflow, and an execution names at"
        " most two."
    )
    assert violations(FITS, tools_accepting(*leaders)) == [("no_leader", message, "")]
