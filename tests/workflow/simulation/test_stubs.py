import json
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.tool import Answer, Failure, FailureReason
from nexus_tools.workflow import ToolPorts, read_document
from nexus_tools.workflow.simulation.stubs import Stub, StubbedOutcome, StubCalls, read_stubs
from tests.workflow.notation import flow


def stub(document):
    return read_stubs(json.dumps({"a": document}))["a"]


def outcomes(found, *inputs):
    calls = StubCalls(found)
    taken = [calls.take(ports) for ports in inputs]
    return [each and each.outcome for each in taken]


def answer(text):
    return Answer("ok", {"text": text})


def test_single_answer_is_repeated():
    assert outcomes(stub({"ok": {"text": "x"}}), {}, {}, {}) == [answer("x")] * 3


def test_answers_of_a_list_are_used_in_turn_and_the_last_is_repeated():
    found = stub([{"ok": {"text": "x"}}, {"ok": {"text": "y"}}])
    assert outcomes(found, {}, {}, {}) == [answer("x"), answer("y"), answer("y")]


def test_outcome_may_be_limited_to_some_inputs():
    found = stub([{"when": {"n": 1}, "give": {"one": {}}}, {"give": {"other": {}}}])
    given = outcomes(found, {"n": 2}, {"n": 1}, {"n": 1, "m": 0}, {"n": True}, {})
    assert [each.variant for each in given] == ["other", "one", "one", "other", "other"]


def test_exhausted_outcome_is_followed_by_the_next():
    document = [{"when": {"n": 1}, "times": 2, "fail": "unreachable"}, {"ok": {"text": "x"}}]
    failure = Failure(FailureReason.UNREACHABLE, "from its stub")
    ports = {"n": 1}
    assert outcomes(stub(document), ports, ports, ports) == [failure, failure, answer("x")]


def test_stub_returns_nothing_for_unmatched_inputs():
    assert outcomes(stub({"when": {"n": 1}, "give": {"ok": {}}}), {"n": 2}) == [None]
    assert outcomes(stub({"give": {"ok": {}}, "times": 1}), {}, {}) == [Answer("ok", {}), None]


def test_cyclic_stub_starts_again():
    found = Stub((StubbedOutcome(answer("x"), times=1), StubbedOutcome(answer("y"), times=1)), True)
    assert outcomes(found, {}, {}, {}) == [answer("x"), answer("y"), answer("x")]


def test_stub_outcome_has_a_duration():
    found = stub([{"give": {"ok": {}}, "duration_ms": 30}, {"ok": {}}])
    assert [each.duration_ms for each in found.outcomes] == [30, 1_000]


def test_variant_may_be_named_like_a_stub_field():
    assert outcomes(stub({"give": {"give": {}}}), {}) == [Answer("give", {})]
    assert outcomes(stub({"when": {"x": 1}}), {}) == [Answer("when", {"x": 1})]


@pytest.mark.parametrize(
    ("document", "pointer", "words"),
    [
        ([], "/a", "at least one outcome"),
        (7, "/a", "expected an object"),
        ({}, "/a", "exactly one member"),
        ({"ok": 7}, "/a/ok", "expected an object"),
        ({"ok": {}, "err": {}}, "/a", "exactly one member"),
        ([{"ok": {}}, {"give": {}}], "/a/1/give", "exactly one member"),
        ({"fail": "tired"}, "/a/fail", "unreachable"),
        ({"fail": ["x"]}, "/a/fail", "expected the reason of a failure"),
        ({"fail": "refused", "detail": 1}, "/a/detail", "expected a string"),
        ({"fail": "refused", "give": {"ok": {}}}, "/a", "both"),
        ({"give": {"ok": {}}, "duration": 1}, "/a/duration", "Did you mean duration_ms?"),
        ({"give": {"ok": {}}, "duration_ms": -1}, "/a/duration_ms", "expected an integer"),
        ({"give": {"ok": {}}, "duration_ms": 1e30}, "/a/duration_ms", "expected an integer"),
        ({"give": {"ok": {}}, "times": True}, "/a/times", "expected an integer"),
        ({"give": {"ok": {}}, "times": 0}, "/a/times", "expected an integer from 1"),
        ({"give": {"ok": {}}, "when": []}, "/a/when", "expected an object"),
    ],
)
def test_invalid_stub_is_rejected_with_its_location(document, pointer, words):
    with pytest.raises(ValidationError) as refused:
        stub(document)
    assert refused.value.code == "stubs_invalid"
    [failure] = refused.value.details["failures"]
    assert failure["pointer"] == pointer
    assert words in failure["message"]


def test_condition_with_an_unknown_port_is_rejected():
    lines = ("> a.text", "a.ok.t -> b.note", "b.size = 1", "a.ok.t -> b._after")
    workflow, _ = read_document(json.dumps(flow(*lines)))
    tool, late = workflow.vertices[0].fqn, [{"ok": {}}, {"give": {"ok": {}}, "when": {"nte": 1}}]
    fitting = {"a": {"text": 1}, "b": {"note": 1, "size": 2}, tool: {"note": 1}, "c": {"x": 1}}
    stubs = {name: {"give": {"ok": {}}, "when": when} for name, when in fitting.items()}
    assert read_stubs(json.dumps(stubs), workflow).keys() == fitting.keys()
    stubs |= {"a": {"give": {"ok": {}}, "when": {"note": 1}}, "b": late}
    with pytest.raises(ValidationError) as refused:
        read_stubs(json.dumps(stubs), workflow)
    assert [(each["pointer"], each["message"]) for each in refused.value.details["failures"]] == [
        ("/a/when/note", "a has no input port 'note'."),
        ("/b/1/when/nte", "b has no input port 'nte'. Did you mean note?"),
    ]


def test_answer_that_a_known_tool_cannot_give_is_rejected():
    class Known:
        input_schema: ClassVar = {"type": "object", "properties": {"text": {"type": "string"}}}
        output_schema: ClassVar = {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "ok": {"type": "object", "properties": {"words": {"type": "integer"}}}
                    },
                    "required": ["ok"],
                }
            ]
        }

    workflow, _ = read_document(json.dumps(flow("> a.text", "a.ok.words >")))
    tools = {workflow.vertices[0].fqn: ToolPorts(Known())}
    read_stubs('{"a": [{"fail": "unreachable"}, {"ok": {"words": 1}}]}', workflow, tools)
    wrong = [{"okk": {}}, {"giv": {"ok": {}}}, {"give": {"ok": {"word": 1}}}]
    with pytest.raises(ValidationError) as refused:
        read_stubs(json.dumps({"a": wrong, "elsewhere": {"okk": {}}}), workflow, tools)
    assert [(each["pointer"], each["message"]) for each in refused.value.details["failures"]] == [
        ("/a/0/okk", "the tool of a has no variant 'okk'. Did you mean ok?"),
        ("/a/1/giv", "the tool of a has no variant 'giv'. Did you mean give?"),
        ("/a/2/give/ok/word", "ok of a has no port 'word'. Did you mean words?"),
    ]


def test_stub_errors_are_all_reported():
    with pytest.raises(ValidationError) as refused:
        read_stubs('{"a": 7, "b": [], "c": {"ok": {}}}')
    assert [each["pointer"] for each in refused.value.details["failures"]] == ["/a", "/b"]


@pytest.mark.parametrize("text", ["[]", "7"])
def test_stubs_must_be_an_object(text):
    with pytest.raises(ValidationError) as refused:
        read_stubs(text)
    assert refused.value.code == "stubs_invalid"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["ok", "give", "fail", "when", "times", "duration_ms", "detail", ""]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_stubs_are_parsed_or_rejected_with_a_reason(document):
    try:
        stubs = read_stubs(json.dumps(document))
    except ValidationError as error:
        if error.code not in ("stubs_invalid", "json_invalid"):
            raise
        return
    for found in stubs.values():
        taken = StubCalls(found).take({})
        assert taken is None or taken.duration_ms >= 0
