"""A market: a Leader works, tools are for sale, and somebody has SUI."""

import pytest


@pytest.fixture(scope="module")
def running(operator):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, served, carrier):
    """Who owns the tools of the examples."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 30 * 10**9)
    terms = ("--price", "0.01", "--leader", carrier)
    user.json("tool", "register", "--url", served, "--all", *terms, "--yes")
    return user


@pytest.fixture
def requester(author, running, seller):
    """Somebody with 20 SUI, where tools are registered and a Leader works."""
    return author
