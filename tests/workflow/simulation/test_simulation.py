"""Workflows with stubs, each small enough to determine its outcome by hand."""

import asyncio
import json
import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.leader import MAX_OUTCOME_BYTES
from nexus_tools.tool import ASK, Answer, Failure, FailureReason
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    Output,
    OutputPort,
    PostFailureAction,
    Status,
    StepCosts,
    Stub,
    StubbedOutcome,
    StubFunction,
    Vertex,
    find_structure,
    lint,
    read_document,
    read_stubs,
    simulate,
)
from nexus_tools.workflow.simulation import tool_calls
from tests.workflow.random_documents import Grown

EXAMPLES = Path(__file__).parents[3] / "examples" / "workflows"


def example(name):
    document, warnings = read_document((EXAMPLES / f"{name}.json").read_bytes())
    assert [*warnings, *lint(document, strict=True)] == []
    return document, read_stubs((EXAMPLES / f"{name}.stubs.json").read_bytes())


def vertex(name, *entries, **more):
    return Vertex(name, f"xyz.example.{name}@1", entry_ports=entries, **more)


def edge(source, target, kind=EdgeKind.NORMAL):
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)


def stub_answer(variant, duration_ms=1_000, **ports):
    return Stub((StubbedOutcome(Answer(variant, ports), duration_ms),))


FAILS = Stub((StubbedOutcome(Failure(FailureReason.UNREACHABLE, "no route to host")),))
ECHO = StubFunction(lambda ports: Answer("ok", dict(ports)))


async def values(*arguments, **more):
    found = await simulate(*arguments, **more)
    return {str(each.source): each.value for each in found.results}


# --- The examples


@pytest.mark.anyio
async def test_count_example_adds_the_words_of_all_lines():
    document, stubs = example("count")
    found = await simulate(document, {"text": "…"}, stubs)
    [result] = found.results
    assert (str(result.source), result.value) == ("sum.ok.sum", 10)
    assert found.status is Status.COMPLETED_WITH_FAILURES
    assert list(found.reasons()) == ["count[1] failed, input_invalid: an empty line"]
    times = {str(call.run): (call.started_ms, call.ended_ms) for call in found.calls}
    assert times == {
        "split": (0, 1_000),
        "count[0]": (1_000, 1_900),
        "count[1]": (1_000, 2_000),
        "count[2]": (1_000, 1_300),
        "sum": (2_000, 3_000),
    }
    assert found.calls[-1].inputs == {"numbers": [6, 4]}


@pytest.mark.anyio
async def test_write_example_loops_until_the_text_is_good_and_retries_publishing():
    document, stubs = example("write")
    found = await simulate(document, {"topic": "tides"}, stubs)
    [result] = found.results
    assert (result.name, result.value) == ("url", "https://example.com/tides")
    assert found.status is Status.COMPLETED
    assert [(str(call.run), call.attempt) for call in found.calls] == [
        ("plan", 1),
        ("write[0]", 1),
        ("judge[0]", 1),
        ("write[1]", 1),
        ("judge[1]", 1),
        ("publish", 1),
        ("publish", 2),
        ("publish", 3),
    ]
    # Five calls of a second, then two attempts of 5 s, a minute behind each, and one of 1 s.
    assert found.time_ms == 5_000 + 2 * (5_000 + 60_000) + 1_000


@pytest.mark.parametrize("name", ["count", "write"])
@pytest.mark.anyio
async def test_simulation_with_stubs_is_deterministic(name):
    document, stubs = example(name)
    inputs = {"text": "…"} if name == "count" else {"topic": "tides"}
    assert await simulate(document, inputs, stubs) == await simulate(document, inputs, stubs)


@pytest.mark.parametrize("name", ["count", "write"])
@pytest.mark.anyio
async def test_simulation_without_stubs_cycles_through_generated_variants(name):
    document, _ = example(name)
    inputs = {"text": "…"} if name == "count" else {"topic": "tides"}
    found = await simulate(document, inputs)
    assert found.status is Status.COMPLETED
    assert sorted(found.generated) == sorted(each.name for each in document.vertices)
    assert [each.value for each in found.results] == [
        "<sum.ok.sum>" if name == "count" else "<publish.ok.url>"
    ]


# --- Values


@pytest.mark.anyio
async def test_tools_receive_inputs_defaults_and_answers():
    document = Document(
        (vertex("a", "x"), vertex("b")),
        (edge("a.ok.x", "b.x"),),
        (Default(InputPort("b", "y"), [1, 2]),),
    )
    found = await values(document, {"x": {"n": 1}}, {"a": ECHO, "b": ECHO})
    assert found == {"b.ok.x": {"n": 1}, "b.ok.y": [1, 2]}


@pytest.mark.anyio
async def test_order_only_port_is_not_passed_to_the_tool():
    document = Document(
        (vertex("a", "x"), vertex("b", "z")),
        (edge("a.ok.x", "b._after"),),
        dialect="nexus_tools/1",
    )
    found = await simulate(document, {"x": 1, "z": 2}, {"a": ECHO, "b": ECHO})
    assert [(call.started_ms, dict(call.inputs)) for call in found.calls] == [
        (0, {"x": 1}),
        (1_000, {"z": 2}),
    ]


@pytest.mark.anyio
async def test_handled_failure_is_a_value():
    document = Document(
        (vertex("a", "x"), vertex("b")),
        (edge("a._err_eval.reason", "b.why"), edge("a._err_eval.detail", "b.more")),
    )
    found = await simulate(document, {"x": 1}, {"a": FAILS, "b": ECHO})
    assert found.status is Status.COMPLETED
    assert found.calls[-1].inputs == {"why": "unreachable", "more": "no route to host"}


@pytest.mark.anyio
async def test_vertex_stub_has_precedence_over_the_tool_stub():
    document = Document(
        (Vertex("a", "xyz.example.x@1", entry_ports=("x",)), Vertex("b", "xyz.example.x@1")),
        (edge("a.ok.x", "b.x"),),
    )
    stubs = {"xyz.example.x@1": stub_answer("ok", x="tool"), "b": stub_answer("ok", x="vertex")}
    assert await values(document, {"x": 1}, stubs) == {"b.ok.x": "vertex"}


# --- Time


def fan(count, **more):
    """A list of numbers, doubled one by one."""
    document = Document(
        (vertex("a", "x"), vertex("b", **more), vertex("c")),
        (edge("a.ok.x", "b.x", EdgeKind.FOR_EACH), edge("b.ok.x", "c.x", EdgeKind.COLLECT)),
        outputs=(Output(OutputPort("c", "ok", "x")),),
    )
    return document, {"x": list(range(count))}


@pytest.mark.anyio
async def test_iterations_run_concurrently():
    document, inputs = fan(32)
    found = await simulate(document, inputs, {"a": ECHO, "b": ECHO, "c": ECHO})
    assert found.time_ms == 3_000
    assert found.results[0].value == list(range(32))


@pytest.mark.anyio
async def test_parallel_limits_concurrent_iterations():
    document, inputs = fan(5, parallel=2)
    found = await simulate(document, inputs, {"a": ECHO, "b": ECHO, "c": ECHO})
    assert [call.started_ms for call in found.calls if call.run.vertex == "b"] == [
        1_000,
        1_000,
        2_000,
        2_000,
        3_000,
    ]


def narrow():
    """A list whose elements are taken all at once, and then one by one."""
    return Document(
        (vertex("a", "x"), vertex("b"), vertex("c", parallel=1)),
        (edge("a.ok.x", "b.x", EdgeKind.FOR_EACH), edge("b.ok.x", "c.x")),
    )


@pytest.mark.anyio
async def test_parallel_limits_a_vertex_within_a_region():
    tools = {"a": ECHO, "b": ECHO, "c": ECHO}
    found = await simulate(narrow(), {"x": [0, 1, 2]}, tools)
    assert [call.started_ms for call in found.calls if call.run.vertex == "c"] == [
        2_000,
        3_000,
        4_000,
    ]


@pytest.mark.anyio
async def test_queued_runs_are_not_called_after_the_end():
    called = []

    def fail(given):
        called.append(given)
        return Failure(FailureReason.UNREACHABLE, "no route to host")

    tools = {"a": ECHO, "b": ECHO, "c": StubFunction(fail)}
    found = await simulate(narrow(), {"x": [0, 1, 2]}, tools)
    assert found.status is Status.TERMINATED
    assert called == [{"x": 0}]


@pytest.mark.anyio
async def test_slow_run_does_not_block_faster_runs():
    document, inputs = fan(4, parallel=2)
    b = Stub(
        (
            StubbedOutcome(Answer("ok", {"x": 0}), 5_000, {"x": 0}),
            StubbedOutcome(Answer("ok", {"x": 1}), 1_000),
        )
    )
    found = await simulate(document, inputs, {"a": ECHO, "b": b, "c": ECHO})
    assert found.time_ms == 1_000 + 5_000 + 1_000


# --- Ends


@pytest.mark.anyio
async def test_unhandled_failure_terminates_the_execution_with_a_reason():
    document = Document(
        (vertex("a", "x", attempts=2), vertex("b"), vertex("c", "z"), vertex("d")),
        (edge("a.ok.x", "b.x"), edge("c.ok.z", "d.z")),
    )
    tools = {"a": FAILS, "c": stub_answer("ok", 5_000, z=1)}
    found = await simulate(document, {"x": 1, "z": 2}, tools)
    assert found.status is Status.TERMINATED
    reasons = ["a failed after 2 attempts, unreachable: no route to host"]
    assert list(found.reasons()) == reasons
    # A pending call runs to its end, but delivers nothing.
    assert [str(call.run) for call in found.calls] == ["a", "a", "c"]


@pytest.mark.anyio
async def test_continue_action_ends_only_the_failed_path():
    document = Document(
        (vertex("a", "x"), vertex("b", "y"), vertex("c")),
        (edge("a.ok.x", "c.x"), edge("b.ok.y", "c.y")),
        post_failure_action=PostFailureAction.CONTINUE,
    )
    found = await simulate(document, {"x": 1, "y": 2}, {"a": FAILS, "b": ECHO})
    assert found.status is Status.COMPLETED_WITH_FAILURES
    assert list(found.reasons()) == [
        "a failed, unreachable: no route to host",
        "c did not start: c.x received no value",
    ]


def endless():
    return Document(
        (vertex("a", "x"), vertex("b"), vertex("c")),
        (
            edge("a.ok.x", "b.x"),
            edge("b.again.x", "b.x", EdgeKind.DO_WHILE),
            edge("b.enough.x", "c.x", EdgeKind.BREAK),
        ),
    )


@pytest.mark.anyio
async def test_endless_loop_is_stopped():
    tools = {"a": ECHO, "b": stub_answer("again", x=1)}
    found = await simulate(endless(), {"x": 1}, tools)
    assert len(found.calls) == 1_000
    assert found.status is Status.CANCELLED
    assert list(found.reasons()) == ["the limit of 1000 runs was reached"]


@pytest.mark.anyio
async def test_simulation_may_end_with_its_last_allowed_step():
    tools = {"a": ECHO, "b": stub_answer("enough", x=1), "c": ECHO}
    assert (await simulate(endless(), {"x": 1}, tools, max_steps=3)).status is Status.COMPLETED
    assert (await simulate(endless(), {"x": 1}, tools, max_steps=2)).status is Status.CANCELLED


@pytest.mark.anyio
async def test_simulation_can_be_cancelled_even_with_instant_stubs():
    tools = {"a": stub_answer("ok", x=1), "b": stub_answer("again", x=1)}
    running = asyncio.create_task(simulate(endless(), {"x": 1}, tools, max_steps=10**9))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.anyio
async def test_long_list_costs_at_most_the_allowed_steps():
    document, inputs = fan(15_000)
    found = await simulate(
        document, inputs, {"a": stub_answer("ok", **inputs), "b": ECHO}, max_steps=10
    )
    assert len(found.calls) == 10


@pytest.mark.anyio
async def test_deadline_ends_the_simulation():
    tools = {"a": ECHO, "b": stub_answer("again", x=1)}
    found = await simulate(endless(), {"x": 1}, tools, deadline_ms=3_500)
    assert found.status is Status.TIMED_OUT
    assert list(found.reasons()) == ["the deadline passed after 3 s 500 ms"]
    assert found.time_ms == 4_000  # the end of the call that was pending


@pytest.mark.anyio
async def test_deadline_after_the_end_changes_nothing():
    document = Document((vertex("a", "x"), vertex("b", "y"), vertex("c")), (edge("a.ok.x", "c.x"),))
    tools = {"a": FAILS, "b": stub_answer("ok", 5_000)}
    found = await simulate(document, {"x": 1, "y": 2}, tools, deadline_ms=3_000)
    assert found.status is Status.TERMINATED
    assert (found.stop_reason, found.time_ms) == ("", 5_000)


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ({"a": stub_answer("ok", x=1)}, "a failed, not_a_list: 'a.ok.x' is not a list"),
        ({"a": stub_answer("ok", y=1)}, "a failed, port_missing: 'a.ok.x' is missing"),
    ],
)
@pytest.mark.anyio
async def test_answer_incompatible_with_the_workflow_is_a_failure(tools, reason):
    document, inputs = fan(1)
    assert list((await simulate(document, inputs, tools)).reasons()) == [reason]


@pytest.mark.anyio
async def test_exhausted_stub_error_names_the_run():
    document, inputs = fan(2)
    b = Stub((StubbedOutcome(Answer("ok", {"x": 0}), when={"x": 0}),))
    with pytest.raises(ValidationError, match=r'b\[1\].*"x":1') as refused:
        await simulate(document, inputs, {"a": ECHO, "b": b})
    assert refused.value.code == "stub_exhausted"


@pytest.mark.anyio
async def test_missing_input_is_rejected():
    document, _ = fan(2)
    with pytest.raises(UsageError) as refused:
        await simulate(document, {})
    assert refused.value.code == "input_missing"


@pytest.mark.anyio
async def test_invalid_document_is_rejected():
    document = Document((vertex("a", "x"),), (edge("a.ok.x", "b.x"),))
    with pytest.raises(ValidationError) as refused:
        await simulate(document, {"x": 1})
    assert refused.value.code == "workflow_invalid"


# --- Definitions


@dataclass
class Schemas:
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


def ports(**types):
    properties = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": properties, "required": list(types)}


B = Schemas(
    ports(x="integer"),
    {"oneOf": [{**ports(), "properties": {"ok": ports(x="integer")}, "required": ["ok"]}]},
)


@pytest.mark.parametrize(
    ("came", "answer", "reason"),
    [
        ("text", stub_answer("ok", x=1), FailureReason.INPUT_INVALID),
        (1, stub_answer("ok", x="text"), FailureReason.OUTPUT_INVALID),
        (1, stub_answer("other", x=1), FailureReason.OUTPUT_INVALID),
    ],
)
@pytest.mark.anyio
async def test_value_that_violates_a_definition_is_a_failure(came, answer, reason):
    document = Document((vertex("a", "x"), vertex("b")), (edge("a.ok.x", "b.x"),))
    tools = {"a": stub_answer("ok", x=came), "b": answer}
    found = await simulate(document, {"x": 1}, tools, definitions={"xyz.example.b@1": B})
    assert [each.reason for each in found.failures] == [reason]


@pytest.mark.anyio
async def test_invalid_input_is_rejected_even_if_no_run_uses_it():
    document = Document(
        (
            vertex("a", "x"),
            vertex("b", "x"),
            Vertex("ask", ASK, entry_ports=("answerer", "question")),
        ),
        (edge("a.other.y", "b._after"), edge("a.other.y", "ask._after")),
        dialect=DIALECT,
    )
    given = {"a.x": 1, "b.x": "text", "answerer": "me", "question": "Well?"}
    with pytest.raises(ValidationError) as caught:
        await simulate(document, given, definitions={"xyz.example.b@1": B})
    assert caught.value.code == "input_invalid"
    assert [each["input"] for each in caught.value.details["failures"]] == ["b.x", "answerer"]


@pytest.mark.anyio
async def test_generated_answer_follows_a_known_definition():
    document = Document((vertex("b", "x"),), (), outputs=(Output(OutputPort("b", "ok", "x")),))
    found = await values(document, {"x": 1}, definitions={"xyz.example.b@1": B})
    assert found == {"b.ok.x": 1}


# --- Real tools


@pytest.mark.anyio
async def test_simulation_calls_real_tools():
    async def double(ports):
        await asyncio.sleep(0)
        return Answer("ok", {"x": ports["x"] * 2})

    document, inputs = fan(3)
    tools = {"a": ECHO, "xyz.example.b@1": double, "c": lambda ports: Answer("ok", dict(ports))}
    assert await values(document, inputs, tools) == {"c.ok.x": [0, 2, 4]}


@pytest.mark.anyio
async def test_blocked_tool_times_out():
    hangs = threading.Event()
    document = Document((vertex("a", "x"),), ())
    found = await simulate(document, {"x": 1}, {"a": lambda _: hangs.wait()}, tool_timeout_ms=20)
    hangs.set()
    assert [each.reason for each in found.failures] == ["timed_out"]


@pytest.mark.anyio
async def test_oversized_answer_is_a_failure():
    assert tool_calls.MAX_OUTCOME_BYTES == MAX_OUTCOME_BYTES
    document = Document((vertex("a", "x"),), ())
    found = await simulate(document, {"x": 1}, {"a": stub_answer("ok", text="x" * 102_400)})
    assert [each.reason for each in found.failures] == ["output_too_large"]


# --- Reported results


@pytest.mark.anyio
async def test_cost_is_the_sum_over_all_calls():
    document = Document((vertex("a", "x", attempts=2),), ())
    stub = Stub((StubbedOutcome(FAILS.outcomes[0].outcome, times=1), *stub_answer("ok").outcomes))
    costs = StepCosts({"xyz.example.a@1": 1_000}, 10, 100, 0, 0)
    found = await simulate(document, {"x": 1}, {"a": stub}, costs=costs)
    assert [call.cost_mist for call in found.calls] == [10, 1_100]
    assert found.cost_mist == 1_110


@pytest.mark.anyio
async def test_simulation_result_is_json():
    document, stubs = example("count")
    found = (await simulate(document, {"text": "…"}, stubs)).as_json()
    assert json.loads(json.dumps(found)) == found
    assert found["status"] == "completed_with_failures"
    assert found["results"] == [
        {
            "name": None,
            "vertex": "sum",
            "output_variant": "ok",
            "output_port": "sum",
            "path": [],
            "value": 10,
        }
    ]
    [failed] = [call for call in found["calls"] if "failure" in call]
    assert failed["path"] == [1]
    assert failed["detail"] == "an empty line"
    assert found["calls"][0]["answer"] == {
        "ok": {"lines": ["to be or not to be", "", "that is the question"]}
    }


@pytest.mark.anyio
async def test_simulation_records_the_events_of_the_execution():
    document = Document((vertex("a", "x"),), ())
    found = await simulate(document, {"x": 1}, {"a": ECHO})
    names = [(at_ms, type(event).__name__) for at_ms, event in found.events]
    assert names == [(0, "GroupStarted"), (0, "RunRequested"), (1_000, "RunClosed")]


@pytest.mark.parametrize("name", ["count", "write"])
@pytest.mark.anyio
async def test_recorded_stubs_reproduce_the_simulation(name):
    document, stubs = example(name)
    inputs = {"text": "…"} if name == "count" else {"topic": "tides"}
    found = await simulate(document, inputs, stubs)
    recorded = read_stubs(json.dumps(found.stubs()))
    assert await simulate(document, inputs, recorded) == found


# --- Any workflow


SEEDS = [seed for seed in range(150) if not find_structure(Grown(seed).document()).problems]


def chance_of(*parts):
    return random.Random(json.dumps(parts, sort_keys=True))


def random_stubs(document, seed, duration_ms):
    """Stubs whose outcomes follow from their inputs, which are others in each round."""
    lists = {edge.source for edge in document.edges if edge.kind is EdgeKind.FOR_EACH}
    ends = {edge.source.vertex for edge in document.edges if edge.kind is EdgeKind.BREAK}

    def stub(name):
        def outcome(given):
            chance = chance_of(seed, name, given)
            if chance.random() < 0.03:
                return Failure(FailureReason.UNREACHABLE, "no route to host")
            variant = "done" if name in ends and chance.random() < 0.6 else chance.choice("aaab")
            length, mark = chance.randint(0, 3), chance.randint(0, 10**9)
            values = {
                port: [f"{mark}.{each}" for each in range(length)]
                if OutputPort(name, variant, port) in lists
                else f"{mark}.{port}"
                for port in "pq"
            }
            return Answer(variant, values)

        return StubFunction(outcome, duration_ms(name))

    return {each.name: stub(each.name) for each in document.vertices}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.anyio
async def test_runs_and_inputs_do_not_depend_on_durations(seed):
    document = Grown(seed).document()
    inputs = {f"{each.name}.e": 1 for each in document.vertices if each.entry_ports}
    found = []
    for duration_ms in (
        lambda _: 1_000,
        lambda name: chance_of(name).randint(0, 5_000),
        lambda name: chance_of(name, "again").choice((0, 1, 60_000)),
    ):
        stubs = random_stubs(document, seed, duration_ms)
        done = await simulate(document, inputs, stubs, max_steps=3_000)
        raced = any(failure.reason == "input_conflict" for failure in done.failures)
        found.append((raced or done.stop_reason, sorted(map(call_key, done.calls))))
    if not any(unclear for unclear, _ in found):
        assert found[0] == found[1] == found[2]


def call_key(call):
    return str(call.run), call.attempt, json.dumps(call.inputs, sort_keys=True)


@pytest.mark.parametrize("seed", SEEDS[:50])
@pytest.mark.anyio
async def test_random_workflows_run_without_stubs(seed):
    document = Grown(seed).document()
    inputs = {f"{each.name}.e": 1 for each in document.vertices if each.entry_ports}
    done = await simulate(document, inputs)
    assert not {failure.reason for failure in done.failures} - {"input_conflict"}
    assert json.loads(json.dumps(done.as_json()))["status"] == done.status.value
