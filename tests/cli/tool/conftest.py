"""A market: a Leader works, tools are for sale, and somebody has SUI."""

import pytest


@pytest.fixture(scope="module")
def running_leader(operator):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, tool_server_url, operator_leader):
    """Who owns the tools of the examples."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 30 * 10**9)
    terms = ("--price", "0.01", "--leader", operator_leader)
    user.json("tool", "register", "--url", tool_server_url, "--all", *terms, "--yes")
    return user


@pytest.fixture
def requester(author, running_leader, seller):
    """Somebody with 20 SUI, where tools are registered and a Leader works."""
    return author
