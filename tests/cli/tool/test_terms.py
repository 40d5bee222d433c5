"""Consent of an owner, and prompts for missing terms of a registration."""

import pytest

from tests.cli.conftest import Typist


@pytest.fixture
def arguments(definition, meta_file):
    """`tool register` of a tool with a price, and nothing else."""
    return ("tool", "register", "--from-meta", meta_file(definition), "--price", "0.01")


@pytest.fixture
def whose():
    """Return the kind of registry whose settings are raised."""
    return "tools"


@pytest.fixture
def raise_setting(publisher, whose):
    """Raise a setting while the command waits, and confirm the amount that it showed before."""
    before = publisher.json("admin", "show")[whose]
    configure = ("admin", "configure", whose)

    def raise_and_agree(setting, value):
        def line():
            # In a process of its own: the command that asks runs in this one.
            assert publisher.spawn(*configure, f"{setting}={value}", "--yes").code == 0
            return "y"

        return line

    yield raise_and_agree
    before.pop("revision", None)
    settings = [f"{name}={str(value).lower()}" for name, value in before.items()]
    publisher.json(*configure, *settings, "--yes")


def test_priced_tool_without_leaders_hints_at_option(author, arguments):
    result = author.run(*arguments, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, "accepts_any_leader")
    assert "--leader" in result.error["hint"]
    assert "leader list" in result.error["hint"]


def test_terminal_prompts_for_leaders(author, arguments, definition, operator, operator_leader):
    result = author.run(*arguments, stdin=Typist("operator", "y"))
    assert result.code == 0, result.stderr
    assert "Settled" in result.stderr  # the outcome of the invocation
    assert operator_leader in result.stderr
    assert f", for the leader operator ({operator_leader}), lock 1 SUI" in result.stderr
    assert author.json("tool", "show", definition["fqn"])["leaders"] == [operator_leader]


def test_leaders_are_named_by_id_and_name(author, arguments, definition, operator_leader):
    second = author.json("leader", "register", "--name", "other", "--yes")["leader"]
    author.json(*arguments, "--leader", operator_leader, "--leader", "other", "--yes")
    assert author.json("tool", "show", definition["fqn"])["leaders"] == [operator_leader, second]


def test_unknown_leader_is_rejected(author, arguments):
    assert author.fails(*arguments, "--leader", "nobody", "--yes") == (3, "leader_unknown")


def test_key_is_registered_in_same_transaction(
    author, arguments, definition, operator_leader, tmp_path
):
    made = author.json("tool", "key", "new", tmp_path / "key.pem")["public_key"]
    document = author.json(
        *(*arguments, "--leader", operator_leader, "--key", tmp_path / "key.pem"),
        *("--require-signed-outcome", "--min-outcome-bytes", "64", "--yes"),
    )
    assert document["keys"] == [made]
    assert document["events"][:3] == ["ToolRegistered", "CollateralLocked", "ToolKeyChanged"]
    tool = author.json("tool", "show", definition["fqn"])
    assert (tool["keys"], tool["requires_signed_outcome"]) == ([made], True)
    assert tool["min_outcome_bytes"] == 64


def test_signed_outcome_needs_key(author, arguments, operator_leader):
    options = ("--leader", operator_leader, "--require-signed-outcome", "--yes")
    result = author.run(*arguments, *options, "--json")
    assert (result.code, result.error["code"]) == (7, "signing_key_missing")
    assert "--key FILE" in result.error["hint"]


def test_terminal_offers_to_create_key(author, arguments, definition, operator_leader):
    options = ("--leader", operator_leader, "--require-signed-outcome")
    result = author.run(*arguments, *options, stdin=Typist("y", "y"))
    assert result.code == 0, result.stderr
    file = author.data / "signing_keys" / f"{definition['fqn']}.pem"
    assert f"--signing-key {file}" in result.stderr
    made = author.json("tool", "key", "show", file)["public_key"]
    assert author.json("tool", "show", definition["fqn"])["keys"] == [made]


def test_declined_key_is_not_created(author, arguments, definition, operator_leader):
    options = ("--leader", operator_leader, "--require-signed-outcome")
    assert author.run(*arguments, *options, stdin=Typist("n")).code == 1
    assert not (author.data / "signing_keys").exists()
    assert author.fails("tool", "show", definition["fqn"]) == (3, "tool_unknown")


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("collateral_mist", 2_000_000_000, "expected at least 2 SUI, got 1 SUI"),
        ("unregister_delay_ms", 5 * 86_400_000, "would be 5 d"),
    ],
)
def test_register_fails_when_terms_rise_after_prompt(
    publisher,
    author,
    arguments,
    definition,
    operator_leader,
    raise_setting,
    *,
    setting,
    value,
    words,
):
    publisher.json("admin", "configure", "tools", "unregister_delay_ms=86400000", "--yes")
    before = author.json("wallet", "show")["balance_mist"]
    agreeing = Typist(raise_setting(setting, value))
    result = author.run(*arguments, "--leader", operator_leader, stdin=agreeing)
    assert "claimable 1 d after unregistering" in result.stderr
    assert words in result.stderr
    assert result.code in (4, 7)
    assert author.json("wallet", "show")["balance_mist"] == before
    assert author.fails("tool", "show", definition["fqn"]) == (3, "tool_unknown")


@pytest.mark.parametrize("whose", ["leaders"])
@pytest.mark.parametrize("verb", ["register", "re-register"])
@pytest.mark.parametrize("setting", ["collateral_mist", "unregister_delay_ms"])
def test_leader_register_uses_shown_terms(publisher, stranger, raise_setting, verb, setting):
    publisher.json("admin", "configure", "leaders", "unregister_delay_ms=86400000", "--yes")
    options = ()
    if verb == "re-register":
        leader = stranger.json("leader", "register", "--yes")["leader"]
        options = ("--leader", leader)
        stranger.json("leader", "unregister", *options, "--yes")
        publisher.json("localnet", "advance-clock", "1d")
        stranger.json("leader", "claim", *options, "--yes")
    before = stranger.json("wallet", "show")["balance_mist"]
    value = {"collateral_mist": 11_000_000_000, "unregister_delay_ms": 5 * 86_400_000}[setting]
    result = stranger.run("leader", verb, *options, stdin=Typist(raise_setting(setting, value)))
    assert "lock 10 SUI, claimable 1 d after unregistering" in result.stderr
    assert result.code in (4, 7)
    assert stranger.json("wallet", "show")["balance_mist"] == before


@pytest.mark.parametrize("setting", ["collateral_mist", "unregister_delay_ms"])
def test_re_register_uses_shown_terms(publisher, author, registered_fqn, raise_setting, setting):
    publisher.json("admin", "configure", "tools", "unregister_delay_ms=86400000", "--yes")
    author.json("tool", "unregister", registered_fqn, "--yes")
    publisher.json("localnet", "advance-clock", "7d")
    author.json("tool", "claim", registered_fqn, "--yes")
    raise_to = {"collateral_mist": 2_000_000_000, "unregister_delay_ms": 5 * 86_400_000}
    agreeing = Typist(raise_setting(setting, raise_to[setting]))
    result = author.run("tool", "re-register", registered_fqn, stdin=agreeing)
    assert "lock 1 SUI, claimable 1 d after unregistering" in result.stderr
    assert result.code in (4, 7)
    assert author.json("tool", "show", registered_fqn)["state"] == "claimed"
