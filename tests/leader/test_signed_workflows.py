"""Executions whose tools sign: the chain assembles the signed inputs."""

import json

import pytest

from nexus_tools.registry import Executions
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Vertex,
)

pytestmark = pytest.mark.anyio

SPLIT, COUNT, SUM = (f"xyz.example.signed.{name}@1" for name in ("split", "count", "sum"))


class Words(Variant, name="ok"):
    words: list[str]


class Number(Variant, name="ok"):
    number: int


@tool(SPLIT)
async def split(text: str) -> Words:
    """Splits a text into words."""
    return Words(words=text.split())


@tool(COUNT)
async def count(word: str, more: int) -> Number:
    """Counts letters, and more."""
    return Number(number=len(word) + more)


@tool(SUM)
async def total(numbers: list[int], words: list[str]) -> Number:
    """Adds up numbers."""
    return Number(number=sum(numbers) + len(words))


def edge(source, target, kind=EdgeKind.NORMAL):
    name, variant, port = source.split(".")
    return Edge(OutputPort(name, variant, port), InputPort(*target.split(".")), kind)


FLOW = Document(
    (
        Vertex("split", SPLIT, entry_ports=("text",)),
        Vertex("count", COUNT),
        Vertex("sum", SUM),
    ),
    (
        edge("split.ok.words", "count.word", EdgeKind.FOR_EACH),
        edge("count.ok.number", "sum.numbers", EdgeKind.COLLECT),
        edge("split.ok.words", "sum.words"),
    ),
    defaults=(Default(InputPort("count", "more"), 10),),
    dialect=DIALECT,
)


async def test_signed_answers_to_values_of_every_kind_are_settled(world, signing):
    """An entry value, a default, an element, a gathered list, and a list by reference."""
    async with signing.serving(split, count, total):
        workflow = await world.publish(FLOW)
        async with world.running(signing.leader, signing_key=signing.key_file):
            execution = await world.begin(workflow, {"split": {"text": "to be or not"}})
            ended = await world.ended(execution)
    state = await Executions(world.client, world.deployment).state(execution)
    assert ended.status == "completed", state.failures
    # 2 + 2 + 2 + 3 letters, 10 more for each of 4 words, and 4 words.
    assert {str(result.source): result.value for result in state.results} == {"sum.ok.number": 53}


async def test_detail_with_quotes_is_the_same_on_chain_and_off_chain(
    world, signing, serve_bytes, respond
):
    """A failure contains the tool's text; its handler must be settled with any text."""
    said = 'it has "1" \\ 2 > 1 KB\x7f'
    problem = json.dumps({"code": "output_too_large", "detail": said}).encode()
    broken = await serve_bytes(respond(422, problem))
    await world.register_tool(split.definition(broken.url))
    workflow_document = Document(
        (Vertex("split", SPLIT, entry_ports=("text",)), Vertex("count", COUNT)),
        (edge("split._err_eval.detail", "count.word"),),
        defaults=(Default(InputPort("count", "more"), 0),),
        dialect=DIALECT,
    )
    async with signing.serving(count):
        workflow = await world.publish(workflow_document)
        leader, key_file = signing.leader, signing.key_file
        async with world.running(leader, signing_key=key_file, check_meta=False):
            ended = await world.ended(await world.begin(workflow, {"split": {"text": "a"}}))
    state = await Executions(world.client, world.deployment).state(ended.execution)
    assert ended.status == "completed", state.failures
    [result] = state.results
    assert result.value == len(f"the tool's answer is too large: {said}")
