import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    EdgeKind,
    PostFailureAction,
    Severity,
    Storage,
    Verifier,
    VertexKind,
    read_document,
)
from tests.workflow.notation import flow, tool

DIALECT = {"dialect": "nexus_tools/1"}


def read(document):
    return read_document(json.dumps(document))[0]


def warnings(document):
    return read_document(json.dumps(document))[1]


def problems(document):
    with pytest.raises(ValidationError) as caught:
        read(document)
    assert caught.value.code == "workflow_invalid"
    return {each["pointer"]: each["message"] for each in caught.value.details["violations"]}


def single_vertex(**fields):
    """A document of one vertex, with these fields."""
    document = flow("> a.x")
    document["vertices"][0] |= fields
    return document


def test_document_is_parsed_into_objects():
    document = read(
        flow("> a.x", "a.ok.sum -> b.x", "b.y = [7]", "b.ok.sum >", post_failure_action="continue")
    )
    [edge] = document.edges
    assert (str(edge.source), str(edge.target), edge.kind) == ("a.ok.sum", "b.x", EdgeKind.NORMAL)
    assert [(each.name, each.entry_ports) for each in document.vertices] == [
        ("a", ("x",)),
        ("b", ()),
    ]
    assert [str(output.source) for output in document.outputs] == ["b.ok.sum"]
    assert document.post_failure_action is PostFailureAction.CONTINUE
    [default] = document.defaults
    assert (str(default.target), default.data, default.storage) == ("b.y", [7], Storage.INLINE)


def default_of(value):
    """A document of one vertex with this default value."""
    return single_vertex() | {
        "default_values": [{"vertex": "a", "input_port": "y", "value": value}]
    }


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"one": {"kind": "data", "data": 1}}, 1),
        ({"one": {"kind": "data", "data": [1, 2]}}, [1, 2]),
        ({"one": {"kind": "data", "data": None}}, None),
        (
            {"many": [{"kind": "data", "data": 1}, {"kind": "data", "data": {"a": []}}]},
            [1, {"a": []}],
        ),
        ({"many": []}, []),
        ({"storage": "inline", "data": 1}, 1),
        ({"storage": "walrus", "data": ["key"]}, ["key"]),
    ],
)
def test_default_value_is_written_in_the_form_in_which_it_was_read(value, data):
    document = read(default_of(value))
    [default] = document.defaults
    assert default.data == data
    assert document.as_json()["default_values"][0]["value"] == value
    assert read(document.as_json()) == document


@pytest.mark.parametrize(
    ("value", "pointer", "message"),
    [
        ({"one": 1}, "/one", "Expected an object."),
        ({"one": {"data": 1}}, "/one", "The field `kind` is missing."),
        ({"one": {"kind": "data"}}, "/one", "The field `data` is missing."),
        (
            {"one": {"kind": "walrus", "data": "k"}},
            "/one/kind",
            "Expected one of data, got 'walrus'.",
        ),
        ({"many": {}}, "/many", "Expected a list."),
        ({"many": [{"kind": "data", "data": 1}, 2]}, "/many/1", "Expected an object."),
        ({"data": 1}, "", "The field `storage` is missing."),
    ],
)
def test_invalid_default_value_is_rejected_with_its_location(value, pointer, message):
    assert problems(default_of(value)) == {f"/default_values/0/value{pointer}": message}


def test_default_group_has_all_vertices_with_entry_ports():
    [group] = read(flow("> a.x", "> b.x", "a.ok.sum -> c.x", "b.ok.sum -> c.y")).groups()
    assert (group.name, group.vertices) == (DEFAULT_GROUP, ("a", "b"))


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("for_each", EdgeKind.FOR_EACH),
        ("ForEach", EdgeKind.FOR_EACH),
        ("DoWhile", EdgeKind.DO_WHILE),
        ("Normal", EdgeKind.NORMAL),
        ({"variant": "collect"}, EdgeKind.COLLECT),
        ({"@variant": "Break"}, EdgeKind.BREAK),
        ({"_variant_name": "Static"}, EdgeKind.STATIC),
    ],
)
def test_edge_kind_has_several_spellings(spelling, kind):
    document = flow("> a.x", "a.ok.sum -> b.x")
    document["edges"][0]["kind"] = spelling
    assert read(document).edges[0].kind is kind


@pytest.mark.parametrize("kind", [{}, {"variant": "normal", "@variant": "normal"}])
def test_edge_kind_object_must_have_one_variant(kind):
    document = flow("> a.x", "a.ok.sum -> b.x")
    document["edges"][0]["kind"] = kind
    assert problems(document) == {
        "/edges/0/kind": 'Expected a string, or an object such as {"variant": "normal"}.'
    }


@pytest.mark.parametrize(
    ("spelling", "action"),
    [
        ("continue", PostFailureAction.CONTINUE),
        ("TransientContinue", PostFailureAction.CONTINUE),
        ("terminate", PostFailureAction.TERMINATE),
        ("Terminate", PostFailureAction.TERMINATE),
        (None, None),
    ],
)
def test_failure_action_has_several_spellings(spelling, action):
    assert (
        read(single_vertex(post_failure_action=spelling)).vertices[0].post_failure_action is action
    )


def test_vertex_may_require_a_registered_key():
    assert (
        read(single_vertex(verifier="registered_key")).vertices[0].verifier
        is Verifier.REGISTERED_KEY
    )


def test_external_verifier_is_rejected():
    assert problems(single_vertex(verifier="external")) == {
        "/vertices/0/verifier": "External verifiers are not supported. `registered_key` "
        "requires a signature."
    }


def test_on_chain_vertex_has_no_verifier():
    on_chain = tool() | {"variant": "on_chain"}
    assert (
        read(single_vertex(kind=on_chain, verifier="none")).vertices[0].kind is VertexKind.ON_CHAIN
    )
    assert problems(single_vertex(kind=on_chain, verifier="registered_key")) == {
        "/vertices/0/verifier": "on-chain vertices cannot configure an off-chain verifier"
    }


def test_structural_errors_are_all_reported():
    document = {
        "vertices": [{"name": 1, "kind": {"variant": "of_chain", "tool_fqn": "add"}}, 7],
        "edges": [{"from": {"vertex": "a", "output_variant": "ok"}, "kind": "foreach"}],
        "default_values": {},
        "outputs": None,
    }
    assert problems(document) == {
        "/vertices/0/name": "Expected a string.",
        "/vertices/0/kind/variant": "Expected one of off_chain, on_chain, got 'of_chain'. Did you "
        "mean off_chain?",
        "/vertices/0/kind/tool_fqn": "'add' is not a valid FQN: it has no version: '@' is missing. "
        "Write an FQN such as xyz.example.math.add@1.",
        "/vertices/1": "Expected an object.",
        "/edges/0": "The field `to` is missing.",
        "/edges/0/from": "The field `output_port` is missing.",
        "/edges/0/kind": "Expected one of normal, for_each, collect, do_while, break, "
        "static, got 'foreach'. Did you mean for_each?",
        "/default_values": "Expected a list.",
    }


def test_error_message_has_the_first_problem_and_the_number_of_others():
    with pytest.raises(ValidationError) as caught:
        read({"vertices": 1, "edges": 2})
    assert caught.value.message == "Expected a list. at /vertices (and 1 more)"


@pytest.mark.parametrize("value", [None, 7, "x", []])
def test_document_must_be_an_object(value):
    assert problems(value) == {"": "Expected an object."}


def test_invalid_json_is_rejected():
    with pytest.raises(ValidationError, match="line 1 column 2") as caught:
        read_document("{")
    assert caught.value.code == "json_invalid"


def test_unknown_field_is_a_warning_with_a_suggestion():
    document = single_vertex(entry_port=[]) | {"default_value": []}
    assert [(each.rule, each.pointer, each.severity) for each in warnings(document)] == [
        ("unknown_field", "/default_value", Severity.WARNING),
        ("unknown_field", "/vertices/0/entry_port", Severity.WARNING),
    ]
    assert warnings(document)[0].message == (
        "The field `default_value` is unknown and has no effect. Did you mean default_values?"
    )


def test_encrypted_field_is_a_warning():
    document = flow("> a.x", "a.ok.sum -> b.x")
    document["edges"][0]["from"]["encrypted"] = True
    [warning] = warnings(document)
    assert warning.pointer == "/edges/0/from/encrypted"
    assert warning.message.endswith("has no effect. The field does not encrypt anything.")


@pytest.mark.parametrize("name", ["attempts", "retry_after_ms", "parallel"])
def test_dialect_field_has_no_effect_outside_the_dialect(name):
    document = single_vertex(**{name: 7})
    [warning] = warnings(document)
    assert warning.message == (
        f'The field `{name}` is unknown and has no effect. It needs `"dialect": "nexus_tools/1"`.'
    )
    assert getattr(read(document).vertices[0], name) != 7
    assert getattr(read(document | DIALECT).vertices[0], name) == 7


def test_inputs_and_output_names_require_the_dialect():
    names = {"inputs": [{"name": "topic", "to": [{"vertex": "a", "input_port": "x"}]}]}
    document = flow("> a.x", "a.ok.sum >", **names)
    document["outputs"][0]["name"] = "sum"
    assert [each.pointer for each in warnings(document)] == ["/inputs", "/outputs/0/name"]
    found = read(document | DIALECT)
    assert [(each.name, [*map(str, each.targets)]) for each in found.inputs] == [("topic", ["a.x"])]
    assert [each.name for each in found.outputs] == ["sum"]


def test_unknown_field_is_an_error_in_the_dialect():
    assert problems(single_vertex(atempts=2) | DIALECT) == {
        "/vertices/0/atempts": "The field `atempts` is unknown and has no effect. Did you mean "
        "attempts?"
    }


def test_unknown_dialect_is_an_error():
    assert problems(single_vertex() | {"dialect": "nexus_tools/2"}) == {
        "/dialect": "Expected one of nexus_tools/1, got 'nexus_tools/2'. Did you "
        "mean nexus_tools/1?"
    }


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("attempts", 1, 100), ("parallel", 1, 1_024), ("retry_after_ms", 0, 7_776_000_000)],
)
def test_read_document_rejects_numbers_out_of_bounds(name, least, most):
    for value in (least, most):
        assert getattr(read(single_vertex(**{name: value}) | DIALECT).vertices[0], name) == value
    for value in (least - 1, most + 1, True, 1.0, "1"):
        assert problems(single_vertex(**{name: value}) | DIALECT) == {
            f"/vertices/0/{name}": f"Expected an integer from {least} to {most}."
        }


def test_canonical_document_omits_defaults():
    document = single_vertex(post_failure_action="Terminate", verifier="none", entry_ports=[])
    document["edges"] = [
        {"from": {"vertex": "a", "output_variant": "ok", "output_port": "sum"}, "kind": "Normal",
         "to": {"vertex": "a", "input_port": "x"}}
    ]  # fmt: skip
    assert read(document).canonical() == (
        b'{"edges":[{"from":{"output_port":"sum","output_variant":"ok","vertex":"a"},'
        b'"to":{"input_port":"x","vertex":"a"}}],'
        b'"vertices":[{"kind":{"tool_fqn":"xyz.example.any@1","variant":"off_chain"},"name":"a",'
        b'"post_failure_action":"terminate"}]}'
    )


def test_digest_is_the_sha_256_of_the_canonical_document():
    # printf '%s' '{"edges":[],"vertices":[]}' | sha256sum
    assert read({"vertices": [], "edges": []}).digest().hex() == (
        "8fb22e43390e221e5c8afe7bf628286b04b869c2543068f3ae2e3b25b87af13c"
    )


def test_equal_documents_have_equal_digests():
    spelled = single_vertex(entry_ports=[{"name": "x"}], verifier=None)
    assert json.dumps(spelled) != json.dumps(single_vertex())
    assert read(spelled).digest() == read(single_vertex()).digest()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
PORTS = st.fixed_dictionaries(
    {"vertex": st.text(max_size=2), "output_variant": st.text(max_size=2), "output_port": JSON}
)
LIKELY = st.fixed_dictionaries(
    {
        "vertices": st.lists(
            st.fixed_dictionaries(
                {"name": st.text(max_size=2), "kind": st.just(tool()) | JSON},
                optional={"entry_ports": JSON, "verifier": JSON, "attempts": JSON, "x": JSON},
            )
        ),
        "edges": st.lists(
            st.fixed_dictionaries({"from": PORTS, "to": PORTS}, optional={"kind": JSON})
        ),
    },
    optional={
        **dict.fromkeys(("default_values", "entry_groups", "outputs", "inputs", "x"), JSON),
        "dialect": st.just("nexus_tools/1") | JSON,
    },
)


@given(JSON | LIKELY)
def test_any_json_is_read_or_refused_in_words(value):
    try:
        document, _ = read_document(json.dumps(value))
    except ValidationError:
        return
    assert read_document(document.canonical()) == (document, [])
