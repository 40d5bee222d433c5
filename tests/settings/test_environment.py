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


def test_variables_are_read_by_name():
    assert read("OURS_", NAMES, {"OURS_NETWORK": "testnet"}) == {"network": "testnet"}


def test_an_empty_variable_is_not_set():
    assert read("OURS_", NAMES, {"OURS_NETWORK": ""}) == {}


def test_other_prefixes_are_not_looked_at():
    assert read("OURS_", NAMES, {"THEIRS_NETWORK": "x", "NOT_OURS_NETWORK": "x"}) == {}


def test_a_misspelt_variable_is_refused_with_what_was_meant():
    error = refusal({"OURS_NETWROK": "secret.example.com"})
    assert (error.code, error.hint) == ("variable_unknown", "did you mean OURS_NETWORK?")
    assert "OURS_NETWROK" in error.message
    assert "secret.example.com" not in str(error)


def test_even_an_empty_misspelt_variable_is_refused():
    assert refusal({"OURS_NETWROK": ""}).code == "variable_unknown"


def test_a_variable_like_none_of_ours_is_refused_with_all_of_them():
    assert refusal({"OURS_XYZ": "1"}).hint == "known are OURS_NETWORK, OURS_WALLET"


def test_variables_with_another_reader_are_left_to_it():
    assert read("OURS_", NAMES, {"OURS_LEADER_ANYTHING": "1"}, elsewhere="OURS_LEADER_") == {}
    assert refusal({"OURS_LEADR_ANYTHING": "1"}, elsewhere="OURS_LEADER_").code


def test_without_being_given_one_the_environment_of_the_process_is_read(monkeypatch):
    monkeypatch.setenv("OURS_WALLET", "alice")
    assert read("OURS_", NAMES) == {"wallet": "alice"}


def options(group):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield from options(command) if isinstance(command, click.Group) else command.params


def test_each_variable_of_an_option_is_known():
    named = {each.envvar for each in options(app) if each.envvar} - {"BIND_ADDR"}
    ours = {environment.PREFIX + name.upper() for name in environment.NAMES}
    of_tools = {environment.TOOL_PREFIX + name.upper() for name in environment.TOOL_NAMES}
    assert named
    assert named <= ours | of_tools


def test_a_command_refuses_what_is_misspelt(monkeypatch):
    for variable in ("NEXUS_TOOLS_NETWROK", "NEXUS_TOOL_TLS_CERT_PAHT"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "x")
            with pytest.raises(UsageError, match=re.escape(variable)):
                environment.user_variables()
