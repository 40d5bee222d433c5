"""Tests of the workflow in `count.json`."""
# ruff: noqa: ANN001, ANN201, D103 - as in our own tests

from pathlib import Path

import pytest

from nexus_tools.tool import Answer
from nexus_tools.workflow import Status, StubFunction, read_document, simulate

COUNT = Path(__file__).with_name("count.json")


def split(ports):
    return Answer("ok", {"lines": ports["text"].splitlines()})


def count(ports):
    return Answer("ok", {"total": len(ports["text"].split())})


def add_up(ports):
    return Answer("ok", {"sum": sum(ports["numbers"])})


@pytest.mark.anyio
async def test_workflow_counts_the_words_of_all_lines():
    document, _ = read_document(COUNT.read_bytes())
    tools = {"split": split, "count": count, "sum": add_up}
    stubs = {name: StubFunction(function) for name, function in tools.items()}
    simulation = await simulate(document, {"text": "to be\nor not to be"}, stubs)
    assert simulation.status is Status.COMPLETED
    assert [result.value for result in simulation.results] == [6]
    runs = [str(call.run) for call in simulation.calls]
    assert runs == ["split", "count[0]", "count[1]", "sum"]
