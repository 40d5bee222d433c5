"""The workflows of the examples, and changed copies of them; a Leader that carries them."""

import json

import pytest

from tests.workflow.notation import flow

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def of_one_tool(fqn, *lines):
    """The JSON value of a document, all of whose vertices use one tool."""
    document = flow(*lines)
    for vertex in document["vertices"]:
        vertex["kind"]["tool_fqn"] = fqn
    return document


HALVES = of_one_tool(
    DIVIDE,
    "> first.dividend",
    "first.divisor = 2",
    "second.divisor = 2",
    "first.ok.quotient -> second.dividend",
    "second.ok.quotient >",
)
WAITS = of_one_tool(NAP, "> nap.duration_ms", "> nap.ending")


@pytest.fixture(scope="module")
def running_leader(operator, operator_leader):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, tool_server_url, operator_leader, tmp_path_factory):
    """Return the owner of the tools of the examples and of two workflows with them."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    terms = ("--price", "0.01", "--leader", operator_leader)
    user.json("tool", "register", "--url", tool_server_url, "--all", *terms, "--yes")
    folder = tmp_path_factory.mktemp("workflows")
    for name, document in {"halves": HALVES, "waits": WAITS}.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps(document))
        user.json("workflow", "publish", file, "--name", f"xyz.example.{name}@1", "--yes")
    return user


@pytest.fixture
def workflows(examples):
    """The folder of the example workflows."""
    return examples / "workflows"


@pytest.fixture
def write_changed(workflows, tmp_path):
    """Writes a copy of an example that a function has changed; gives its path."""

    def write(name, change):
        document = json.loads((workflows / name).read_text())
        change(document)
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=2))
        return path

    return write
