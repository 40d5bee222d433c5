import json
import re
import sys

import pytest


@pytest.mark.long
def test_register_uses_discovered_definitions(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.one")
    done = author.json(
        "bridge", "register", nora, "--domain", "org.example.one", "--url", url, "--yes"
    )
    assert [tool["fqn"] for tool in done["tools"]] == ["org.example.one.word_count@1"]
    shown = author.json("tool", "show", "org.example.one.word_count@1")
    assert (shown["url"], shown["state"]) == (f"{url}/org.example.one.word_count@1", "active")


def test_register_rejects_mismatched_served_tools(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.two")
    arguments = ("bridge", "register", nora, "--domain", "org.example.other", "--url", url, "--yes")
    assert author.fails(*arguments) == (7, "served_definition_differs")


def test_unserved_tools_need_unchecked(author, nora, free_url):
    arguments = ("bridge", "register", nora, "--domain", "org.example.three", "--url", free_url)
    assert author.fails(*arguments, "--yes") == (6, "tool_unreachable")
    done = author.json(*arguments, "--skip-validation", "--yes")
    assert done["tools"][0]["registered"]


def test_dry_run_registers_nothing(author, nora, free_url):
    arguments = ("--domain", "org.example.four", "--url", free_url, "--skip-validation")
    done = author.json("bridge", "register", nora, *arguments, "--dry-run")
    assert done["dry_run"]
    assert author.fails("tool", "show", "org.example.four.word_count@1")[0] == 3


@pytest.fixture
def not_ready_url(make_tool, serve_bridge):
    """The URL of a server whose tool lost its script."""
    place = make_tool("loses_its_script", "def run(params): return 1\n")
    url, _ = serve_bridge(place, "--domain", "org.example.lost")
    (place / "loses_its_script" / "main.py").unlink()
    return url


def test_register_warns_before_it_locks_collateral_when_a_tool_is_not_ready(author, not_ready_url):
    done = author.run("bridge", "register", "--url", not_ready_url, "--dry-run")
    assert done.code == 0
    assert (
        "org.example.lost.loses_its_script@1 is not ready:"
        " GET /health responds with 503 (entrypoint)"
    ) in " ".join(done.stderr.split())


def test_register_locks_nothing_with_yes_when_a_tool_is_not_ready(author, not_ready_url):
    arguments = ("bridge", "register", "--url", not_ready_url, "--yes")
    refused = author.run(*arguments, "--json")
    assert (refused.code, refused.error["code"]) == (4, "tool_not_ready")
    assert "pass --skip-validation" in refused.error["hint"]
    assert author.fails("tool", "show", "org.example.lost.loses_its_script@1")[0] == 3
    done = author.json(*arguments, "--skip-validation")
    assert [tool["registered"] for tool in done["tools"]] == [True]


@pytest.mark.long
def test_register_does_not_warn_when_all_tools_are_ready(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.ready")
    assert "is not ready" not in author.run("bridge", "register", "--url", url, "--dry-run").stderr


IMAGES = """
import sys
from mcp.server.mcpserver import MCPServer, Image

server = MCPServer("images")

@server.tool(structured_output=False)
def draw_chart() -> Image:
    "Draws a chart."
    return Image(data=b"x" * 6_000, format="png")

@server.tool(structured_output=False)
def greet() -> str:
    "Greets."
    return "hello"

server.run("stdio")
"""


@pytest.mark.long
def test_register_sets_outcome_size_for_tools_with_images(author, tmp_path, serve_bridge):
    (tmp_path / "server.py").write_text(IMAGES)
    server = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"images": server}}))
    url, _ = serve_bridge(tmp_path / "mcp.json", "--domain", "org.example.drawn")
    done = author.run("bridge", "register", "--url", url, "--yes")
    assert done.code == 0, done.stderr
    rooms = [
        author.json("tool", "show", f"org.example.drawn.images.{name}@1")["min_outcome_bytes"]
        for name in ("draw_chart", "greet")
    ]
    assert rooms == [65_536, 0]
    assert "Pass --min-outcome-bytes to change the size" in " ".join(done.stderr.split())


SERVER = """
import json, pathlib, sys
from mcp.server.mcpserver import MCPServer

with pathlib.Path(sys.argv[1]).open("a") as starts:
    starts.write("started\\n")
server = MCPServer("many")
for number in range(int(sys.argv[2])):
    server.add_tool(lambda: "done", name=f"t{number:03}", description="Does a thing.")
server.run("stdio")
"""


@pytest.fixture
def many(tmp_path):
    """Writes an `mcp.json` with a server of many tools; gives it, and the file of its starts."""

    def many(count):
        (tmp_path / "opened").mkdir()
        starts = tmp_path / "opened" / "starts"
        (tmp_path / "server.py").write_text(SERVER)
        program = [str(tmp_path / "server.py"), str(starts), str(count)]
        server = {"command": sys.executable, "args": program}
        (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"many": server}}))
        return tmp_path / "mcp.json", starts

    return many


@pytest.fixture
def serve_many(many, serve_bridge):
    """Serve `count` tools of a domain. Return the URL and the log of server starts."""

    def serve(count, domain):
        place, starts = many(count)
        url, _ = serve_bridge(place, "--domain", domain, "--allow-write", starts.parent)
        return url, starts

    return serve


@pytest.mark.long
def test_register_starts_no_served_tool(author, serve_many):
    url, starts = serve_many(3, "org.example.many")
    before = starts.read_text()
    done = author.json("bridge", "register", "--url", url, "--yes")
    assert [tool["fqn"] for tool in done["tools"]] == [
        f"org.example.many.many.t{number:03}@1" for number in range(3)
    ]
    assert starts.read_text() == before


@pytest.mark.long
def test_register_splits_many_tools_into_transactions(author, chain, serve_many):
    chain.fund(author.wallet.signer().address, 150 * 1_000_000_000)
    url, _ = serve_many(130, "org.example.lots")
    rehearsed = author.json("bridge", "register", "--url", url, "--dry-run")
    assert 1 < len(rehearsed["transactions"]) < 10
    assert rehearsed["events"].count("ToolRegistered") == 130
    result = author.run("bridge", "register", "--url", url, "--yes")
    assert result.code == 0, result.stderr
    assert re.search(r"registered [0-9]+ of 130\n", result.stderr)
    again = author.run("bridge", "register", "--url", url, "--yes", "--json")
    assert {tool["registered"] for tool in again.document["tools"]} == {False}
    assert again.stderr.count("is already registered") == 130


@pytest.mark.long
def test_register_filters_tools_by_pattern(author, serve_many):
    url, _ = serve_many(12, "org.example.some")
    some = ("--only", "t00*", "--exclude", "*.t003@*", "--exclude", "t004")
    done = author.json("bridge", "register", "--url", url, *some, "--yes")
    assert [tool["fqn"][-6:] for tool in done["tools"]] == [
        f"t00{number}@1" for number in (0, 1, 2, 5, 6, 7, 8, 9)
    ]


def test_register_fails_when_no_tool_matches(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.five")
    arguments = ("bridge", "register", "--url", url, "--only", "nothing", "--yes")
    assert author.fails(*arguments) == (2, "no_tools")


def test_domain_option_needs_path(author, free_url):
    domain = ("--domain", "org.example")
    result = author.fails("bridge", "register", "--url", free_url, *domain, "--yes")
    assert result == (2, "option_not_applicable")
