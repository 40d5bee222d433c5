"""Published workflows on a localnet, with a Leader that carries them: run, watched, cleaned up."""

import json

import pytest

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def vertex(name, tool, *entries):
    ports = [{"name": port} for port in entries]
    return {
        "name": name,
        "kind": {"variant": "off_chain", "tool_fqn": tool},
        **({"entry_ports": ports} if ports else {}),
    }


def edge(source, target):
    vertex_name, variant, port = source.split(".")
    to_vertex, to_port = target.split(".")
    return {
        "from": {"vertex": vertex_name, "output_variant": variant, "output_port": port},
        "to": {"vertex": to_vertex, "input_port": to_port},
    }


HALVES = {
    "vertices": [vertex("first", DIVIDE, "dividend"), vertex("second", DIVIDE)],
    "edges": [edge("first.ok.quotient", "second.dividend")],
    "default_values": [
        {"vertex": name, "input_port": "divisor", "value": {"storage": "inline", "data": 2}}
        for name in ("first", "second")
    ],
    "outputs": [{"vertex": "second", "output_variant": "ok", "output_port": "quotient"}],
}
WAITS = {"vertices": [vertex("nap", NAP, "duration_ms", "ending")], "edges": []}


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, served, carrier, tmp_path_factory):
    """Who owns the tools of the examples, and published two workflows of them."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    terms = ("--price", "0.01", "--leader", carrier)
    user.json("tool", "register", "--url", served, "--all", *terms, "--yes")
    folder = tmp_path_factory.mktemp("workflows")
    for name, document in {"halves": HALVES, "waits": WAITS}.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps(document))
        user.json("workflow", "publish", file, "--name", f"xyz.example.{name}@1", "--yes")
    return user


@pytest.fixture
def requester(author, running, seller):
    """Somebody with 20 SUI, where workflows are published and a Leader works."""
    return author


@pytest.fixture
def customer(author, seller):
    """The same where nobody carries anything at present."""
    return author


def run(user, *arguments, fqn="xyz.example.halves@1"):
    return user.json("workflow", "run", fqn, *arguments, "--yes")


def test_nothing_is_signed_in_a_dry_run(customer):
    found = run(customer, "--input", "dividend=84", "--dry-run")
    assert found["dry_run"]
    assert customer.json("workflow", "executions") == []


def test_what_is_missing_or_does_not_fit_is_said_before_money_moves(customer):
    result = customer.run("workflow", "run", "xyz.example.halves@1", "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "input_missing")
    assert "--input dividend=" in result.error["hint"]
    text = ("workflow", "run", "xyz.example.halves@1", "--input", 'dividend="much"', "--yes")
    assert customer.fails(*text)[1] == "input_invalid"
    poor = ("workflow", "run", "xyz.example.halves@1", "--input", "dividend=84", "--yes")
    assert customer.fails(*poor, "--funds", "0.001")[1] == "funds_too_small"
    assert customer.fails(*poor, "--max-price", "first=0.001")[1] == "price_too_high"
    assert customer.fails(*poor, "--max-price", "third=0.001")[1] == "tool_unknown"
    assert customer.json("workflow", "executions") == []


def test_what_a_workflow_costs_is_reckoned_by_vertex(customer):
    found = customer.json("workflow", "cost", "xyz.example.halves@1")
    assert [each["vertex"] for each in found["vertices"]] == ["first", "second"]
    assert {each["price_mist"] for each in found["vertices"]} == {10_000_000}
    assert found["begin_mist"] < found["once_mist"] == found["most_mist"]
    shown = customer.run("workflow", "cost", "xyz.example.halves@1").stdout
    assert "each vertex once" in shown
    assert shown.count(" 0.01 SUI ") == 2


def test_an_execution_is_refilled_and_cancelled_and_listed(customer):
    begun = run(customer, "--input", "dividend=84")
    place = begun["execution"]
    customer.json("workflow", "refill", place, "0.5", "--yes")
    state = customer.json("workflow", "show", place)
    assert state["status"] == "running"
    assert state["funds_mist"] > 500_000_000
    [row] = customer.json("workflow", "executions", "--running")
    assert (row["execution"], row["workflow"]) == (place, "xyz.example.halves@1")
    customer.json("workflow", "cancel", place, "--yes")
    assert customer.fails("workflow", "clean", place, "--yes")[1] == "not_ended"
    assert "first" in customer.run("workflow", "show", place).stdout


def test_a_workflow_is_run_to_its_result(requester):
    found = run(requester, "--input", "dividend=84", "--wait")
    assert found["status"] == "completed"
    assert found["outputs"] == {"second.ok.quotient": 21}
    assert [each["phase"] for each in found["runs"]] == ["closed", "closed"]
    watched = requester.run("workflow", "watch", found["execution"])
    assert watched.code == 0, watched.stderr
    assert "21" in watched.stdout
    assert "workflow clean" in watched.stderr


def test_a_failure_is_told_in_a_sentence_and_by_the_exit_code(requester):
    inputs = ("--input", "duration_ms=0", "--input", "ending=crash")
    result = requester.run("workflow", "run", "xyz.example.waits@1", *inputs, "--wait", "--yes")
    assert result.code == 1
    assert "nap failed, http_error" in result.stderr


def test_what_is_left_is_cleaned_up_for_what_it_took(requester):
    place = run(requester, "--input", "dividend=84", "--wait")["execution"]
    before = requester.json("wallet", "show")["balance_mist"]
    cleaned = requester.json("workflow", "clean", place, "--yes")
    assert cleaned["back_mist"] > 0
    assert requester.json("wallet", "show")["balance_mist"] == before + cleaned["back_mist"]
    assert requester.fails("workflow", "show", place)[1] == "execution_unknown"
    assert place not in [each["execution"] for each in requester.json("workflow", "executions")]
    rows = requester.json("workflow", "executions", "--all")
    assert {each["execution"]: each["status"] for each in rows}[place] == "cleaned"
