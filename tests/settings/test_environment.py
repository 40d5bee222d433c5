import re

import click
import pytest

from nexus_tools.cli.app import app
from nexus_tools.errors import UsageError
from nexus_tools.settings import environment
from nexus_tools.settings.environment import read

NAMES = ("network", "wallet")


def refusal(variables, **options):
    with pytest.raises(UsageError) as caught:
        read("OURS_", NAMES, variables, **options)
    return caught.value


def test_read_returns_variables_by_name():
    assert read("OURS_", NAMES, {"OURS_NETWORK": "testnet"}) == {"network": "testnet"}


def test_empty_variable_counts_as_unset():
    assert read("OURS_", NAMES, {"OURS_NETWORK": ""}) == {}


def test_other_prefixes_are_ignored():
    assert read("OURS_", NAMES, {"THEIRS_NETWORK": "x", "NOT_OURS_NETWORK": "x"}) == {}


def test_misspelled_variable_is_rejected_with_suggestion():
    error = refusal({"OURS_NETWROK": "secret.example.com"})
    assert (error.code, error.hint) == ("variable_unknown", "Did you mean OURS_NETWORK?")
    assert "OURS_NETWROK" in error.message
    assert "secret.example.com" not in str(error)


def test_empty_misspelled_variable_is_rejected():
    assert refusal({"OURS_NETWROK": ""}).code == "variable_unknown"


def test_unknown_variable_is_rejected_with_known_names():
    assert refusal({"OURS_XYZ": "1"}).hint == "Use one of OURS_NETWORK, OURS_WALLET."


def test_excluded_prefix_is_ignored():
    assert read("OURS_", NAMES, {"OURS_LEADER_ANYTHING": "1"}, elsewhere="OURS_LEADER_") == {}
    assert refusal({"OURS_LEADR_ANYTHING": "1"}, elsewhere="OURS_LEADER_").code


def test_read_defaults_to_process_environment(monkeypatch):
    monkeypatch.setenv("OURS_WALLET", "alice")
    assert read("OURS_", NAMES) == {"wallet": "alice"}


def options(group):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield from options(command) if isinstance(command, click.Group) else command.params


def test_variables_of_options_are_known():
    named = {option.envvar for option in options(app) if option.envvar} - {"BIND_ADDR"}
    ours = {environment.PREFIX + name.upper() for name in environment.NAMES}
    of_tools = {environment.TOOL_PREFIX + name.upper() for name in environment.TOOL_VARIABLES}
    assert named
    assert named <= ours | of_tools


def test_command_rejects_misspelled_variable(monkeypatch):
    for variable in ("NEXUS_TOOLS_NETWROK", "NEXUS_TOOL_TLS_CERT_PAHT"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "x")
            with pytest.raises(UsageError, match=re.escape(variable)):
                environment.user_variables()
