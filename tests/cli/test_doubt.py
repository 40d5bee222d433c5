"""Tests that a command names a payment whose response was lost, however the command ends."""

import asyncio
import re
import signal
import threading
from urllib.parse import urlsplit

import pytest


class MuteProxy:
    """A node's proxy: it says nothing any more once a transaction went by."""

    def __init__(self, url):
        self._node = urlsplit(url)
        self.sent = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self):
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._connected, "127.0.0.1", 0) as server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            self._ready.set()
            await self._over.wait()

    async def _connected(self, reader, writer):
        from_node, to_node = await asyncio.open_connection(self._node.hostname, self._node.port)
        try:
            await asyncio.gather(self._ask(reader, to_node), self._answer(from_node, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass  # the command has ended, or the test
        finally:
            writer.close()
            to_node.close()

    async def _ask(self, reader, writer):
        while data := await reader.read(2**16):
            if b"ExecuteTransaction" in data:
                self.sent.set()
            writer.write(data)
            await writer.drain()

    async def _answer(self, reader, writer):
        while data := await reader.read(2**16):
            if not self.sent.is_set():
                writer.write(data)
                await writer.drain()


@pytest.fixture
def proxy(author, chain):
    with MuteProxy(chain.url) as proxy:
        settings = author.settings
        settings["networks"]["test"] = {"url": proxy.url, "faucet_url": chain.url}
        author.configure(**settings)
        yield proxy


@pytest.fixture
def transfer(stranger):
    return ("wallet", "transfer", str(stranger.wallet.account().address), "1", "--yes")


def test_lost_answer_error_names_the_transaction_and_not_the_timeout(author, proxy, transfer):
    result = author.run(*transfer, "--json", NEXUS_TOOLS_TIMEOUT="2s")
    error = result.error
    assert (result.code, proxy.sent.is_set()) == (6, True)
    assert error["details"]["digest"] in error["hint"]
    assert "may have been executed" in error["hint"]
    assert "config set timeout" not in error["hint"]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signal_after_sending_names_the_transaction(author, proxy, transfer, sent):
    process = author.process(*transfer, NEXUS_TOOLS_TIMEOUT="60s")
    assert proxy.sent.wait(30)
    process.send_signal(sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.search(
        r"transaction [1-9A-Za-z]{43,44}, which the network may still execute\. Run `", err
    )
