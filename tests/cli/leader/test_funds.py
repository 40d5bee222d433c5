"""A leader whose worker cannot pay for gas: one command everywhere, which suffices."""

import re
import shlex

import pytest

MIST_PER_SUI = 10**9


@pytest.fixture
def poor(publisher, new_home, chain):
    """A user whose leader is registered, with little SUI left, and what registering told."""
    user = new_home("poor", publisher)
    chain.fund(user.wallet.signer().address, 10 * MIST_PER_SUI + 14_000_000)
    result = user.run("leader", "register", "--yes")
    assert result.code == 0, result.stderr
    yield user, result.stderr
    user.end_daemons()


def command_in(text):
    (command,) = set(re.findall(r"`(nexus-tools localnet faucet [^`]+)`", text))
    return command


@pytest.mark.long
def test_funding_command_is_consistent_and_sufficient(poor):
    user, registered = poor
    command = command_in(registered)
    assert command_in(user.run("status").stderr) == command
    assert command in user.run("doctor").stdout
    daemon = user.daemon("not_ready", "leader", "run", "--allow-loopback")
    assert command_in(daemon.line) == command
    assert command in daemon.wait_for("funds_low")
    assert user.run(*shlex.split(command)[1:]).code == 0
    daemon.wait_for('"works"')
    assert daemon.end().code == 0
    again = user.daemon('"works"', "leader", "run", "--allow-loopback")
    assert "funds_low" not in again.end().stderr
