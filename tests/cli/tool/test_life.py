"""The life of a tool, from its registration to its return."""

import re
import shlex

import pytest


def test_a_tool_is_unregistered_claimed_and_brought_back(author, registered):
    gone = author.json("tool", "unregister", registered, "--yes")
    assert gone["events"] == ["Unregistered"]
    shown = author.json("tool", "show", registered)
    assert shown["state"] == "unregistered"
    assert shown["claimable_at_ms"] == gone["claimable_at_ms"]
    assert 6 * 86_400_000 < shown["claimable_in_ms"] <= 7 * 86_400_000

    author.json("localnet", "advance-clock", "1h30m")
    refused = author.run("tool", "claim", registered, "--yes")
    assert refused.code == 4
    assert "claimable at 20" in refused.stderr
    assert "(in 6 d 22 h)" in refused.stderr

    author.json("localnet", "advance-clock", "7d")
    before = author.json("wallet", "show")["balance_mist"]
    claimed = author.json("tool", "claim", registered, "--yes")
    assert claimed["amount_mist"] == 1_000_000_000
    after = author.json("wallet", "show")["balance_mist"]
    assert after - before == claimed["amount_mist"] - claimed["cost_mist"]
    assert author.json("tool", "show", registered)["state"] == "claimed"

    back = author.json("tool", "re-register", registered, "--yes")
    assert back["amount_mist"] == 1_000_000_000
    assert author.json("tool", "show", registered)["state"] == "active"


def test_an_unregistration_can_be_taken_back(author, registered):
    author.json("tool", "unregister", registered, "--yes")
    author.json("tool", "cancel-unregister", registered, "--yes")
    assert author.json("tool", "show", registered)["state"] == "active"
    assert author.fails("tool", "claim", registered, "--yes") == (4, "not_unregistered")


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        ("claim", "not_unregistered"),
        ("cancel-unregister", "not_unregistered"),
        ("re-register", "not_claimed"),
        ("top-up", "nothing_to_top_up"),
    ],
)
def test_a_verb_that_does_not_fit_the_state_is_too_early(author, registered, verb, code):
    result = author.run("tool", verb, registered, "--yes", "--json")
    assert (result.code, result.error["code"]) == (4, code)
    assert "tool or leader" not in result.error["message"]


def test_a_tool_is_not_unregistered_twice(author, registered):
    author.json("tool", "unregister", registered, "--yes")
    assert author.fails("tool", "unregister", registered, "--yes") == (4, "already_unregistered")


@pytest.mark.parametrize("verb", ["unregister", "cancel-unregister", "claim", "re-register"])
def test_only_the_owner_may(stranger, registered, verb):
    assert stranger.fails("tool", verb, registered, "--yes") == (8, "not_owner")


@pytest.mark.parametrize("verb", ["unregister", "claim", "show", "update"])
def test_a_tool_that_nobody_registered_is_not_found(author, verb):
    options = ["--price", "1", "--yes"] if verb == "update" else []
    options = ["--yes"] if verb in ("unregister", "claim") else options
    assert author.fails("tool", verb, "xyz.test.nobody@1", *options) == (3, "tool_unknown")


def test_a_dry_run_leaves_the_tool_as_it_is(author, registered):
    before = author.json("wallet", "show")
    document = author.json("tool", "unregister", registered, "--dry-run")
    assert (document["dry_run"], document["digest"]) == (True, None)
    assert document["claimable_at_ms"] > 0
    assert author.json("tool", "show", registered)["state"] == "active"
    assert author.json("wallet", "show") == before
    assert "nothing was signed" in author.run("tool", "unregister", registered, "--dry-run").stderr


def test_a_dry_run_finds_what_the_chain_would_refuse(author, registered):
    assert author.fails("tool", "claim", registered, "--dry-run") == (4, "not_unregistered")


def test_a_writer_prints_what_it_did_its_digest_and_its_cost(author, registered):
    result = author.run("tool", "unregister", registered, "--yes")
    assert result.code == 0
    assert "✓ unregistered" in result.stderr
    assert "digest" in result.stdout
    assert "cost" in result.stdout


def test_a_claim_that_is_too_early_works_after_its_hint(author, registered):
    told = author.run("tool", "unregister", registered, "--yes").stderr
    assert f"`nexus-tools tool claim {registered}`" in told
    refused = author.run("tool", "claim", registered, "--yes")
    (hint,) = re.findall("`(nexus-tools localnet advance-clock [^`]+)`", refused.stderr)
    assert author.run(*shlex.split(hint)[1:]).code == 0
    claim = f"nexus-tools tool claim {registered}"
    assert f"`{claim}`" in author.json("status")["next"]
    assert author.run(*shlex.split(claim)[1:], "--yes").code == 0
    again = author.run("tool", "claim", registered, "--yes").stderr
    assert f"Run `nexus-tools tool show {registered}` to see the state" in again
    assert author.json("status")["next"] is None


def test_a_claim_of_an_active_tool_names_the_command_before_it(author, registered):
    refused = author.run("tool", "claim", registered, "--yes").stderr
    assert f"`nexus-tools tool unregister {registered}`" in refused


def test_advance_clock_takes_durations_as_they_are_printed(author):
    advanced = author.json("localnet", "advance-clock", "1", "min", "5", "s")
    assert advanced["advanced_ms"] == 65_000
