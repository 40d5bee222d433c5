"""Output of `tool outcome`, and the search for an invocation."""

import json
import signal

import anyio
import pytest
from msgspec.structs import fields

from nexus_tools.contracts import Deployment
from nexus_tools.errors import UnreachableError
from nexus_tools.registry import Invocations, pages
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def invoke(user, fqn, text, *options):
    return user.json("tool", "invoke", fqn, "--input", text, *options, "--yes")


@pytest.fixture(scope="module")
def sleeper(seller):
    """Return a leader that the tool accepts and that does not run."""
    leader = seller.json("leader", "register", "--inactive", "--yes")["leader"]
    seller.json("tool", "leaders", "add", NAP, leader, "--yes")
    return leader


@pytest.fixture
def idle_leader(seller, sleeper):
    """The id of a leader that can be named, and closes nothing."""
    seller.json("leader", "activate", "--leader", sleeper, "--yes")
    yield sleeper
    seller.json("leader", "deactivate", "--leader", sleeper, "--yes")


@pytest.fixture
def request_unclosed(requester, idle_leader):
    """Request an invocation that stays open. Return its ID."""

    def request():
        options = ("--leader", idle_leader, "--no-wait")
        return invoke(requester, NAP, "{}", *options)["invocation"]

    return request


def test_explain_reports_steps_checks_and_payments(requester, operator_leader, seller):
    done = invoke(requester, DIVIDE, '{"dividend": 84, "divisor": 2}', "--delete")
    why = requester.json("tool", "outcome", done["invocation"], "--explain")
    assert (why["state"], why["variant"]) == ("settled", "ok")
    assert "output schema" in why["check"]
    steps = {step["event"]: step for step in why["steps"]}
    assert list(steps) == ["requested", "settled", "deleted"]
    verbs = {"requested": "request", "settled": "close", "deleted": "delete"}
    assert {what: step["digest"] for what, step in steps.items()} == {
        what: done["transactions"][verb]["digest"] for what, verb in verbs.items()
    }
    address = requester.json("wallet", "show")["address"]
    assert steps["requested"]["signed_by"] == steps["deleted"]["signed_by"] == address
    assert steps["settled"]["leader"] == operator_leader
    assert why["windows"][0]["state"] == "closed"
    money = why["money"]
    assert (money["price_mist"], money["deleted"]) == (10_000_000, True)
    assert money["price_paid_to"] == seller.json("wallet", "show")["address"]
    parts = money["price_mist"] + money["fee_mist"] + money["refund_mist"]
    assert parts == money["prepaid_mist"]


def test_explain_names_the_signer_of_a_deletion(requester, operator_leader):
    done = invoke(requester, DIVIDE, '{"dividend": 84, "divisor": 2}', "--delete")
    lines = requester.run("tool", "outcome", done["invocation"], "--explain").stdout.splitlines()
    [settled] = [line for line in lines if line.split()[0] == "settled"]
    [deleted] = [line for line in lines if line.split()[0] == "deleted"]
    assert f"by leader {operator_leader}" in settled
    assert f"by {requester.json('wallet', 'show')['address']}" in deleted
    assert "leader" not in deleted


def test_explain_names_the_failed_check(requester):
    result = requester.run(
        *("tool", "invoke", NAP, "--input", '{"ending": "crash", "duration_ms": 0}'),
        *("--yes", "--json"),
    )
    place = result.document["invocation"]
    why = requester.json("tool", "outcome", place, "--explain")
    assert (why["state"], why["reason"]) == ("failed", "http_error")
    assert "status" in why["check"]
    assert why["money"]["price_mist"] == 0
    shown = requester.run("tool", "outcome", place, "--explain").stdout
    assert "0 SUI" in shown
    assert "closed it" in shown
    assert "(in " not in shown


def test_explain_reports_a_leader_that_missed_its_window(requester, idle_leader, request_unclosed):
    place = request_unclosed()
    before = requester.json("tool", "outcome", place, "--explain")
    assert before["state"] == "requested"
    [window] = before["windows"]
    assert (window["leader"], window["state"]) == (idle_leader, "has_time")
    assert before["money"]["refund_mist"] is None
    requester.json("localnet", "advance-clock", "5m")
    after = requester.json("tool", "outcome", place, "--explain")
    assert [one["state"] for one in after["windows"]] == ["missed"]
    assert f"`nexus-tools tool outcome {place} --delete`" in after["check"]
    requester.json("tool", "outcome", place, "--delete", "--yes")
    ended = requester.json("tool", "outcome", place, "--explain")
    assert ended["state"] == "expired"
    assert ended["money"]["refund_mist"] == ended["money"]["prepaid_mist"]


@pytest.mark.parametrize("options", [("--yes",), ("--dry-run",), ("--yes", "-q")])
def test_delete_prints_the_outcome(requester, options):
    done = invoke(requester, DIVIDE, '{"dividend": 85, "divisor": 2}')
    shown = requester.run("tool", "outcome", done["invocation"])
    deleted = requester.run("tool", "outcome", done["invocation"], "--delete", *options)
    assert (shown.code, deleted.code) == (0, 0)
    assert deleted.stdout.startswith(shown.stdout)
    assert '"quotient": 42' in deleted.stdout


@pytest.mark.parametrize("options", [("--yes",), ("--yes", "--json")])
@pytest.mark.parametrize("verb", ["invoke", "outcome"])
def test_outcome_is_printed_if_the_response_to_a_deletion_is_lost(
    requester, monkeypatch, verb, options
):
    delete = Invocations.delete

    async def lose_response(service, *places):
        sent = await delete(service, *places)
        if not service.dry_run:
            raise UnreachableError("node_unreachable", "the node does not respond")
        return sent

    inputs = ("--input", '{"dividend": 85, "divisor": 2}')
    arguments = ("tool", "invoke", DIVIDE, *inputs)
    if verb == "outcome":
        place = requester.json(*arguments, "--yes")["invocation"]
        arguments = ("tool", "outcome", place)
    monkeypatch.setattr(Invocations, "delete", lose_response)
    result = requester.run(*arguments, "--delete", *options)
    assert result.code == 6
    assert '"quotient": 42' in result.stdout
    if "--json" in options:
        assert result.document["ports"] == {"quotient": 42, "remainder": 1}


def test_explain_and_delete_exclude_each_other(requester):
    assert requester.fails("tool", "outcome", "0x1", "--explain", "--delete") == (
        2,
        "explain_and_delete",
    )


def test_explain_of_an_unknown_invocation_is_not_found(requester):
    result = requester.run("tool", "outcome", f"0x{'ab' * 32}", "--explain", "--json")
    assert (result.code, result.error["code"]) == (3, "invocation_unknown")
    assert "--explain" not in result.error["hint"]


def test_outcome_shows_deadline_and_expiry(requester, request_unclosed):
    place = request_unclosed()
    before = requester.json("tool", "outcome", place)
    assert before["expired"] is False
    assert before["expires_at_ms"] > before["requested_at_ms"]
    assert "deadline" in requester.run("tool", "outcome", place).stdout
    requester.json("localnet", "advance-clock", "5m")
    assert requester.json("tool", "outcome", place)["expired"] is True
    assert "expired: pass --delete for a refund" in requester.run("tool", "outcome", place).stdout


def test_list_shows_the_newest_pending_invocations(requester, request_unclosed):
    assert requester.json("invocation", "list") == []
    places = [request_unclosed() for _ in range(3)]
    listed = requester.json("invocation", "list")
    assert [row["invocation"] for row in listed] == places[::-1]
    assert {row["state"] for row in listed} == {"requested"}
    first = requester.run("invocation", "list", "--limit", "2")
    assert places[2] in first.stdout
    assert places[0] not in first.stdout
    assert "showing the newest 2. Pass --all to list older invocations" in first.stderr
    every = requester.json("invocation", "list", "--limit", "2", "--all")
    assert [row["invocation"] for row in every] == places[::-1]


def test_closed_invocations_are_listed_with_closed_and_deleted_together(requester):
    places = {invoke(requester, NAP, '{"duration_ms": 0}')["invocation"] for _ in range(2)}
    pending = requester.run("invocation", "list")
    assert (pending.code, pending.stdout) == (0, "")
    assert "2 closed invocations can be deleted" in pending.stderr
    rows = requester.json("invocation", "list", "--closed")
    assert {row["invocation"] for row in rows} == places
    assert {(row["state"], row["payment_mist"]) for row in rows} == {("settled", 0)}
    deleted = requester.json("invocation", "delete", "--closed", "--yes")
    assert deleted["events"] == ["InvocationDeleted"] * 2
    assert deleted["cost_mist"] < 0  # the rebate is more than the gas
    assert requester.json("invocation", "list", "--closed") == []
    again = requester.run("invocation", "delete", "--closed", "--yes")
    assert (again.code, again.stdout) == (0, "")


def test_delete_of_closed_invocations_lists_them_and_warns_about_outcomes(requester):
    place = invoke(requester, NAP, '{"duration_ms": 0}')["invocation"]
    asked = requester.run("invocation", "delete", "--closed")
    assert asked.code == 2
    [row] = [line.split() for line in asked.stderr.splitlines() if place in line]
    assert row == [place, NAP, "settled", "ok"]
    assert "deleted 1 invocation with all outcomes" in asked.stderr
    deleted = requester.run("invocation", "delete", "--closed", "--yes")
    assert deleted.code == 0
    assert place in deleted.stderr


def test_list_and_delete_say_how_far_they_searched(requester, request_unclosed, monkeypatch):
    oldest = invoke(requester, NAP, '{"duration_ms": 0}')["invocation"]
    places = [request_unclosed() for _ in range(3)]
    monkeypatch.setattr(pages, "MAX_SCANNED", 2)
    newest = requester.run("invocation", "list")
    assert places[2] in newest.stdout
    assert places[0] not in newest.stdout
    assert "searched the requests back to checkpoint" in newest.stderr
    every = requester.json("invocation", "list", "--all")
    assert [row["invocation"] for row in every] == places[::-1]
    bounded = requester.run("invocation", "delete", "--closed", "--yes")
    assert bounded.code == 0
    assert "no closed invocations to delete" in bounded.stderr
    assert "searched the requests back to checkpoint" in bounded.stderr
    deleted = requester.json("invocation", "delete", "--closed", "--all", "--yes")
    assert (deleted["invocations"], deleted["left"]) == ([oldest], 0)


def test_delete_needs_existing_invocations(requester):
    assert requester.fails("invocation", "delete", "--yes") == (2, "invocation_missing")
    assert requester.fails("invocation", "delete", f"0x{'ab' * 32}", "--yes") == (
        3,
        "invocation_unknown",
    )


def test_list_omits_invocations_of_others(requester, stranger):
    invoke(requester, NAP, '{"duration_ms": 0}')
    assert stranger.json("invocation", "list", "--closed") == []


def test_outcome_shows_leaders_cost_and_refund(requester, operator_leader):
    done = invoke(requester, DIVIDE, '{"dividend": 1, "divisor": 0}')
    shown = requester.json("tool", "outcome", done["invocation"])
    assert (shown["leaders"], shown["leader"]) == ([operator_leader], operator_leader)
    assert shown["payment_mist"] == 0
    spent = shown["price_mist"] + shown["fee_mist"] + shown["refund_mist"]
    assert (
        spent
        == requester.json("tool", "outcome", done["invocation"], "--explain")["money"][
            "prepaid_mist"
        ]
    )


def test_outcome_reads_failure_detail_from_the_event(requester):
    arguments = ("--input", '{"ending": "crash", "duration_ms": 0}', "--yes", "--json")
    place = requester.run("tool", "invoke", NAP, *arguments).document["invocation"]
    shown = requester.json("tool", "outcome", place)
    assert (shown["state"], shown["reason"]) == ("failed", "http_error")
    assert shown["detail"]


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_interrupted_wait_names_the_outcome_command(requester, idle_leader, number):
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--leader", idle_leader, "--yes", "--json")
    waiting = requester.daemon("prepaid", *arguments)
    place = waiting.line.split()[1].rstrip(",")
    ended = waiting.end(getattr(signal, number))
    assert ended.code == 130
    assert f"nexus-tools tool outcome {place} --wait" in ended.stderr
    assert ended.document["invocation"] == place
    assert [row["invocation"] for row in requester.json("invocation", "list")] == [place]


# --- Answers that break the output schema


@pytest.fixture
def settle(seller, chain, idle_leader):
    """Settle an invocation as the leader that does not run."""
    known = seller.json("package", "show")
    deployment = Deployment.parse({each.name: known[each.name] for each in fields(Deployment)})

    def settle(place, answer):
        async def run():
            network = Network("test", chain.url, chain.url)
            async with SuiClient(network, seller.wallet.signer()) as client:
                closed = {Address.parse(place): answer}
                await Invocations(client, deployment).close(Address.parse(idle_leader), closed)

        anyio.run(run)

    return settle


BAD = Answer("no_such", {"text": "free"})


def test_outcome_shows_an_invalid_answer_and_fails(requester, request_unclosed, settle):
    place = request_unclosed()
    settle(place, BAD)
    for wait in ((), ("--wait",)):
        result = requester.run("tool", "outcome", place, *wait, "--json")
        assert (result.code, result.error["code"]) == (7, "output_invalid")
        assert result.document["variant"] == "no_such"
        assert result.document["ports"] == {"text": "free"}
        assert "is not a variant of the tool" in result.document["output_invalid"]
    shown = requester.run("tool", "outcome", place)
    assert shown.code == 7
    assert "no_such" in shown.stdout
    deleted = requester.run("tool", "outcome", place, "--delete", "--yes")
    assert deleted.code == 0
    assert "violates the tool's output schema" in deleted.stderr


def test_invoke_keeps_and_shows_an_invalid_answer_and_fails(requester, idle_leader, settle):
    arguments = (
        "tool",
        "invoke",
        NAP,
        "--input",
        "{}",
        "--leader",
        idle_leader,
        "--delete",
        "--yes",
    )
    waiting = requester.daemon("prepaid", *arguments, "--json")
    place = waiting.line.split()[1].rstrip(",")
    settle(place, Answer("ok", {"slept_ms": "long"}))
    out, err = waiting.process.communicate(timeout=30)
    assert waiting.process.returncode == 7
    document = json.loads(out)
    assert (document["variant"], document["ports"]) == ("ok", {"slept_ms": "long"})
    error = json.loads(err.splitlines()[-1])["error"]
    assert (error["code"], error["details"]["invocation"]) == ("output_invalid", place)
    assert requester.fails("tool", "outcome", place) == (7, "output_invalid")
