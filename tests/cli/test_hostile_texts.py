"""Texts of attackers in the output of commands: terminals show them without effects.

Story: a user lists the market in a terminal. An author wants to hide a line, to show another
price, or to make the user paste a command. JSON keeps every text exactly.
"""

import json
import re
import sys
from contextlib import aclosing
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from mcp import Client, StdioServerParameters

from nexus_tools.index.schema import DESCRIPTIONS
from nexus_tools.sui.client import Cursor, follow_events
from nexus_tools.workflow import read_document
from tests.cli.conftest import Typist
from tests.cli.hostile_stage import (
    ALL_TEXTS,
    EVENT,
    GROUP,
    LARGE,
    LARGE_TEXT,
    NAMED,
    HostileStage,
    named_document,
)
from tests.export.receivers import problems
from tests.hostile_market import MAX_DETAIL, MAX_NAME, cut
from tests.hostile_texts import HOSTILE_TEXTS, harmful_characters
from tests.workflow.drawing.test_mermaid import GRAMMAR

SVG_TAGS = {"svg", "title", "desc", "style", "g", "rect", "path", "text"}
URL_ATTRIBUTES = {"href", "src", "{http://www.w3.org/1999/xlink}href"}
MAX_ROW = 4_000
"""More characters than a row of a table can have, and fewer than two long texts have."""
FORMATS = ["openai", "openai-responses", "anthropic", "mcp", "gemini", "openapi"]
UNKNOWN = [
    ("tool", "show"),
    ("tool", "outcome"),
    ("tool", "invoke"),
    ("tool", "list", "--owner"),
    ("tool", "list", "--domain"),
    ("workflow", "run"),
    ("workflow", "simulate"),
    ("workflow", "draw"),
    ("leader", "activate", "--leader"),
    ("leader", "list", "--tool"),
    ("question", "answer", "--approve"),
    ("invocation", "delete"),
    ("schedule", "show"),
    ("proof", "show"),
    ("wallet", "show"),
    ("network", "show", "--network"),
    ("localnet", "trace"),
    ("export", "--format", "mcp"),
    ("config", "set"),
    ("tool", "invoke", LARGE, "--yes", "--input"),
]
"""Commands whose next word does not exist, or has the wrong form."""


@pytest.fixture(scope="module")
def stage(chain, publisher, new_home, define):
    """Return a chain with all hostile texts, and the home of the requester."""
    publisher.json("tool", "register", "--builtin", "--yes")
    stage = HostileStage(chain, new_home("reader", publisher))
    stage.build(define, publisher.wallet.signer())
    return stage


@pytest.fixture
def show_text(stage):
    """Return a function that runs a command, and returns its output without harmful characters."""

    def show_text(*arguments):
        result = stage.home.run(*arguments)
        assert result.code == 0, result.stderr
        assert harmful_characters(result.stdout + result.stderr) == set()
        return result.stdout

    return show_text


@pytest.fixture
def show(show_text):
    """Return a function that runs a command twice, and returns its text and its JSON."""
    return lambda *arguments: (show_text(*arguments), json.loads(show_text(*arguments, "--json")))


def row_count(table):
    """Return the number of lines below the heading of a table."""
    lines = [line.strip() for line in table.splitlines()]
    [rule] = [number for number, line in enumerate(lines) if {*line} == {"─"}]
    return len(list(filter(None, lines[rule:]))) - 1


def _is_valid(row):
    """Return whether a listed tool has a hostile text wherever the validator allows it."""
    return row["fqn"].startswith("xyz.example.hostile")


# --- Single objects


def test_tool_show_displays_tools_without_effects(stage, show_text):
    for _, fqn in stage.objects("tools"):
        assert fqn in show_text("tool", "show", fqn, "--no-check-domain")


def test_tool_show_displays_tools_with_invalid_schemas(stage, show):
    for fqn in stage.invalid_fqns:
        text, document = show("tool", "show", fqn, "--no-check-domain")
        assert fqn in text
        assert document["state"] == "active"


def test_outcome_displays_invocations_without_effects(stage, show_text):
    invocations = [*stage.objects("invocations")]
    for (text, answered), (_, failed) in zip(invocations[::2], invocations[1::2], strict=True):
        assert "settled" in show_text("tool", "outcome", answered)
        assert "failed" in show_text("tool", "outcome", failed)
        assert "unreachable" in show_text("tool", "outcome", failed, "--explain")
        if harmful_characters(text):
            document = json.loads(show_text("tool", "outcome", answered, "--json"))
            assert document["ports"] == {"r": text}
            document = json.loads(show_text("tool", "outcome", failed, "--json"))
            assert document["detail"] == cut(text, MAX_DETAIL)


def test_large_outcome_is_exact_in_json(stage, show):
    assert show("tool", "outcome", stage.large_invocation)[1]["ports"] == {"r": LARGE_TEXT}


def test_proof_commands_show_calls_without_effects(stage, show, tmp_path):
    hostile = HOSTILE_TEXTS["terminal codes"]
    answered, _ = (place for text, place in stage.objects("invocations") if text == hostile)
    _, document = show("proof", "show", answered)
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(document))
    show("proof", "verify", file)


def test_workflow_show_displays_workflows_without_effects(stage, show, show_text):
    for _, fqn in stage.objects("workflows"):
        assert fqn in show_text("workflow", "show", fqn)
    _, document = show("workflow", "show", NAMED)
    assert (document["groups"], document["outputs"]) == ([GROUP], [ALL_TEXTS])
    assert document["document"] == named_document().as_json()
    show("workflow", "cost", NAMED)


def test_workflow_show_displays_executions_without_effects(stage, show):
    text, document = show("workflow", "show", stage.execution)
    assert document["runs"][0]["vertex"] == named_document().vertices[0].name
    assert "┃ <script>" in text


def test_schedule_show_displays_event_without_effects(show, stage):
    text, document = show("schedule", "show", stage.schedule)
    assert document["when"].startswith(f"on {EVENT}, ")
    assert "<script>" in text


# --- Events


@pytest.fixture
def replay(monkeypatch):
    """Make commands that watch events show all past events, and then receive Ctrl-C."""

    async def follow_past_events(client, events, after=None, **options):
        newest = Cursor.after_checkpoint(await client.latest_checkpoint()).position
        async with aclosing(
            follow_events(client, events, after or Cursor.beginning(), **options)
        ) as items:
            async for item in items:
                yield item
                if item.cursor.position >= newest:
                    raise KeyboardInterrupt

    monkeypatch.setattr("nexus_tools.sui.client.follow_events", follow_past_events)


@pytest.mark.usefixtures("replay")
def test_tool_watch_prints_one_line_for_each_event_without_effects(stage):
    shown = stage.home.run("tool", "watch")
    documents = stage.home.run("tool", "watch", "--json")
    for result in (shown, documents):
        assert result.code == 130, result.stderr
        assert harmful_characters(result.stdout + result.stderr) == set()
    events = [json.loads(line) for line in documents.stdout.splitlines()]
    assert len(shown.stdout.splitlines()) == len(events)
    descriptions = {event["description"] for event in events if event["event"] == "ToolRegistered"}
    assert descriptions >= {*HOSTILE_TEXTS.values()}


@pytest.mark.usefixtures("replay")
def test_workflow_watch_prints_events_without_effects(stage):
    shown = stage.home.run("workflow", "watch", stage.execution)
    documents = stage.home.run("workflow", "watch", stage.execution, "--json")
    for result in (shown, documents):
        assert result.code == 130, result.stderr
        assert harmful_characters(result.stdout + result.stderr) == set()
    [requested, failed] = shown.stdout.splitlines()
    assert "▸ <script>" in requested
    assert "unreachable: <script>" in failed


def test_workflow_watch_shows_end_without_effects(stage):
    for more in ((), ("--json",)):
        result = stage.home.run("workflow", "watch", stage.ended_execution, *more)
        assert result.code == 1
        assert harmful_characters(result.stdout + result.stderr) == set()
        assert "<script>" in result.stdout + result.stderr


# --- Tables


@pytest.mark.parametrize(
    "command",
    [
        ("tool", "list", "--all"),
        ("leader", "list", "--all"),
        ("workflow", "list", "--all"),
        ("workflow", "executions"),
        ("schedule", "list"),
        ("invocation", "list", "--all", "--closed"),
        ("question", "list", "--others"),
    ],
    ids=" ".join,
)
def test_tables_have_one_short_line_for_each_row(command, show):
    text, rows = show(*command)
    assert row_count(text) == len(rows) > 0
    assert max(map(len, text.splitlines())) <= MAX_ROW


def test_lists_are_exact_in_json(show):
    names = {row["name"] for row in show("leader", "list", "--all")[1]}
    assert names >= {cut(text, MAX_NAME) for text in HOSTILE_TEXTS.values()}
    tools = show("tool", "list", "--all")[1]
    assert {row["description"] for row in tools} >= {*HOSTILE_TEXTS.values()}
    titles = [row["input_schema"]["properties"]["x"]["title"] for row in tools if _is_valid(row)]
    assert {*titles} == {*HOSTILE_TEXTS.values()}
    workflows = show("workflow", "list", "--all")[1]
    assert {row["description"] for row in workflows} >= {
        cut(text, 1_000) for text in HOSTILE_TEXTS.values()
    }
    [question] = show("question", "list")[1]
    assert question["question"] == ALL_TEXTS


# --- Files


def test_metadata_of_index_contains_only_our_texts(stage, tmp_path):
    built = stage.home.json("index", "run", "--once", XDG_DATA_HOME=str(tmp_path))
    path = Path(built["path"])
    metadata = json.loads(path.with_name(f"{path.stem}.metadata.json").read_text())
    [database] = metadata["databases"].values()
    package = stage.deployment.original_id
    assert database == {
        "description": f"Tools, invocations and workflows of the package {package}.",
        "tables": {table: {"description": text} for table, text in DESCRIPTIONS.items()},
    }


# --- Prompts and errors


def test_prompt_shows_question_without_effects(stage):
    answer = ("question", "answer", stage.question, "--approve", "--note", ALL_TEXTS)
    result = stage.home.run(*answer, stdin=Typist("n"))
    assert "asks: <script>" in result.stderr
    assert harmful_characters(result.stdout + result.stderr) == set()
    assert [line for line in result.stderr.splitlines() if line.startswith("javascript")] == []


@pytest.mark.parametrize("command", UNKNOWN, ids=" ".join)
def test_errors_repeat_a_text_without_effects(command, stage):
    for more in ((), ("--json",)):
        result = stage.home.run(*command, ALL_TEXTS.replace("\0", ""), *more)
        assert "internal error" not in result.stderr
        assert harmful_characters(result.stdout + result.stderr) == set()
        assert not re.search("^(javascript|�2J)", result.stderr, re.MULTILINE)


# --- Drawings


@pytest.fixture(scope="module")
def named_file(stage, tmp_path_factory):
    """Return a file with the document of a published workflow whose names are hostile."""
    path = tmp_path_factory.mktemp("workflow") / "workflow.json"
    shown = stage.home.run("workflow", "show", NAMED, "--document").stdout
    path.write_text(shown)
    assert read_document(shown)[0] == named_document()
    return path


def test_terminal_and_mermaid_drawings_contain_names_as_text(named_file, stage):
    draw = ("workflow", "draw", named_file)
    for more in ((), ("--terminal",), ("--mermaid",)):
        result = stage.home.run(*draw, *more)
        assert (result.code, harmful_characters(result.stdout)) == (0, set())
    for line in result.stdout.splitlines():
        assert GRAMMAR.fullmatch(line.strip()), line


def test_svg_drawing_contains_names_as_text(named_file, stage, tmp_path):
    file = tmp_path / "workflow.svg"
    stage.home.json("workflow", "draw", named_file, "--svg", file)
    text = file.read_text()
    assert harmful_characters(text) == set()
    for element in ET.fromstring(text).iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in SVG_TAGS
        assert not [name for name in element.attrib if name.startswith("on")]
        assert not URL_ATTRIBUTES & element.attrib.keys()


def test_local_commands_show_names_of_a_workflow_without_effects(named_file, stage):
    for command in (("validate",), ("simulate",), ("simulate", f"--input={ALL_TEXTS}=1")):
        for more in ((), ("--json",)):
            result = stage.home.run("workflow", *command, named_file, *more)
            assert "internal error" not in result.stderr
            assert harmful_characters(result.stdout + result.stderr) == set()


# --- Exports


@pytest.mark.parametrize("system", FORMATS)
def test_exports_of_hostile_tools_are_valid(system, show):
    text, document = show("export", "--all", "--format", system)
    assert json.loads(text) == document
    assert problems(system, document) == []
    assert "xyz_example_hostile0" in text


def test_unstract_export_skips_only_unsafe_tools(stage, tmp_path):
    folder = tmp_path / "tools"
    result = stage.home.run("export", "--all", "--format", "unstract", "--output", folder)
    assert (result.code, harmful_characters(result.stderr)) == (0, set())
    written = {path.name for path in folder.iterdir()}
    assert any("hostile0" in name for name in written)
    unsafe = list(HOSTILE_TEXTS).index("terminal codes")
    assert not any(name.endswith(f"hostile{unsafe}") for name in written)
    assert f"xyz.example.hostile{unsafe}@1 is omitted" in result.stderr
    for path in folder.rglob("*"):
        if path.is_file():
            assert harmful_characters(path.read_text()) == set(), path


# --- The MCP server


@pytest.mark.long
@pytest.mark.parametrize("mode", ["list", "search"])
async def test_mcp_server_describes_hostile_tools_without_effects(mode, stage):
    options = ("--mode", mode, "--on-chain", "--workflows", "--budget", "1")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "nexus_tools", "mcp", "serve", *options],
        env=stage.home.process_environment,
    )
    async with Client(server) as client:
        page = await client.list_tools()
        tools = page.tools
        while page.next_cursor:
            page = await client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        words = ("script", "hostile16", "flow0") if mode == "search" else ()
        results = [await client.call_tool("find_tools", {"query": word}) for word in words]
    listed = json.dumps([item.model_dump(mode="json") for item in tools], ensure_ascii=False)
    texts = [block.text for result in results for block in result.content]
    assert harmful_characters("".join((listed, *texts))) == set()
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", item.name) for item in tools)
    shown = listed if mode == "list" else "".join(texts)
    assert "xyz.example.hostile0@1" in shown
    assert "xyz.example.flow0@1" in shown
