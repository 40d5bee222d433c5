"""A node that executes each transaction and denies it: one command pays once, and says so."""

import asyncio
import threading

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway

INPUT = '{"a": 1, "b": 2}'
LOST = (StatusCode.UNAVAILABLE, "connection reset", True)
STALE = (StatusCode.INVALID_ARGUMENT, "object version is unavailable for consumption", False)
DENIED = (*STALE[:2], True)


@pytest.fixture(params=[[LOST, STALE], [DENIED]], ids=["lost", "denied"])
def denying_network(request, author, chain):
    """Has a user's network lead to a node that denies what it has executed; gives its name."""
    ready, over = threading.Event(), []

    async def serve():
        gateway, end = Gateway(chain.url), asyncio.Event()
        gateway.fail_in_turn("ExecuteTransaction", *request.param * 20)
        gateway.fail("GetTransaction", StatusCode.NOT_FOUND, "Transaction not found")
        async with gateway.running():
            settings = author.settings
            settings["networks"]["denying"] = {"url": gateway.network.url}
            settings["deployments"]["denying"] = settings["deployments"]["test"]
            author.configure(**settings)
            over.append((asyncio.get_running_loop(), end))
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    yield "denying"
    [(loop, end)] = over
    loop.call_soon_threadsafe(end.set)
    thread.join()


def check_doubt(user, network, *command):
    """Run a command that pays, and the one that its error names: with an honest node."""
    result = user.run(*command, "--yes", "--json", "-n", network, NEXUS_TOOLS_TIMEOUT="10s")
    assert result.code != 0
    digest = result.error["details"]["digest"]
    assert f"the transaction {digest} may have been executed" in result.error["hint"]
    assert f"`nexus-tools network transaction {digest}" in result.error["hint"]
    assert user.json("network", "transaction", digest)["status"] == "succeeded"


def test_denied_transfer_is_paid_once_and_named(author, stranger, denying_network):
    account = stranger.wallet.account().address
    before = stranger.json("wallet", "show")["balance_mist"]
    check_doubt(author, denying_network, "wallet", "transfer", account, "1")
    assert stranger.json("wallet", "show")["balance_mist"] == before + 10**9


def test_denied_invocation_is_requested_once_and_named(author, denying_network, registered_fqn):
    invoke = ("tool", "invoke", registered_fqn, "--input", INPUT, "--max-cost", "0.05", "--no-wait")
    check_doubt(author, denying_network, *invoke)
    assert len(author.json("invocation", "list")) == 1
