"""Tools on a real network, a Leader, and a user whose MCP servers run as processes."""

import os
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters

MIST_PER_SUI = 1_000_000_000


@pytest.fixture(scope="module")
def running(operator):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, served, carrier):
    """Who owns the tools of the examples, at 0.01 SUI each."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    terms = ("--price", "0.01", "--leader", carrier)
    user.json("tool", "register", "--url", served, "--all", *terms, "--yes")
    return user


@pytest.fixture
def user(author, seller):
    """Somebody with 20 SUI, where the tools of the examples are registered."""
    return author


@pytest.fixture
def on_stdio(user):
    """Opens a client of `mcp serve` on stdin and stdout."""

    @asynccontextmanager
    async def open_client(*arguments, mode="auto"):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nexus_tools", "mcp", "serve", *arguments],
            env={"PATH": os.environ["PATH"]} | user.environment,
        )
        async with Client(server, mode=mode) as client:
            yield client

    return open_client
