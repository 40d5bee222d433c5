import json
import signal
from xml.etree import ElementTree as ET

import pytest

TEXT = "to be or not to be\n\nthat is the question\n"


@pytest.fixture
def simulate(home, workflows):
    """Simulates the example `count` with `--json`, which has to succeed."""

    def run(*arguments):
        return home.json("workflow", "simulate", workflows / "count.json", *arguments)

    return run


def results(document):
    return [each["value"] for each in document["results"]]


def test_simulate_with_stubs_returns_result_and_trace(simulate, workflows):
    document = simulate("--input", "text=x", "--stubs", workflows / "count.stubs.json")
    assert results(document) == [10]
    assert document["status"] == "completed_with_failures"
    assert document["time_ms"] == 3_000
    assert [call["vertex"] for call in document["calls"]].count("count") == 3


def test_simulate_prints_calls_results_and_failures(home, workflows):
    result = home.run(
        *("workflow", "simulate", workflows / "count.json", "--input", "text=x"),
        *("--stubs", workflows / "count.stubs.json"),
        COLUMNS="200",
    )
    assert result.code == 0
    assert "count[1]" in result.stdout
    assert "✗ input_invalid: an empty line" in result.stdout
    assert "sum.ok.sum  10" in result.stdout
    assert "! count[1] failed, input_invalid: an empty line" in result.stderr
    # By hand: 5 fees, 4 of them for answers, and their bytes are 0.0163 SUI.
    assert "✓ completed with failures: 5 steps in 3 s, about 0.017 SUI" in result.stderr


def test_long_cells_are_cut(home, workflows):
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", f"text={'x' * 99}")
    narrow = home.run(*arguments, COLUMNS="80").stdout
    assert f'text="{"x" * 13}…' in narrow
    assert "x" * 50 in home.run(*arguments, COLUMNS="200").stdout


def test_simulate_calls_tools_of_python_file(simulate, workflows, examples):
    tools = ("--tools", workflows / "tools.py", "--tools", examples / "tools.py")
    document = simulate("--input", f"text={TEXT}", *tools)
    assert results(document) == [10]
    assert document["status"] == "completed"
    assert document["generated"] == []


def test_simulate_calls_tools_of_server(simulate, tool_server_url):
    document = simulate("--input", json.dumps({"text": TEXT}), "--url", tool_server_url)
    # Lines and sum are made up; words are counted by the server.
    assert document["generated"] == ["split", "sum"]
    counted = [call for call in document["calls"] if call["vertex"] == "count"]
    assert [call["answer"]["ok"]["total"] for call in counted] == [1, 1]


def test_simulate_calls_single_tool_by_url(simulate, tool_server_url):
    url = f"{tool_server_url}/xyz.example.text.count_words@1"
    assert "count" not in simulate("--input", "text=x", "--url", url)["generated"]


@pytest.mark.parametrize(
    ("vertex", "value", "has_hint"), [("split", "42", True), ("count", "0.5", False)]
)
def test_hint_about_quotes_depends_on_the_schema(
    home, tmp_path, examples, workflows, vertex, value, has_hint
):
    document = json.loads((workflows / "count.json").read_text())
    [fqn] = [each["kind"]["tool_fqn"] for each in document["vertices"] if each["name"] == vertex]
    port = "text" if has_hint else "top"
    file = tmp_path / "workflow.json"
    one = {
        "name": "one",
        "kind": {"variant": "off_chain", "tool_fqn": fqn},
        "entry_ports": [{"name": port}],
    }
    default = {
        "vertex": "one",
        "input_port": "text",
        "value": {"storage": "inline", "data": "words"},
    }
    defaults = [] if has_hint else [default]
    file.write_text(json.dumps({"vertices": [one], "edges": [], "default_values": defaults}))
    tools = ("--tools", workflows / "tools.py", "--tools", examples / "tools.py")
    arguments = ("workflow", "simulate", file, *tools, "--input", f"{port}={value}", "--json")
    result = home.run(*arguments)
    assert result.error["code"] == "input_invalid", result.stderr
    assert ("To pass it as a string" in (result.error["hint"] or "")) == has_hint


def test_stub_has_precedence_over_tool(simulate, workflows, examples, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"count": {"ok": {"total": 100, "words": []}}}')
    tools = ("--tools", workflows / "tools.py", "--tools", examples / "tools.py")
    assert results(simulate("--input", f"text={TEXT}", *tools, "--stubs", stubs)) == [200]


@pytest.mark.parametrize(
    "option",
    ["text=7", '{"text": 7}', "split.text=7", "@{folder}/all.json", "text=@{folder}/one.json"],
)
def test_input_option_accepts_every_form(simulate, tmp_path, option):
    (tmp_path / "all.json").write_text('{"text": 7}')
    (tmp_path / "one.json").write_text("7")
    document = simulate("--input", option.replace("{folder}", str(tmp_path)))
    assert document["calls"][0]["inputs"] == {"text": 7}


def test_input_that_is_not_json_is_text(simulate):
    document = simulate("--input", "text=to be = or not")
    assert document["calls"][0]["inputs"] == {"text": "to be = or not"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], "input_missing"),
        (["--input", "text"], "input_malformed"),
        (["--input", "[1]"], "input_malformed"),
        (["--input", "=1"], "input_malformed"),
        (["--input", "text=1", "--input", "text=2"], "input_duplicate"),
        (["--input", "txt=1"], "input_unknown"),
        (["--input", "text=@/nowhere"], "output_file_unreadable"),
        (["--input", "text=1", "--group", "other"], "group_unknown"),
        (["--input", "text=1", "--stubs", "/nowhere"], "usage"),
        (["--input", "text=1", "--tools", "/nowhere.py"], "target_unknown"),
        (["--input", "text=1", "--price", "xyz.example.math.sum@1=much"], "usage"),
        (["--input", "text=1", "--price", "0.5"], "price_malformed"),
        (["--input", "text=1", "--price", "smu=0.5"], "tool_unknown"),
    ],
)
def test_usage_errors_are_reported(home, workflows, options, code):
    arguments = ("workflow", "simulate", workflows / "count.json", *options)
    assert home.fails(*arguments) == (2, code)


def test_missing_input_error_names_option(home, workflows):
    result = home.run("workflow", "simulate", workflows / "write.json")
    assert result.code == 2
    assert "Pass --input topic=VALUE.\n" in result.stderr


def test_unreachable_server_is_reported(home, workflows):
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    assert home.fails(*arguments, "--url", "http://127.0.0.1:1") == (6, "tool_unreachable")


def test_invalid_stubs_error_names_locations(home, workflows, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"count": {"fail": "tired"}}')
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--stubs", stubs)
    assert result.code == 7
    assert str(stubs) in result.stderr
    assert "/count/fail" in result.stderr


def test_unused_stub_warns(home, workflows, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"cuont": {"ok": {"total": 1}}}')
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--stubs", stubs)
    assert result.code == 0
    assert "Did you mean count?" in result.stderr
    assert (
        "results were generated, because stubs and tools are missing: count, split, sum"
        in result.stderr
    )


def test_untrusted_names_cannot_control_terminal(home, write_changed):
    def change(document):
        text = json.dumps(document).replace('"sum"', '"\\u001b]0;owned\\u0007"')
        document.update(json.loads(text))

    path = write_changed("count.json", change)
    result = home.run("workflow", "simulate", path, "--input", "text=\x1b]0;owned\x07")
    assert result.code == 0
    assert "Results" in result.stdout
    assert not set(result.stdout + result.stderr) & set("\x1b\x07")


def test_early_end_fails_with_reason(home, workflows, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"split": {"fail": "unreachable", "detail": "no route to host"}}')
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--stubs", stubs, "--json")
    assert (result.code, result.error["code"]) == (1, "workflow_failed")
    assert "split failed, unreachable: no route to host" in result.error["message"]
    assert result.document["status"] == "terminated"


def test_endless_loop_is_stopped(home, workflows, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"judge": {"poor": {"brief": "again"}}}')
    arguments = ("workflow", "simulate", workflows / "write.json", "--input", "topic=x")
    result = home.run(*arguments, "--stubs", stubs, "--max-steps", 200)
    assert result.code == 1
    assert "and 100 more calls. Pass --json to see all calls" in result.stderr
    assert "larger --max-steps" in result.stderr


def test_deadline_ends_simulation(home, workflows):
    arguments = ("workflow", "simulate", workflows / "write.json", "--input", "topic=x")
    result = home.run(*arguments, "--deadline", "2500ms", "--json")
    assert result.document["status"] == "timed_out"
    assert len(result.document["calls"]) == 3


def test_estimate_includes_prices(simulate, workflows):
    stubs = ("--input", "text=x", "--stubs", workflows / "count.stubs.json")
    free = simulate(*stubs)["cost_mist"]
    for name in ("xyz.example.text.count_words@1", "count"):
        priced = simulate(*stubs, "--price", f"{name}=0.5")["cost_mist"]
        assert priced - free == 2 * 500_000_000  # two answers; a failure has no price


def test_unknown_price_name_has_suggestion(home, workflows):
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--price", "xyz.example.math.smu@1=0.5")
    told = "--price: 'xyz.example.math.smu@1' is not a tool or a vertex of the workflow"
    assert told in result.stderr
    assert "Did you mean xyz.example.math.sum@1?" in result.stderr


def test_stub_for_unknown_inputs_is_rejected_with_its_location(home, workflows, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"count": {"give": {"ok": {"total": 1}}, "when": {"txt": ""}}}')
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--stubs", stubs)
    assert result.code == 7
    assert "count has no input port 'txt'. Did you mean text?" in result.stderr
    assert "/count/when/txt" in result.stderr


def test_invalid_workflow_is_not_simulated(home, write_changed):
    path = write_changed("count.json", lambda document: document["edges"].pop())
    result = home.run("workflow", "simulate", path, "--input", "text=x")
    assert result.code == 7
    assert "without a corresponding collect" in result.stderr
    assert result.stdout == ""


def test_svg_shows_states(simulate, workflows, tmp_path):
    picture = tmp_path / "count.svg"
    stubs = ("--stubs", workflows / "count.stubs.json")
    simulate("--input", "text=x", *stubs, "--svg", picture)
    root = ET.fromstring(picture.read_text())
    classes = {
        each.get("data-vertex"): each.get("class")
        for each in root.iter()
        if each.get("data-vertex")
    }
    assert "failed" in classes["count"]
    assert "settled" in classes["sum"]


def test_recorded_stubs_reproduce_simulation(simulate, workflows, examples, tmp_path):
    tools = ("--tools", workflows / "tools.py", "--tools", examples / "tools.py")
    recorded = ("--input", f"text={TEXT}", "--record", tmp_path / "stubs.json")
    real = simulate(*recorded, *tools)
    again = simulate(*recorded, "--stubs", tmp_path / "stubs.json")
    assert again == real
    assert results(again) == [10]


def test_exception_of_tool_is_shown_with_location(home, workflows, tmp_path):
    tools = tmp_path / "broken.py"
    tools.write_text(BROKEN)
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.run(*arguments, "--tools", tools)
    assert result.code == 1
    assert (
        "split failed, http_error: the tool responded with 500: KeyError: 'x' "
        f"in {tools}, line 8: return {{}}[text]"
    ) in result.stderr
    assert "Traceback" not in result.stderr


BROKEN = '''
from nexus_tools.tool_server import Variant, tool

class Lines(Variant, name="ok"):
    lines: list[str]

def lines_of(text):
    return {}[text]

@tool("xyz.example.text.split_lines@1")
async def split_lines(text: str) -> Lines:
    """Breaks."""
    return Lines(lines=lines_of(text))
'''


@pytest.mark.long
def test_blocking_tool_does_not_block_simulation(home, workflows, tmp_path):
    tools = tmp_path / "blocking.py"
    tools.write_text(BLOCKING)
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    result = home.spawn(*arguments, "--tools", tools, "--json")
    assert (result.code, result.error["code"]) == (1, "workflow_failed")
    assert "took longer than" in result.error["message"]


BLOCKING = '''
from nexus_tools.tool_server import Variant, tool

class Lines(Variant, name="ok"):
    """Lines."""
    lines: list[str]

@tool("xyz.example.text.split_lines@1", timeout_ms=1_000)
async def split_lines(text: str) -> Lines:
    """Never ends."""
    while True:
        pass
'''


def test_ctrl_c_prints_no_traceback(home, workflows, tmp_path):
    tools = tmp_path / "waiting.py"
    tools.write_text(WAITING)
    arguments = ("workflow", "simulate", workflows / "count.json", "--input", "text=x")
    running = home.daemon("it waits", *arguments, "--tools", tools)
    ended = running.end(signal.SIGINT)
    assert ended.code == 130
    assert ended.stderr.splitlines()[-1] == "stopped"
    assert "Traceback" not in ended.stderr


WAITING = '''
import asyncio
import sys

from nexus_tools.tool_server import Variant, tool

class Lines(Variant, name="ok"):
    """Lines."""
    lines: list[str]

@tool("xyz.example.text.split_lines@1", timeout_ms=60_000)
async def split_lines(text: str) -> Lines:
    """Waits."""
    print("it waits", file=sys.stderr, flush=True)
    await asyncio.Event().wait()
'''
