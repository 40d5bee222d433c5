"""Waiting executions. No Leader runs in this module."""

import json

import pytest


@pytest.fixture
def customer(author, seller):
    """Return a user with 20 SUI on a chain with workflows."""
    return author


def start_execution(user):
    given = ("xyz.example.halves@1", "--input", "dividend=84", "--yes")
    return user.json("workflow", "run", *given)["execution"]


def test_execution_is_refilled_cancelled_and_listed(customer):
    place = start_execution(customer)
    customer.json("workflow", "refill", place, "0.5", "--yes")
    state = customer.json("workflow", "show", place)
    assert state["status"] == "running"
    assert state["funds_mist"] > 500_000_000
    [row] = customer.json("workflow", "executions", "--running")
    assert (row["execution"], row["workflow"]) == (place, "xyz.example.halves@1")
    customer.json("workflow", "cancel", place, "--yes")
    assert customer.fails("workflow", "clean", place, "--yes")[1] == "execution_not_ended"
    assert "first" in customer.run("workflow", "show", place).stdout


def test_show_prints_the_pending_invocation_of_a_running_execution(customer, operator_leader):
    place = start_execution(customer)
    [wait] = customer.json("workflow", "show", place)["waits_for"]
    assert (wait["reason"], wait["vertex"], wait["leaders"]) == (
        "outcome",
        "first",
        [operator_leader],
    )
    result = customer.run("workflow", "show", place)
    assert "runs: ▸ running\n" in result.stdout
    shown = result.stderr
    assert "first was requested" in shown
    assert f"the leader {operator_leader} has not closed it" in shown
    customer.json("workflow", "cancel", place, "--yes")
    assert "cancelled. The execution ends when" in customer.run("workflow", "show", place).stderr
    assert " stopping (cancelled) " in customer.run("workflow", "executions").stdout
    [row] = customer.json("workflow", "executions", "--running")
    assert (row["status"], row["ending"]) == ("running", "cancelled")


def test_watch_prints_an_overdue_invocation(customer, seller, chain):
    # The clock of the chain goes on while the command starts: its outcome must not be late.
    seller.json("tool", "update", "xyz.example.math.divide@1", "--timeout", "2m", "--yes")
    place = start_execution(customer)
    chain.advance_clock(12_000)
    watching = customer.daemon("has not closed it", "workflow", "watch", place)
    assert "first was requested" in watching.line
    as_json = customer.process("workflow", "watch", place, "--json")
    told = json.loads(as_json.stdout.readline())
    assert [each["vertex"] for each in told["waits_for"]] == ["first"]
