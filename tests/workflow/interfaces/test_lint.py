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
    """What the registry knows of a tool with an input schema and the schemas of its variants."""
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


def found(document, tools=TOOLS, leaders=(), caps_mist=None):
    return [
        (violation.rule, violation.message, violation.pointer)
        for violation in lint_interfaces(document, tools, leaders, caps_mist)
    ]


def joined(*edges, **more):
    """A search and a summary, joined by these edges alone."""
    return Document((SEARCH, vertex("summarise", entry_ports=("paper",))), edges, **more)


def test_tools_that_fit_together_are_as_they_should_be():
    assert found(FITS) == []


def test_a_tool_that_is_not_registered_is_found():
    document = Document((vertex("x", "serch", entry_ports=("a",)),), ())
    message = "No tool is registered as xyz.example.serch@1. Did you mean xyz.example.search@1?"
    assert found(document) == [("unregistered", message, "/vertices/0/kind/tool_fqn")]


def test_a_variant_that_a_tool_has_not_is_found():
    document = joined(edge("search.okay.papers", "summarise.words"))
    message = "The tool of search has no variant 'okay'. Did you mean ok?"
    assert found(document) == [("unknown_variant", message, "/edges/0/from/output_variant")]


def test_a_port_that_a_variant_has_not_is_found():
    document = joined(edge("search.ok.counts", "summarise.words"))
    message = "search.ok gives no port 'counts'. Did you mean count?"
    assert found(document) == [("unknown_port", message, "/edges/0/from/output_port")]


def test_a_port_that_a_tool_does_not_take_is_found():
    document = joined(edge("search.ok.count", "summarise.word"))
    message = "The tool of summarise takes no port 'word'. Did you mean words?"
    assert found(document) == [("unknown_port", message, "/edges/0/to/input_port")]


def test_entry_ports_defaults_and_outputs_that_a_tool_has_not_are_found():
    document = Document(
        (vertex("search", entry_ports=("topic", "more")),),
        (),
        defaults=(default("search.less", 1),),
        outputs=(Output(OutputPort("search", "ok", "text")),),
    )
    assert [(rule, pointer) for rule, _, pointer in found(document)] == [
        ("unknown_port", "/vertices/0/entry_ports/1/name"),
        ("unknown_port", "/default_values/0/input_port"),
        ("unknown_port", "/outputs/0/output_port"),
    ]


def test_a_needed_port_that_nothing_feeds_is_found():
    document = replace(FITS, edges=(SPLIT,))
    message = "Nothing feeds write.notes, which xyz.example.write@1 needs."
    assert found(document) == [("unfed_port", message, "/vertices/2")]


def test_a_port_for_order_needs_no_counterpart_in_the_tool():
    assert found(joined(edge("search.ok.count", "summarise._after"))) == []


def test_a_failure_has_a_reason_and_a_detail_and_nothing_else():
    handled = joined(edge("search._err_eval.reason", "summarise._after"))
    assert found(handled) == []
    document = joined(edge("search._err_eval.cause", "summarise._after"))
    message = "search._err_eval gives no port 'cause'."
    assert found(document) == [("unknown_port", message, "/edges/0/from/output_port")]


def test_an_edge_from_a_port_that_may_be_missing_is_a_warning():
    document = joined(edge("search.ok.best", "summarise._after"))
    [violation] = lint_interfaces(document, TOOLS)
    assert violation.message == "search.ok.best need not be there, and a run that lacks it fails."
    assert (violation.rule, violation.severity) == ("may_be_missing", Severity.WARNING)
    [strict] = lint_interfaces(document, TOOLS, strict=True)
    assert strict.severity is Severity.ERROR


def test_a_default_that_does_not_match_its_schema_is_found():
    document = replace(FITS, defaults=(default("summarise.words", 0),))
    [(rule, message, pointer)] = found(document)
    assert (rule, pointer) == ("value_mismatches", "/default_values/0/value/data")
    assert message.startswith("The default value of summarise.words does not match: ")


@pytest.mark.parametrize("data", [1, 50])
def test_a_default_that_matches_its_schema_is_as_it_should_be(data):
    assert found(replace(FITS, defaults=(default("summarise.words", data),))) == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (edge("search.ok.papers", "summarise.words"), "integer, and the edge brings array"),
        (
            edge("search.ok.papers", "summarise.words", EdgeKind.FOR_EACH),
            "integer, and the edge brings string",
        ),
        (
            edge("search.ok.count", "summarise.words", EdgeKind.COLLECT),
            "integer, and the edge brings array",
        ),
        (
            edge("search._err_eval.reason", "summarise.words", EdgeKind.STATIC),
            "integer, and the edge brings string",
        ),
    ],
)
def test_an_edge_that_never_brings_what_its_target_takes_is_found(made, message):
    assert found(joined(made)) == [
        ("value_mismatches", f"summarise.words is {message}.", "/edges/0")
    ]


def test_a_for_each_over_what_is_never_an_array_is_found():
    document = joined(edge("search.ok.count", "summarise.words", EdgeKind.FOR_EACH))
    message = "search.ok.count is integer, and for_each splits an array."
    assert found(document) == [("not_a_list", message, "/edges/0")]


def test_integers_are_numbers():
    document = Document((SEARCH, vertex("weigh")), (edge("search.ok.count", "weigh.weight"),))
    assert found(document) == []


def test_what_may_match_is_not_reported():
    document = Document(
        (vertex("weigh", entry_ports=("weight",)), vertex("summarise", entry_ports=("paper",))),
        (edge("weigh.ok.any", "summarise.words"),),
    )
    assert [rule for rule, _, _ in found(document)] == ["may_be_missing"]


def test_of_tools_that_are_not_registered_nothing_else_is_reported():
    document = joined(edge("search.what.ever", "summarise.words"))
    tools = {fqn: tool for fqn, tool in TOOLS.items() if "search" not in fqn}
    assert [rule for rule, _, _ in found(document, tools)] == ["unregistered"]


# --- The tools themselves


def alone(**more):
    """A document with one summary."""
    return Document((vertex("summarise", entry_ports=("paper",), **more),), ())


def told_of(document, **more):
    tool = TOOLS["xyz.example.summarise@1"]
    return found(document, {"xyz.example.summarise@1": replace(tool, **more)})


def test_a_tool_that_is_not_active_is_found():
    message = "xyz.example.summarise@1 takes no invocations."
    assert told_of(alone(), is_active=False) == [("inactive", message, "/vertices/0/kind/tool_fqn")]


def test_a_name_that_proves_nothing_is_a_warning():
    message = "The domain of xyz.example.summarise@1 does not say that it knows the tool's owner."
    assert told_of(alone(), is_proven=False) == [("unproven", message, "/vertices/0/kind/tool_fqn")]


def test_a_vertex_on_chain_needs_a_tool_on_chain():
    message = "xyz.example.summarise@1 is not on_chain: it is off_chain."
    document = alone(kind=VertexKind.ON_CHAIN)
    assert told_of(document) == [("kind", message, "/vertices/0/kind/variant")]


def test_a_vertex_that_asks_for_a_registered_key_needs_a_tool_that_signs():
    document = alone(verifier=Verifier.REGISTERED_KEY)
    message = "xyz.example.summarise@1 is registered without signed outcomes."
    assert told_of(document) == [("unsigned", message, "/vertices/0/verifier")]
    assert told_of(document, signs=True) == []


def test_a_tool_that_costs_more_than_its_cap_is_found():
    fqn = "xyz.example.summarise@1"
    tools = {fqn: replace(TOOLS[fqn], price_mist=1_500_000_000)}
    assert found(alone(), tools, caps_mist={fqn: 1_500_000_000}) == []
    message = f"{fqn} costs 1.5 SUI a run, and the cap is 1 SUI."
    assert found(alone(), tools, caps_mist={fqn: 1_000_000_000}) == [
        ("too_dear", message, "/vertices/0/kind/tool_fqn")
    ]


def test_attempts_that_take_longer_than_an_execution_may_are_found():
    day_ms = 24 * 3_600_000
    assert told_of(alone(attempts=90, retry_after_ms=day_ms)) == []
    message = "All attempts of summarise take longer than an execution may, 90 days."
    assert told_of(alone(attempts=91, retry_after_ms=day_ms)) == [
        ("too_slow", message, "/vertices/0")
    ]


# --- Leaders


def listing(*leaders):
    """The tools, of which each lists some leaders, in the order of the vertices."""
    names = ("search", "summarise", "write")
    return TOOLS | {
        f"xyz.example.{name}@1": replace(
            TOOLS[f"xyz.example.{name}@1"],
            leaders=None if listed is None else frozenset(listed),
        )
        for name, listed in zip(names, leaders, strict=True)
    }


def test_tools_that_list_one_of_the_named_leaders_are_as_they_should_be():
    assert found(FITS, listing([LEE, ANN], [MAX], None), (LEE, MAX)) == []


def test_a_tool_that_accepts_none_of_the_named_leaders_is_found():
    message = f"xyz.example.summarise@1 accepts none of the leaders {LEE}, {ANN}."
    assert found(FITS, listing([LEE], [MAX], None), (LEE, ANN)) == [
        ("no_leader", message, "/vertices/1")
    ]


@pytest.mark.parametrize(
    "leaders",
    [([LEE], [MAX], None), ([LEE, MAX], [MAX, ANN], [ANN, LEE]), ([LEE], [LEE], [LEE])],
)
def test_two_leaders_may_be_enough_for_all_tools(leaders):
    assert found(FITS, listing(*leaders)) == []


@pytest.mark.parametrize("leaders", [([LEE], [MAX], [ANN]), ([], None, None)])
def test_tools_that_no_two_leaders_serve_are_found(leaders):
    message = "No two leaders are accepted by all its tools, and an execution names two."
    assert found(FITS, listing(*leaders)) == [("no_leader", message, "")]
