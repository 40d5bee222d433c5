"""What `tool outcome` tells of an invocation, and how one is found again."""

import signal

import pytest

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def invoke(user, fqn, text, *options):
    return user.json("tool", "invoke", fqn, "--input", text, *options, "--yes")


@pytest.fixture(scope="module")
def sleeper(seller):
    """A leader that nobody runs."""
    return seller.json("leader", "register", "--inactive", "--yes")["leader"]


@pytest.fixture
def idle(operator, seller, sleeper):
    """Nobody closes what is requested now: the leader that is responsible does not run."""
    operator.json("leader", "deactivate", "--yes")
    seller.json("leader", "activate", "--leader", sleeper, "--yes")
    yield sleeper
    operator.json("leader", "activate", "--yes")
    seller.json("leader", "deactivate", "--leader", sleeper, "--yes")


def test_why_tells_who_closed_it_when_by_which_check_and_where_the_money_went(
    requester, operator, seller
):
    done = invoke(requester, DIVIDE, '{"dividend": 84, "divisor": 2}')
    why = requester.json("tool", "outcome", done["invocation"], "--why")
    [leader] = operator.json("leader", "status")
    assert (why["state"], why["variant"]) == ("settled", "ok")
    assert "output schema" in why["check"]
    steps = {step["what"]: step for step in why["steps"]}
    assert list(steps) == ["requested", "settled", "deleted"]
    verbs = {"requested": "request", "settled": "close", "deleted": "delete"}
    assert {what: step["digest"] for what, step in steps.items()} == {
        what: done["transactions"][verb]["digest"] for what, verb in verbs.items()
    }
    address = requester.json("wallet", "show")["address"]
    assert steps["requested"]["signed_by"] == steps["deleted"]["signed_by"] == address
    assert steps["settled"]["leader"] == leader["leader"]
    assert why["windows"][0]["did"] == "closed"
    money = why["money"]
    assert (money["price_mist"], money["refund_taken"]) == (10_000_000, True)
    assert money["price_paid_to"] == seller.json("wallet", "show")["address"]
    parts = money["price_mist"] + money["fee_mist"] + money["refund_mist"]
    assert parts == money["prepaid_mist"]


def test_why_names_the_check_at_which_an_invocation_failed(requester):
    result = requester.run(
        *("tool", "invoke", NAP, "--input", '{"ending": "crash", "duration_ms": 0}'),
        *("--yes", "--json"),
    )
    place = result.document["invocation"]
    why = requester.json("tool", "outcome", place, "--why")
    assert (why["state"], why["reason"]) == ("failed", "http_error")
    assert "status" in why["check"]
    assert why["money"]["price_mist"] == 0
    shown = requester.run("tool", "outcome", place, "--why").stdout
    assert "0 SUI" in shown
    assert "closed it" in shown
    assert "(in " not in shown


def test_why_tells_of_a_leader_that_let_its_window_pass(requester, idle):
    place = invoke(requester, NAP, "{}", "--no-wait")["invocation"]
    before = requester.json("tool", "outcome", place, "--why")
    assert before["state"] == "requested"
    assert [(one["leader"], one["did"]) for one in before["windows"]] == [(idle, "has_time")]
    assert before["money"]["refund_mist"] is None
    requester.json("localnet", "advance-clock", "5m")
    after = requester.json("tool", "outcome", place, "--why")
    assert [one["did"] for one in after["windows"]] == ["missed"]
    assert f"`nexus-tools tool outcome {place} --delete`" in after["check"]
    requester.json("tool", "outcome", place, "--delete", "--yes")
    ended = requester.json("tool", "outcome", place, "--why")
    assert ended["state"] == "expired"
    assert ended["money"]["refund_mist"] == ended["money"]["prepaid_mist"]


def test_why_and_delete_exclude_each_other(requester):
    assert requester.fails("tool", "outcome", "0x1", "--why", "--delete") == (2, "why_and_delete")


def test_why_of_what_was_never_requested_is_not_found(requester):
    result = requester.run("tool", "outcome", "0x1", "--why", "--json")
    assert (result.code, result.error["code"]) == (3, "invocation_unknown")
    assert "--why" not in result.error["hint"]


@pytest.mark.usefixtures("idle")
def test_an_outcome_has_its_deadline_and_whether_it_is_over(requester):
    place = invoke(requester, NAP, "{}", "--no-wait")["invocation"]
    before = requester.json("tool", "outcome", place)
    assert before["expired"] is False
    assert before["expires_at_ms"] > before["requested_at_ms"]
    assert "deadline" in requester.run("tool", "outcome", place).stdout
    requester.json("localnet", "advance-clock", "5m")
    assert requester.json("tool", "outcome", place)["expired"] is True
    assert "over: --delete takes the refund" in requester.run("tool", "outcome", place).stdout


@pytest.mark.usefixtures("idle")
def test_invocations_that_nobody_has_closed_are_listed_the_newest_first_in_pages(requester):
    assert requester.json("invocation", "list") == []
    places = [invoke(requester, NAP, "{}", "--no-wait")["invocation"] for _ in range(3)]
    listed = requester.json("invocation", "list")
    assert [row["invocation"] for row in listed] == places[::-1]
    assert {row["state"] for row in listed} == {"requested"}
    first = requester.run("invocation", "list", "--limit", "2")
    assert places[2] in first.stdout
    assert "1 more on the next page" in first.stderr
    last = requester.json("invocation", "list", "--limit", "2", "--page", "2")
    assert [row["invocation"] for row in last] == places[:1]


def test_closed_invocations_are_listed_with_all_and_their_refunds_are_told(requester):
    place = invoke(requester, NAP, '{"duration_ms": 0}', "--keep")["invocation"]
    pending = requester.run("invocation", "list")
    assert (pending.code, pending.stdout) == (0, "")
    assert "hold refunds of" in pending.stderr
    [row] = requester.json("invocation", "list", "--all")
    assert (row["invocation"], row["state"]) == (place, "settled")
    assert row["refund_mist"] > 0


def test_the_invocations_of_others_are_not_listed(requester, stranger):
    invoke(requester, NAP, '{"duration_ms": 0}', "--keep")
    assert stranger.json("invocation", "list", "--all") == []


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_whoever_stops_waiting_is_told_where_the_prepaid_money_is(requester, number):
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--yes", "--json")
    waiting = requester.daemon("prepaid", *arguments)
    place = waiting.line.split()[1].rstrip(",")
    ended = waiting.end(getattr(signal, number))
    assert ended.code == 130
    assert f"nexus-tools tool outcome {place} --wait" in ended.stderr
    assert ended.document["invocation"] == place
    assert [row["invocation"] for row in requester.json("invocation", "list")] == [place]
