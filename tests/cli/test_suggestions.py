"""Suggestions for misspelt words on the command line."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "likely"),
    [
        (("tool", "lsit"), 2, "list"),
        (("tool", "list", "--state", "actve"), 2, "active"),
        (("export", "--format", "openia"), 2, "openai"),
        (("completion", "bsh"), 2, "bash"),
        (("config", "set", "netwrok", "testnet"), 2, "network"),
        (("network", "use", "tesnet"), 3, "testnet"),
        (("network", "show", "-n", "mainet"), 3, "mainnet"),
        (("config", "set", "network", "devnt"), 3, "devnet"),
        (("schedule", "stop"), 2, "cancel"),
        (("schedule", "rm"), 2, "cancel"),
        (("workflow", "delete"), 2, "clean"),
        (("tool", "add"), 2, "new"),
        (("leader", "withdraw"), 2, "claim"),
        (("wallet", "ls"), 2, "list"),
    ],
)
def test_misspelled_word_gets_a_suggestion(home, arguments, code, likely):
    result = home.run(*arguments)
    assert result.code == code
    assert f"id you mean {likely}?" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "likely"),
    [
        (("localnet", "stop", "--name", "two"), "--network"),
        (("tool", "serve", "tools.py", "--port", "0"), "--bind"),
    ],
)
def test_option_of_another_command_gets_a_suggestion(home, arguments, likely):
    result = home.run(*arguments)
    assert result.code == 2
    assert f"Did you mean '{likely}'?" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("wallet", "show", "pubisher"),
        ("wallet", "use", "pubisher"),
        ("tool", "list", "--owner", "pubisher"),
        ("tool", "list", "-w", "pubisher", "--owner", "pubisher"),
    ],
)
def test_misspelled_key_gets_a_suggestion(home, arguments):
    home.json("wallet", "new", "publisher")
    result = home.run(*arguments)
    assert result.code == 3
    assert "Did you mean publisher?" in result.stderr


@pytest.mark.parametrize("verb", ["show", "unregister", "invoke", "claim"])
def test_misspelled_fqn_gets_a_suggestion(author, registered_fqn, verb):
    result = author.run("tool", verb, registered_fqn.replace("xyz.test", "xyz.tset"))
    assert result.code == 3
    assert f"Did you mean {registered_fqn}?" in result.stderr


def test_unregistered_version_gets_a_registered_one(author, registered_fqn):
    result = author.run("tool", "show", registered_fqn.replace("@1", "@2"))
    assert f"Did you mean {registered_fqn}?" in result.stderr


def test_fqn_with_only_a_correct_domain_gets_the_usual_hint(author, registered_fqn):
    result = author.run("tool", "show", "xyz.test.something-else-altogether@1")
    assert (result.code, "Did you mean" in result.stderr) == (3, False)
    assert "run `nexus-tools tool list` to see all tools" in result.stderr


def test_misspelled_setting_in_the_file_gets_a_suggestion(home):
    home.configure(netwrok="testnet")
    result = home.run("config", "show")
    assert result.code == 2
    assert "Did you mean network?" in result.stderr
