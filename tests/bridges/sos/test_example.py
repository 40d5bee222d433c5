"""The example in the documentation of the bridge."""

from pathlib import Path

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.sos import SosBridge

EXAMPLE = Path(__file__).parents[3] / "examples" / "bridges" / "sos"


@pytest.fixture
async def tools(host):
    found = await SosBridge().discover(EXAMPLE, host, Naming("org.example.sos"))
    assert not found.rejected
    return {str(tool.fqn): tool for tool in found.tools}


async def test_functions_and_the_action_are_tools(tools):
    assert set(tools) == {
        "org.example.sos.text.count_words@1",
        "org.example.sos.text.most_frequent@1",
        "org.example.sos.text.remember@1",
        "org.example.sos.reading.summary@1",
    }


async def test_function_counts_words(tools):
    outcome = await tools["org.example.sos.text.count_words@1"].invoke({"text": "A a b"})
    assert outcome.ports["result"] == {"counts": {"a": 2, "b": 1}, "total": 3}


async def test_action_passes_results_on(tools):
    outcome = await tools["org.example.sos.reading.summary@1"].invoke({})
    assert outcome.ports["results"]["pick"] == {"word": "the"}
    assert outcome.ports["context"]["namespace"] == {
        "text": "the tool and the wire and the log",
        "favourite": "the",
        "words": ["the"],
    }
