import json
import re

import pytest

from nexus_tools.sui.support.units import sui
from tests.cli.conftest import Typist

DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def balance(user):
    return user.json("wallet", "show")["balance_mist"]


def test_invoke_returns_the_outcome_on_chain(requester, operator_leader, seller):
    before, earned = balance(requester), balance(seller)
    document = requester.json(
        "tool", "invoke", DIVIDE, "--input", '{"dividend": 84, "divisor": 2}', "--yes"
    )
    assert document["state"] == "settled"
    assert (document["variant"], document["ports"]) == ("ok", {"quotient": 42, "remainder": 0})
    assert (document["leaders"], document["leader"]) == ([operator_leader], operator_leader)
    assert document["choice"] == {"candidates": 1, "closings": 0, "unread": 0}
    assert all(one["digest"] for one in document["transactions"].values())
    assert before - balance(requester) == document["paid_mist"]
    parts = ("price_mist", "fee_mist", "gas_mist")
    assert document["paid_mist"] == sum(document[part] for part in parts)
    assert balance(seller) - earned == 10_000_000


def test_input_without_option_names_the_option(requester):
    result = requester.run("tool", "invoke", DIVIDE, "dividend=84", "divisor=2", "--json")
    assert (result.code, result.error["code"]) == (2, "usage")
    assert result.error["hint"] == "Pass inputs with --input dividend=84 --input divisor=2."


def test_track_record_counts_settled_invocations_but_no_tool_failures(requester, operator_leader):
    def record():
        rows = requester.json("leader", "list", "--tool", DIVIDE)
        return next(row for row in rows if row["leader"] == operator_leader)

    before = record()
    requester.json("tool", "invoke", DIVIDE, "--input", '{"dividend": 1, "divisor": 1}', "--yes")
    crash = '{"ending": "crash", "duration_ms": 0}'
    assert requester.run("tool", "invoke", NAP, "--input", crash, "--yes").code == 1
    after = record()
    counted = [after[what] - before[what] for what in ("settled", "failed", "missed")]
    assert counted == [1, 0, 0]
    assert after["latency_ms"] is not None
    assert "Latency" in requester.run("leader", "list").stdout


def test_invoke_returns_an_error_variant_as_an_outcome(requester):
    document = requester.json(
        "tool", "invoke", DIVIDE, "--input", '{"dividend": 1, "divisor": 0}', "--yes"
    )
    assert document["variant"] == "err_division_by_zero"
    assert document["ports"] == {"reason": "1 cannot be divided by zero"}


def test_input_is_read_from_a_file_or_stdin(requester, tmp_path):
    (tmp_path / "input.json").write_text('{"dividend": 9, "divisor": 4}')
    of_file = requester.json(
        "tool", "invoke", DIVIDE, "--input", f"@{tmp_path}/input.json", "--yes"
    )
    of_stdin = requester.run(
        "tool",
        "invoke",
        DIVIDE,
        "--input",
        "-",
        "--yes",
        "--json",
        stdin='{"dividend": 9, "divisor": 4}',
    )
    assert of_file["ports"] == of_stdin.document["ports"] == {"quotient": 2, "remainder": 1}


def test_invoke_fails_when_the_tool_raises(requester):
    result = requester.run(
        "tool", "invoke", NAP, "--input", '{"ending": "crash", "duration_ms": 0}', "--yes", "--json"
    )
    assert (result.code, result.error["code"]) == (1, "invocation_failed")
    assert (result.document["state"], result.document["reason"]) == ("failed", "http_error")


def test_outcome_deletes_a_closed_invocation_for_its_rebate(requester):
    document = requester.json(*("tool", "invoke", NAP, "--input", '{"duration_ms": 0}', "--yes"))
    assert set(document["transactions"]) == {"request", "close"}
    place = document["invocation"]
    shown = requester.json("tool", "outcome", place)
    assert shown["ports"] == document["ports"] == {"slept_ms": 0}
    assert shown["digest"] == document["transactions"]["close"]["digest"]
    assert "deadline" not in requester.run("tool", "outcome", place).stdout  # it is over
    before = balance(requester)
    deleted = requester.json("tool", "outcome", place, "--delete", "--yes")
    assert deleted["events"] == ["InvocationDeleted"]
    assert balance(requester) - before == -deleted["cost_mist"] > 0
    assert requester.fails("tool", "outcome", place) == (3, "invocation_unknown")


def test_outcome_waits_for_a_request_sent_without_waiting(requester):
    arguments = ("tool", "invoke", NAP, "--input", '{"duration_ms": 300}', "--no-wait", "--yes")
    document = requester.json(*arguments)
    assert document["events"] == ["InvocationRequested"]
    shown = requester.json("tool", "outcome", document["invocation"], "--wait")
    assert (shown["state"], shown["ports"]) == ("settled", {"slept_ms": 300})


def test_dry_run_requests_nothing(requester):
    before = balance(requester)
    arguments = ("tool", "invoke", DIVIDE, "--input", '{"dividend": 1, "divisor": 1}', "--dry-run")
    document = requester.json(*arguments)
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["prepaid_mist"] > 10_000_000
    assert balance(requester) == before


def test_invoke_fails_above_the_maximum_cost(requester):
    arguments = ("--input", '{"dividend": 1, "divisor": 1}', "--max-cost", "0.001", "--yes")
    assert requester.fails("tool", "invoke", DIVIDE, *arguments) == (4, "too_expensive")


def test_invoke_pays_no_more_than_the_question_said(requester, publisher):
    settings = ("admin", "configure", "leaders")
    inputs = ("tool", "invoke", DIVIDE, "--input", '{"dividend": 1, "divisor": 1}')
    shown = requester.json(*inputs, "--dry-run")["prepaid_mist"]
    fee = publisher.json("admin", "show")["leaders"]["fee_per_outcome_byte_mist"]

    def agree():
        publisher.spawn(*settings, "fee_per_outcome_byte_mist=100000", "--yes")
        return "y"

    funds = balance(requester)
    result = requester.run(*inputs, stdin=Typist(agree))
    publisher.json(*settings, f"fee_per_outcome_byte_mist={fee}", "--yes")
    assert result.code == 4
    assert "the invocation costs" in result.stderr
    assert f"the limit is {sui(shown)}" in result.stderr
    assert balance(requester) == funds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"dividend": 1', "json_invalid"),
        ('{"dividend": 1, "dividend": 2, "divisor": 1}', "json_invalid"),
        ('{"dividend": 1}', "input_invalid"),
        ('{"dividend": "1", "divisor": 1}', "input_invalid"),
    ],
)
def test_invalid_input_is_rejected_before_payment(requester, text, code):
    before = balance(requester)
    assert requester.fails("tool", "invoke", DIVIDE, "--input", text, "--yes") == (7, code)
    assert balance(requester) == before


def test_quiet_request_prints_only_the_id(requester):
    arguments = ("tool", "invoke", NAP, "--input", "duration_ms=0", "--no-wait", "-q", "--yes")
    done = requester.run(*arguments)
    assert done.code == 0, done.stderr
    assert requester.json("tool", "outcome", done.stdout.strip(), "--wait")["fqn"] == NAP
    assert done.stderr == ""


def test_input_must_be_a_json_object(requester):
    for text in ("[1, 2]", '"text"', "5"):
        refused = requester.fails("tool", "invoke", DIVIDE, "--input", text, "--yes")
        assert refused == (2, "input_malformed")


def test_inputs_are_passed_by_name(requester, tmp_path):
    (tmp_path / "divisor.json").write_text("4")
    inputs = ("--input", "dividend=9", "--input", f"divisor=@{tmp_path}/divisor.json")
    document = requester.json("tool", "invoke", DIVIDE, *inputs, "--yes")
    assert document["ports"] == {"quotient": 2, "remainder": 1}
    mixed = ("--input", "dividend=9", "--input", '{"divisor": 4}', "--input", "divisor=5")
    assert requester.fails("tool", "invoke", DIVIDE, *mixed, "--yes") == (2, "input_duplicate")


def test_number_for_a_string_port_has_a_hint_about_quotes(requester):
    count = ("tool", "invoke", "xyz.example.text.count_words@1", "--input", "text=42", "--yes")
    result = requester.run(*count, "--json")
    assert result.error["code"] == "input_invalid"
    assert """To pass it as a string, use --input text='"42"'""" in result.error["hint"]
    missing = requester.run("tool", "invoke", DIVIDE, "--input", "dividend=1", "--yes", "--json")
    assert "To pass it as a string" not in missing.error["hint"]


@pytest.mark.parametrize(
    ("fqn", "text"), [(NAP, "duration_ms=99000"), (DIVIDE, "divisor=1.5"), (DIVIDE, "divisor=null")]
)
def test_port_that_rejects_strings_has_no_hint_about_quotes(requester, fqn, text):
    inputs = ("--input", "dividend=1") if fqn == DIVIDE else ()
    result = requester.run("tool", "invoke", fqn, *inputs, "--input", text, "--yes", "--json")
    assert result.error["code"] == "input_invalid"
    assert "as a string" not in result.error["hint"]


def test_invalid_input_error_lists_locations(requester):
    result = requester.run(
        "tool", "invoke", DIVIDE, "--input", '{"dividend": "1", "divisor": 1}', "--yes"
    )
    assert "/dividend:" in result.stderr
    assert f"nexus-tools tool show {DIVIDE}" in result.stderr


def test_invalid_input_error_is_printed_once(requester):
    text = '{"dividend": 1}'
    result = requester.run("tool", "invoke", DIVIDE, "--input", text, "--yes")
    assert result.stderr.count("divisor") == 1


def test_invoke_prints_price_and_payee(requester, seller):
    text = '{"dividend": 84, "divisor": 2}'
    shown = requester.run("tool", "invoke", DIVIDE, "--input", text, "--yes").stdout
    payee = seller.json("wallet", "show")["address"]
    assert re.search(rf"^  price +0\.01 SUI to {payee}$", shown, re.MULTILINE)


def test_exceeded_outcome_size_error_names_the_option(requester):
    limit = ("--max-outcome-bytes", "2", "--yes")
    result = requester.run(
        "tool", "invoke", DIVIDE, "--input", '{"dividend": 84, "divisor": 2}', *limit
    )
    assert result.code == 1
    assert "2 are paid for" in result.stderr
    assert "Pass a larger --max-outcome-bytes" in result.stderr


def test_invalid_json_error_hints_at_a_file(requester):
    result = requester.run("tool", "invoke", DIVIDE, "--input", "{dividend: 1}", "--yes", "--json")
    assert "--input @FILE" in result.error["hint"]


def test_invoke_rejects_unregistered_tool(requester, registered_fqn):
    requester.json("tool", "unregister", registered_fqn, "--yes")
    arguments = ("tool", "invoke", registered_fqn, "--input", json.dumps({"a": 1, "b": 2}), "--yes")
    assert requester.fails(*arguments) == (4, "tool_not_active")
    revived = f"`nexus-tools tool cancel-unregister {registered_fqn} --wallet OWNER`"
    assert revived in requester.run(*arguments, "--wallet", "author").stderr


def test_delete_option_deletes_the_invocation_and_counts_the_rebate(requester):
    before = balance(requester)
    document = requester.json(
        *("tool", "invoke", NAP, "--input", '{"duration_ms": 0}', "--delete", "--yes")
    )
    assert set(document["transactions"]) == {"request", "close", "delete"}
    assert before - balance(requester) == document["paid_mist"]
    place = document["invocation"]
    assert requester.fails("tool", "outcome", place) == (3, "invocation_unknown")


def test_confirmation_prompt_names_the_leader(requester, operator_leader):
    asked = requester.run("tool", "invoke", NAP, "--input", "{}")
    assert asked.code == 2
    assert f"with the leader {operator_leader}?" in asked.stderr


def test_leader_option_accepts_id_or_name(requester, operator_leader):
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--dry-run", "--leader")
    assert requester.json(*arguments, operator_leader)["leaders"] == [operator_leader]
    assert requester.json(*arguments, "operator")["leaders"] == [operator_leader]
    assert requester.fails(*arguments, "nobody") == (3, "leader_unknown")
    assert requester.fails(*arguments, f"0x{'ab' * 32}") == (3, "leader_unknown")


def test_ambiguous_leader_name_is_rejected(requester, seller, chain):
    chain.fund(requester.wallet.signer().address, 10 * 10**9)
    first = requester.json("leader", "register", "--name", "twin", "--yes")["leader"]
    second = seller.json("leader", "register", "--name", "twin", "--yes")["leader"]
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--dry-run", "--leader", "twin")
    result = requester.run(*arguments, "--json")
    assert (result.code, result.error["code"]) == (2, "leader_ambiguous")
    assert first in result.error["hint"]
    assert second in result.error["hint"]


def test_leader_that_the_tool_does_not_accept_is_rejected(requester):
    leader = requester.json("leader", "register", "--name", "uninvited", "--yes")["leader"]
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--yes", "--leader", leader)
    assert requester.fails(*arguments) == (4, "no_leader")


def test_leaders_setting_applies_and_the_option_overrides_it(requester, operator_leader):
    other = requester.json("leader", "register", "--name", "mine", "--yes")["leader"]
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--dry-run")
    requester.json("config", "set", "leaders", f"{other},{operator_leader}")
    assert requester.json(*arguments)["leaders"] == [operator_leader]  # the tool lists but this one
    requester.json("config", "set", "leaders", other)
    refused = requester.run(*arguments, "--json")
    assert (refused.code, refused.error["code"]) == (4, "no_leader")
    assert "the setting `leaders`" in refused.error["hint"]
    assert requester.json(*arguments, "--leader", operator_leader)["leaders"] == [operator_leader]
    environment = {"NEXUS_TOOLS_LEADERS": operator_leader}
    assert requester.json(*arguments, **environment)["leaders"] == [operator_leader]


def test_leaders_setting_accepts_only_ids(author):
    assert author.fails("config", "set", "leaders", "mine") == (7, "address_invalid")


def test_unclosed_invocation_expires_and_is_refunded_in_full(requester, seller, chain):
    idle = seller.json("leader", "register", "--name", "idle", "--yes")["leader"]
    seller.json("tool", "leaders", "add", NAP, idle, "--yes")
    rehearsed = requester.run("tool", "invoke", NAP, "--input", "{}", "--dry-run")
    assert re.search(
        r" \(chosen from 2 candidates by \d+ closings?\)", rehearsed.stdout + rehearsed.stderr
    )
    arguments = ("tool", "invoke", NAP, "--input", "{}", "--no-wait", "--leader", idle, "--yes")
    requested = requester.json(*arguments)
    assert requested["choice"] is None
    place = requested["invocation"]
    assert requester.fails("tool", "outcome", place, "--delete", "--yes") == (4, "not_expired")
    requester.json("localnet", "advance-clock", "5m")
    shown = requester.run("tool", "outcome", place).stdout
    assert re.search(r"^  state +expired$", shown, re.MULTILINE)
    before = balance(requester)
    document = requester.json("tool", "outcome", place, "--delete", "--yes")
    assert document["events"] == ["InvocationExpired", "InvocationDeleted"]
    assert balance(requester) - before == requested["prepaid_mist"] - document["cost_mist"]
    missed = [
        {row["leader"]: row["missed"] for row in user.json("leader", "list")}
        for user in (requester, seller)
    ]
    assert [rows[idle] for rows in missed] == [1, 0]  # only for the requester
    seller.json("leader", "deactivate", "--leader", idle, "--yes")
    seller.json("tool", "leaders", "remove", NAP, idle, "--yes")
    assert requester.fails(*arguments) == (4, "no_leader")
