"""No command runs an author's function without saying so."""

import pytest

TOOLS = '''
from pathlib import Path
from typing import Annotated

from pydantic import Field

from nexus_tools.tool_server import Variant, tool

CALLS = Path(__file__).with_name("calls")


class Paid(Variant, name="ok"):
    to: str


@tool("FQN")
def pay(to: Annotated[str, Field(examples=["the test account"])]) -> Paid:
    """Pays somebody."""
    with CALLS.open("a") as file:
        file.write(to + "\\n")
    return Paid(to=to)


@tool("xyz.example.broken@1")
def broken(to: str) -> Paid:
    """Breaks."""
    raise ValueError("the account is closed")
'''


@pytest.fixture
def folder(tmp_path, definition):
    (tmp_path / "tools.py").write_text(TOOLS.replace("FQN", definition["fqn"]))
    return tmp_path


@pytest.fixture
def calls(folder):
    """Return a function that returns the inputs of all calls of the tool."""
    return lambda: (folder / "calls").read_text().split("\n")[:-1] if _was_called(folder) else []


def _was_called(folder):
    return (folder / "calls").exists()


@pytest.fixture
def server(home, folder):
    """The URL of a server with a tool that has a side effect, and one that breaks."""
    daemon = home.daemon(" at ", "tool", "serve", folder / "tools.py", BIND_ADDR="127.0.0.1:0")
    return daemon.line.strip().split(" at ")[1].rsplit("/", 1)[0]


@pytest.fixture
def payer(server, definition):
    """The URL of the tool that has a side effect."""
    return f"{server}/{definition['fqn']}"


def test_register_does_not_invoke_the_tool(author, payer, calls):
    author.json("tool", "register", "--url", payer, "--yes")
    assert calls() == []


def test_register_all_does_not_invoke_the_tools(author, server, calls):
    author.run("tool", "register", "--url", server, "--all", "--dry-run")
    # Without a terminal, the command cannot prompt.
    author.run("tool", "register", "--url", server, "--all")
    assert calls() == []


def test_register_with_check_invokes_the_tool_once_and_says_so(author, payer, calls):
    done = author.run("tool", "register", "--url", payer, "--check", "--yes")
    assert done.code == 0, done.stderr
    assert f"invoking the tool at {payer} with an example input" in done.stderr
    assert calls() == ["the test account"]


def test_register_with_check_invokes_nothing_in_a_dry_run(author, payer, calls):
    arguments = ("tool", "register", "--url", payer, "--check", "--dry-run")
    done = author.run(*arguments)
    assert done.code == 0, done.stderr
    assert "the tool is not invoked" in done.stderr
    assert calls() == []


def test_update_does_not_invoke_the_tool_unless_check_is_given(author, payer, definition, calls):
    author.json("tool", "register", "--url", payer, "--yes")
    update = ("tool", "update", definition["fqn"], "--url", payer, "--yes")
    author.json(*update)
    assert calls() == []
    author.json(*update, "--check")
    assert calls() == ["the test account"]


def test_validate_help_says_that_it_invokes_the_tool(home):
    assert "The command invokes the tool twice" in home.run("tool", "validate", "--help").stdout


@pytest.mark.parametrize("verb", [("register", "--check", "--yes", "--url"), ("validate",)])
def test_failed_check_names_input_status_and_cause(author, server, verb):
    done = author.run("tool", *verb, f"{server}/broken", "--json")
    assert (done.code, done.error["code"]) == (7, "tool_validation_failed")
    assert (
        'invoke with a valid input: POST /invoke with {"to": "example"} responds with 500:'
        " the tool raised an exception. The operator's log contains the cause"
    ) in done.error["message"]
    assert '"examples"' in done.error["hint"]


def test_register_names_the_check_that_a_definition_fails(author, server):
    done = author.run("tool", "register", "--url", server, "--json")
    assert (done.code, done.error["code"]) == (7, "not_a_tool")


@pytest.mark.parametrize(
    "verb",
    [
        ("tool", "register", "--url"),
        ("tool", "validate"),
        ("bridge", "register", "--url"),
    ],
)
def test_url_that_is_not_a_tool_server_is_rejected(author, chain, verb):
    done = author.run(*verb, "127.0.0.1:8080", "--json")
    assert (done.code, done.error["code"]) == (2, "url_invalid")
    assert done.error["hint"] == "Write http://127.0.0.1:8080, or https."
    done = author.run(*verb, chain.url, "--json")
    assert (done.code, done.error["code"]) == (2, "url_invalid")
    assert "is the Sui node of the network test" in done.error["message"]


def test_simulate_rejects_url_without_scheme(author):
    simulate = ("workflow", "simulate", "flow.json", "--url", "127.0.0.1:8080")
    assert author.fails(*simulate) == (2, "url_invalid")
