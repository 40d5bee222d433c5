"""A market: a Leader works, tools are for sale, and somebody has SUI."""

import pytest


@pytest.fixture(scope="module")
def operator(chain, publisher, new_home):
    """Who runs the Leader, for as long as the module lasts."""
    user = new_home("operator", publisher)
    chain.fund(user.wallet.signer().address, 20 * 10**9)
    user.json("leader", "register", "--yes")
    user.daemon("works", "leader", "run", "--allow-loopback")
    return user


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, served):
    """Who owns the tools of the examples."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 20 * 10**9)
    user.json("tool", "register", "--url", served, "--all", "--price", "0.01", "--yes")
    return user


@pytest.fixture
def requester(author, operator, seller):
    """Somebody with 20 SUI, where tools are registered and a Leader works."""
    return author
