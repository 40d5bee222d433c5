"""Fixtures: a running Leader, tools with prices, and a requester with SUI."""

import pytest


@pytest.fixture(scope="module")
def running_leader(operator):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, tool_server_url, operator_leader):
    """Return the owner of the tools of the examples."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 30 * 10**9)
    terms = ("--price", "0.01", "--leader", operator_leader)
    user.json("tool", "register", "--url", tool_server_url, "--all", *terms, "--yes")
    return user


@pytest.fixture
def requester(author, running_leader, seller):
    """Return a user with 20 SUI on a chain with tools and a running Leader."""
    return author
