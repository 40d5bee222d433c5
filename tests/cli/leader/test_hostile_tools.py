"""Hostile answers of tools in the logs and the metrics of a Leader, and in the log of a server."""

import json

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.hostile_texts import HOSTILE_TEXTS, harmful_characters

TOOLS = '''
"""Tools that answer, or fail, with a text from their input."""

from nexus_tools.tool_server import Variant, tool


class Echo(Variant, name="ok"):
    text: str


@tool("xyz.example.echo@1")
def echo(text: str) -> Echo:
    return Echo(text=text)


@tool("xyz.example.failing@1")
def failing(text: str) -> Echo:
    raise ValueError(text)
'''
ALL_TEXTS = "\n".join(text[:200] for text in HOSTILE_TEXTS.values())


@pytest.fixture
def hostile_server(stranger, operator_leader, tmp_path):
    """Return the server of the tools, whose owner has registered them."""
    file = tmp_path / "hostile_tools.py"
    file.write_text(TOOLS)
    serve = ("tool", "serve", file, "--log-format", "text")
    server = stranger.daemon("failing@1", *serve, BIND_ADDR="127.0.0.1:0")
    url = server.line.strip().rsplit("/", 1)[0].split(" at ")[1]
    terms = ("--price", "0.001", "--leader", operator_leader)
    stranger.json("tool", "register", "--url", url, "--all", *terms, "--yes")
    return server


def test_logs_and_metrics_contain_hostile_texts_without_effects(author, operator, hostile_server):
    run = ("leader", "run", "--allow-loopback", "--log-format", "text", "--health-port", "0")
    leader = operator.daemon("works", *run)
    inputs = ("--input", json.dumps({"text": ALL_TEXTS}), "--yes")
    answer = author.run("tool", "invoke", "xyz.example.echo@1", *inputs)
    failure = author.run("tool", "invoke", "xyz.example.failing@1", *inputs)
    assert (answer.code, failure.code) == (0, 1)
    metrics = httpx.get(f"{leader.line.split('health=')[1].split()[0]}/metrics").text
    tools = {
        sample.labels["tool"]
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if "tool" in sample.labels
    }
    assert tools >= {"xyz.example.echo@1", "xyz.example.failing@1"}
    logs = [ended.stderr for ended in (leader.end(), hostile_server.end())]
    assert "xyz.example.failing@1" in logs[0]
    assert "ValueError: <script>" in logs[1]
    for text in (metrics, *logs, answer.stdout, answer.stderr, failure.stdout, failure.stderr):
        assert harmful_characters(text) == set()
        assert not any(line.startswith("javascript") for line in text.splitlines())
