"""The life of a tool, from its registration to its return."""

import re
import shlex

import pytest


def test_tool_is_unregistered_claimed_and_re_registered(author, registered_fqn):
    gone = author.json("tool", "unregister", registered_fqn, "--yes")
    assert gone["events"] == ["Unregistered"]
    shown = author.json("tool", "show", registered_fqn)
    assert shown["state"] == "unregistered"
    assert shown["claimable_at_ms"] == gone["claimable_at_ms"]
    assert 6 * 86_400_000 < shown["claimable_in_ms"] <= 7 * 86_400_000

    author.json("localnet", "advance-clock", "1h30m")
    refused = author.run("tool", "claim", registered_fqn, "--yes")
    assert refused.code == 4
    assert "claimable at 20" in refused.stderr
    assert "(in 6 d 22 h)" in refused.stderr

    author.json("localnet", "advance-clock", "7d")
    before = author.json("wallet", "show")["balance_mist"]
    claimed = author.json("tool", "claim", registered_fqn, "--yes")
    assert claimed["amount_mist"] == 1_000_000_000
    after = author.json("wallet", "show")["balance_mist"]
    assert after - before == claimed["amount_mist"] - claimed["cost_mist"]
    assert author.json("tool", "show", registered_fqn)["state"] == "claimed"

    back = author.json("tool", "re-register", registered_fqn, "--yes")
    assert back["amount_mist"] == 1_000_000_000
    assert author.json("tool", "show", registered_fqn)["state"] == "active"


def test_cancel_unregister_restores_the_tool(author, registered_fqn):
    author.json("tool", "unregister", registered_fqn, "--yes")
    author.json("tool", "cancel-unregister", registered_fqn, "--yes")
    assert author.json("tool", "show", registered_fqn)["state"] == "active"
    assert author.fails("tool", "claim", registered_fqn, "--yes") == (4, "not_unregistered")


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        ("claim", "not_unregistered"),
        ("cancel-unregister", "not_unregistered"),
        ("re-register", "not_claimed"),
        ("top-up", "nothing_to_top_up"),
    ],
)
def test_commands_reject_tool_in_the_wrong_state(author, registered_fqn, verb, code):
    result = author.run("tool", verb, registered_fqn, "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, code)
    assert "tool or leader" not in result.error["message"]


def test_unregister_rejects_unregistered_tool(author, registered_fqn):
    author.json("tool", "unregister", registered_fqn, "--yes")
    assert author.fails("tool", "unregister", registered_fqn, "--yes") == (
        4,
        "already_unregistered",
    )


@pytest.mark.parametrize("verb", ["unregister", "cancel-unregister", "claim", "re-register"])
def test_commands_require_the_owner(stranger, registered_fqn, verb):
    assert stranger.fails("tool", verb, registered_fqn, "--yes") == (8, "not_owner")


@pytest.mark.parametrize("verb", ["unregister", "claim", "show", "update"])
def test_commands_report_unknown_tool(author, verb):
    options = ["--price", "1", "--yes"] if verb == "update" else []
    options = ["--yes"] if verb in ("unregister", "claim") else options
    assert author.fails("tool", verb, "xyz.test.nobody@1", *options) == (3, "tool_unknown")


def test_dry_run_does_not_change_the_tool(author, registered_fqn):
    before = author.json("wallet", "show")
    document = author.json("tool", "unregister", registered_fqn, "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["claimable_at_ms"] > 0
    assert author.json("tool", "show", registered_fqn)["state"] == "active"
    assert author.json("wallet", "show") == before
    assert (
        "nothing was signed" in author.run("tool", "unregister", registered_fqn, "--dry-run").stderr
    )


def test_dry_run_reports_rejection_by_the_chain(author, registered_fqn):
    assert author.fails("tool", "claim", registered_fqn, "--dry-run") == (4, "not_unregistered")


def test_transaction_command_prints_result_digest_and_cost(author, registered_fqn):
    result = author.run("tool", "unregister", registered_fqn, "--yes")
    assert result.code == 0
    assert "✓ unregistered" in result.stderr
    assert "digest" in result.stdout
    assert "cost" in result.stdout


def test_early_claim_works_after_its_hint(author, registered_fqn):
    told = author.run("tool", "unregister", registered_fqn, "--yes").stderr
    assert f"`nexus-tools tool claim {registered_fqn}`" in told
    refused = author.run("tool", "claim", registered_fqn, "--yes")
    (hint,) = re.findall("`(nexus-tools localnet advance-clock [^`]+)`", refused.stderr)
    assert author.run(*shlex.split(hint)[1:]).code == 0
    claim = f"nexus-tools tool claim {registered_fqn}"
    assert f"`{claim}`" in author.json("status")["next"]
    assert author.run(*shlex.split(claim)[1:], "--yes").code == 0
    again = author.run("tool", "claim", registered_fqn, "--yes").stderr
    assert f"Run `nexus-tools tool show {registered_fqn}` to see the state" in again
    assert author.json("status")["next"] is None


def test_claim_of_an_active_tool_hints_at_unregister(author, registered_fqn):
    refused = author.run("tool", "claim", registered_fqn, "--yes").stderr
    assert f"`nexus-tools tool unregister {registered_fqn}`" in refused


def test_advance_clock_takes_durations_as_they_are_printed(author):
    advanced = author.json("localnet", "advance-clock", "1", "min", "5", "s")
    assert advanced["advanced_ms"] == 65_000
