"""The largest step: `lint` accepts exactly what the chain accepts."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from nexus_tools.errors import NexusError, ValidationError
from nexus_tools.registry.workflows.publication import Publication
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import (
    DIALECT,
    MAX_STEP_EFFORT,
    Edge,
    InputPort,
    OutputPort,
    Vertex,
    create_plan,
    find_structure,
    lint,
    read_document,
)
from nexus_tools.workflow.semantics import effort
from tests.workflow.notation import flow
from tests.workflow.random_documents import grown, strewn

ANY = "xyz.example.any@1"
FLOW = ToolFqn.parse("xyz.example.flow@1")
SOURCE = Path(__file__).parents[2] / "move" / "nexus_workflows" / "sources" / "effort.move"
WIDEST = 32
"""The most input ports of a vertex, and the most edges of a variant."""

NEXT_EFFORT = MAX_STEP_EFFORT + 1


def largest(document):
    return max(effort.steps_of(create_plan(document)), key=lambda step: step.effort)


def with_ports(document, names, count):
    """Add `count` entry ports to these vertices; return None if they cannot have as many."""
    plan, more = create_plan(document), {}
    for name in names:
        more[name] = min(count, WIDEST - len(plan.vertices[name].incoming))
        count -= more[name]

    def wider(vertex):
        ports = (f"more{number}" for number in range(more.get(vertex.name, 0)))
        return replace(vertex, entry_ports=(*vertex.entry_ports, *ports))

    return None if count else replace(document, vertices=tuple(map(wider, document.vertices)))


def padded(document, source, count, sources):
    """Connect a variant to `count` more vertices; a port of the first one gets more sources."""
    pads = [Vertex(f"pad{number}", ANY, entry_ports=("given",)) for number in range(count)]
    edges = [Edge(source, InputPort(pad.name, "in")) for pad in pads]
    edges += [
        Edge(OutputPort(source.vertex, "z", f"z{number}"), InputPort("pad0", "given"))
        for number in range(sources)
    ]
    vertices = (*document.vertices, *pads)
    document = replace(document, vertices=vertices, edges=(*document.edges, *edges))
    return document, [pad.name for pad in pads]


def with_effort(build, most):
    """Build a document whose largest step has exactly this effort; a port adds 5."""
    for count in range(WIDEST, 0, -1):
        for sources in range(5):
            document, names = build(count, sources)
            rest = most - largest(document).effort
            if rest >= 0 and rest % 5 == 0:
                document = with_ports(document, names, rest // 5)
                if document is not None and largest(document).effort == most:
                    return document
    raise AssertionError(f"no document has {most}")


def written(*lines):
    document, _ = read_document(json.dumps(flow(*lines, dialect=DIALECT)))
    return document


def heads(region):
    """Return a region with eight head vertices, with which iterations start."""
    for number in range(8):
        yield f"r{region}h{number}.ok.out -> r{region}join.i{number}"
    yield f"r{region}join.ok.out collect r{region}after.list"


def any_step(seed):
    """Return a random document in which a variant has additional edges."""
    chance = random.Random(seed)
    documents = (make(chance.randrange(10**6)) for _ in range(100) for make in (grown, strewn))
    base = next(document for document in documents if not find_structure(document).problems)
    steps = [step for step in effort.steps_of(create_plan(base)) if step.region is None]
    step = chance.choice(steps)

    def build(count, sources):
        return padded(base, step.edges[0].source, min(count, WIDEST - len(step.edges)), sources)

    return build


def regions():
    """Return a variant that opens three regions."""
    names = [f"r{region}h{number}" for region in range(3) for number in range(8)]
    base = written(
        "> one.a",
        *(f"one.ok.l{name[1]} for_each {name}.item" for name in names),
        *(line for region in range(3) for line in heads(region)),
    )
    assert {len(block.cursors) for block in create_plan(base).blocks} == {8}

    def build(count, sources):
        document, pads = padded(base, OutputPort("one", "ok", "p"), min(count, 8), sources)
        return document, [*names, *pads]

    return build


def loop():
    """Return a variant that opens a loop with many first vertices and a region."""
    names = [f"s{number}" for number in range(28)]
    base = written(
        *("> one.a", "one.ok.p static s0.kept", "s0.again = 1"),
        *(f"s{number}.ok.p -> s{number + 1}.x" for number in range(27)),
        *(f"s{number}.x = 1" for number in range(1, 28)),
        *("one.ok.list for_each h.item", "one.ok.q -> h.y", "s0.other.p -> h.y"),
        *("h.ok.p collect s1.list", "s1.list = 1"),
        *("s27.ok.p do_while s0.again", "s27.done.p break after.x"),
    )
    starts = max((block.starts for block in create_plan(base).blocks), key=len)
    assert len(starts) == 29
    assert any(isinstance(start, int) for start in starts)

    def build(count, sources):
        document, pads = padded(base, OutputPort("one", "ok", "p"), min(count, 12), sources)
        return document, [*names, *pads]

    return build


def gathering():
    """Return a region that opens four other regions when it closes."""
    names = [f"r{region}h{number}" for region in range(4) for number in range(8)]

    def build(count, _sources):
        document = written(
            *("> one.a", "one.ok.list for_each a.item"),
            *(f"a.ok.out -> e{region}.x" for region in range(4)),
            *(f"e{region}.ok.out collect r{region}h0.gathered" for region in range(4)),
            *(f"one.v{name[1]}.list for_each {name}.item" for name in names),
            *(line for region in range(4) for line in heads(region)),
            *(f"e0.other.out collect plain{number}.x" for number in range(min(count, 20))),
        )
        assert largest(document).region is not None
        return document, names

    return build


BUILDS = {
    **{f"random {seed}": lambda seed=seed: any_step(seed) for seed in range(16)},
    "regions": regions,
    "loop": loop,
    "gathering": gathering,
}


@pytest.mark.parametrize("kind", BUILDS)
async def test_chain_and_lint_agree_on_the_largest_step(registry, define, kind, publish_plan):
    await registry.register(define(ANY))
    build = BUILDS[kind]()
    fits, exceeds = with_effort(build, MAX_STEP_EFFORT), with_effort(build, NEXT_EFFORT)
    assert rules(fits) == []
    await publish_plan(Publication.of(fits, FLOW, ""))
    assert set(rules(exceeds)) == {"step_too_large"}
    with pytest.raises(NexusError) as refused:
        await publish_plan(Publication.of(exceeds, ToolFqn.parse("xyz.example.more@1"), ""))
    assert refused.value.details["function"] == "check_effort"
    assert refused.value.code == "step_too_large"


def rules(document):
    return [violation.rule for violation in lint(document) if violation.rule == "step_too_large"]


@pytest.mark.usefixtures("added")
async def test_publish_rejects_large_step_before_sending(workflows, owner):
    build = BUILDS["regions"]()
    before = await owner.balance(owner.address)
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(with_effort(build, NEXT_EFFORT), FLOW)
    assert refused.value.code == "workflow_invalid"
    rule_names = {violation["rule"] for violation in refused.value.details["violations"]}
    assert "step_too_large" in rule_names
    assert await owner.balance(owner.address) == before


def test_constants_equal_those_of_the_chain():
    chain = dict(re.findall(r"const (\w+): u64 = ([\d_]+);", SOURCE.read_text()))
    names = {name: name + "_EFFORT" for name in chain}
    private = ("VALUE", "ANSWER_PORT", "START")
    names |= {name: f"_{name}_EFFORT" for name in private}
    assert {name: getattr(effort, names[name]) for name in chain} == {
        name: int(value) for name, value in chain.items()
    }
