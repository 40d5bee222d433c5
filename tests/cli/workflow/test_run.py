"""Published workflows on a localnet, with a Leader that carries them: run, watched, cleaned up."""

import json

import pytest

from tests.cli.conftest import Typist
from tests.cli.workflow.conftest import DIVIDE


@pytest.fixture
def requester(author, running_leader, seller):
    """Return a user with 20 SUI on a chain with workflows and a running Leader."""
    return author


@pytest.fixture
def customer(author, seller):
    """Return a user with 20 SUI on a chain with workflows, with or without a running Leader."""
    return author


def run(user, *arguments, fqn="xyz.example.halves@1"):
    return user.json("workflow", "run", fqn, *arguments, "--yes")


def test_dry_run_signs_nothing(customer):
    found = run(customer, "--input", "dividend=84", "--dry-run")
    assert found["dry_run"]
    assert customer.json("workflow", "executions") == []


def test_run_validates_inputs_before_payment(customer):
    result = customer.run("workflow", "run", "xyz.example.halves@1", "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "input_missing")
    assert "--input dividend=" in result.error["hint"]
    text = ("workflow", "run", "xyz.example.halves@1", "--input", 'dividend="much"', "--yes")
    assert customer.fails(*text)[1] == "input_invalid"
    poor = ("workflow", "run", "xyz.example.halves@1", "--input", "dividend=84", "--yes")
    assert customer.fails(*poor, "--funds", "0.001")[1] == "funds_too_small"
    assert customer.fails(*poor, "--max-price", "first=0.001")[1] == "price_too_high"
    assert customer.fails(*poor, "--max-price", "third=0.001")[1] == "tool_unknown"
    assert customer.fails(*poor, "--max-price", "first")[1] == "price_malformed"
    assert customer.fails(*poor, "--max-price", "1")[1] == "price_malformed"
    limits = ("--max-price", "first=0.001", "--max-price", f"{DIVIDE}=5")
    assert customer.fails(*poor, *limits) == (2, "price_conflict")
    assert customer.fails(*poor, "--deadline", "0s")[1] == "duration_too_short"
    huge = str(2**70)
    assert customer.fails(*poor, "--max-steps", huge)[1] == "argument_invalid"
    assert customer.fails(*poor, "--max-outcome-bytes", huge)[1] == "argument_invalid"
    assert customer.json("workflow", "executions") == []


@pytest.fixture
def raise_price(seller):
    """Raise the price of a tool during a prompt, and answer `y`."""

    def agree():
        seller.spawn("tool", "update", DIVIDE, "--price", "0.5", "--yes")
        return "y"

    yield agree
    seller.json("tool", "update", DIVIDE, "--price", "0.01", "--yes")


def test_run_refuses_a_price_that_was_raised_after_the_question(customer, raise_price):
    terminal = Typist(raise_price)
    asked = ("workflow", "run", "xyz.example.halves@1", "--input", "dividend=84")
    result = customer.run(*asked, stdin=terminal)
    assert "Start an execution of xyz.example.halves@1" in result.stderr
    assert result.code == 4
    assert "costs 0.5 SUI, but the limit is 0.01 SUI" in result.stderr
    assert customer.json("workflow", "executions") == []


def test_schedule_refuses_a_price_that_was_raised_after_the_question(customer, raise_price):
    asked = ("schedule", "create", "xyz.example.halves@1", "--input", "dividend=84")
    result = customer.run(*asked, "--every", "1h", "--funds", "9", stdin=Typist(raise_price))
    assert result.code == 4
    assert "costs 0.5 SUI, but the limit is 0.01 SUI" in result.stderr
    assert customer.json("schedule", "list") == []


def test_invalid_input_is_named(customer):
    given = ("--input", "dividend=much", "--yes")
    told = customer.run("workflow", "run", "xyz.example.halves@1", *given).stderr
    assert "error: the input dividend is invalid: the value is not of type" in told
    given = ("--input", "duration_ms=x", "--input", "ending=7", "--yes")
    told = customer.run("workflow", "run", "xyz.example.waits@1", *given).stderr
    assert "  /duration_ms: " in told
    assert "  /ending: " in told
    assert "as a string" not in told  # the string "7" is not a value of the enumeration either
    shown = customer.run("workflow", "show", "xyz.example.waits@1").stdout
    assert "duration_ms: " in shown
    assert "ending: " in shown


def test_id_of_wrong_object_is_reported(customer, operator_leader):
    error = customer.run("workflow", "show", operator_leader, "--json").error
    assert error["message"] == f"{operator_leader} is a leader, not an execution"
    assert error["hint"] == "Run `nexus-tools leader list` to see it."
    halves = customer.json("workflow", "show", "xyz.example.halves@1")
    assert customer.json("workflow", "show", halves["workflow"]) == halves
    error = customer.run("schedule", "show", halves["workflow"], "--json").error
    assert error["message"] == f"{halves['workflow']} is a workflow, not a schedule"
    error = customer.run("workflow", "watch", f"0x{6:064x}", "--json").error
    assert "::clock::Clock, not an execution" in error["message"]
    assert customer.fails("workflow", "show", f"0x{0xABC:064x}") == (3, "execution_unknown")


def test_refill_rejects_zero(customer):
    place = run(customer, "--input", "dividend=84")["execution"]
    assert customer.fails("workflow", "refill", place, "0", "--yes") == (2, "amount_zero")


def test_cost_lists_vertices(customer):
    found = customer.json("workflow", "cost", "xyz.example.halves@1")
    assert [each["vertex"] for each in found["vertices"]] == ["first", "second"]
    assert {each["charge_mist"] for each in found["vertices"]} == {10_000_000}
    assert found["start_mist"] < found["single_pass_mist"] == found["maximum_mist"]
    shown = customer.run("workflow", "cost", "xyz.example.halves@1").stdout
    assert "each vertex once" in shown
    assert shown.count(" 0.01 SUI ") == 2


def test_run_completes_with_result(requester):
    found = run(requester, "--input", "dividend=84", "--wait")
    assert found["status"] == "completed"
    assert found["choice"] == {"candidates": 1, "closings": 0, "unread": 0}
    assert found["outputs"] == {"second.ok.quotient": 21}
    assert [each["phase"] for each in found["runs"]] == ["closed", "closed"]
    watched = requester.run("workflow", "watch", found["execution"])
    assert watched.code == 0, watched.stderr
    assert "21" in watched.stdout
    assert "workflow clean" in watched.stderr
    [line] = requester.run("workflow", "watch", found["execution"], "--json").stdout.splitlines()
    last = json.loads(line)
    assert last == requester.json("workflow", "show", found["execution"])
    assert 0 < last["spent_mist"] < 100_000_000
    shown = requester.run("workflow", "show", found["execution"]).stdout
    assert f"spent      {last['spent_mist'] / 1e9:.9g} SUI" in shown
    assert "runs: ✓ settled\n" in shown


def test_run_failure_sets_exit_code(requester):
    inputs = ("--input", "duration_ms=0", "--input", "ending=crash")
    result = requester.run("workflow", "run", "xyz.example.waits@1", *inputs, "--wait", "--yes")
    assert result.code == 1
    assert result.stderr.count("nap failed, http_error") == 1
    assert "nexus-tools tool outcome 0x" in result.stderr


def test_refusal_names_limit_and_option(requester):
    inputs = ("--input", "dividend=84", "--max-steps", "1", "--wait", "--yes")
    result = requester.run("workflow", "run", "xyz.example.halves@1", *inputs)
    assert "second failed, too_many_steps: its limit is 1 run (" in result.stderr
    assert "Start the execution again with a higher --max-steps." in result.stderr


def test_cancel_reports_open_invocations(customer):
    place = run(customer, "--input", "dividend=84")["execution"]
    told = customer.run("workflow", "cancel", place, "--yes").stderr
    assert "refunded once its pending invocations are closed or expired" in told
    (following,) = [line for line in told.splitlines() if line.startswith("next: ")]
    assert following == f"next: nexus-tools workflow show {place}"
    assert customer.run(*following.split()[2:]).code == 0


def test_show_and_clean_name_the_wallet_that_owns_an_execution(requester, chain):
    place = run(requester, "--input", "dividend=84", "--wait")["execution"]
    other, _ = requester.wallet.new("other")
    chain.fund(other.address, 10**9)
    shown = requester.run("workflow", "show", place, "--wallet", "other").stderr
    assert f"`nexus-tools workflow clean {place} --wallet author`" in shown
    refused = requester.run("workflow", "clean", place, "--wallet", "other", "--yes").stderr
    assert ": --wallet author" in refused


def test_clean_says_what_is_lost_before_it_deletes(requester):
    place = run(requester, "--input", "dividend=84", "--wait")["execution"]
    lost = f"the results and 2 outcomes of the execution {place}, which is completed"
    asked = requester.run("workflow", "clean", place, stdin=Typist("n"))
    assert f"Delete {lost}? [y/N]" in asked.stderr
    assert f"`nexus-tools workflow show {place}` shows the results" in asked.stderr
    assert requester.json("workflow", "show", place)["results"]
    for option in ("--dry-run", "--yes"):
        told, done = requester.run("workflow", "clean", place, option).stderr.split("\n", 1)
        assert told == f"the command deletes {lost}"
        assert "refunded" in done


def test_clean_reclaims_storage_deposit(requester):
    place = run(requester, "--input", "dividend=84", "--wait")["execution"]
    before = requester.json("wallet", "show")["balance_mist"]
    simulated = requester.json("workflow", "clean", place, "--dry-run")
    assert (simulated["dry_run"], simulated["deleted_outcomes"]) == (True, 2)
    cleaned = requester.json("workflow", "clean", place, "--yes")
    assert cleaned["returned_mist"] > 0
    assert requester.json("wallet", "show")["balance_mist"] == before + cleaned["returned_mist"]
    assert requester.fails("workflow", "show", place)[1] == "execution_unknown"
    assert place not in [each["execution"] for each in requester.json("workflow", "executions")]
    rows = requester.json("workflow", "executions", "--deleted")
    assert {each["execution"]: each["status"] for each in rows}[place] == "cleaned"
