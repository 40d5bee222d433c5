"""Events of tools as they come, also over a connection that is lost."""

import json
import signal
import socket
import threading
from contextlib import suppress

import pytest

from nexus_tools.cli.framework.output.watching import _word


class Line:
    """TCP connections between a client and a node that can be cut."""

    def __init__(self, port):
        self._port = port
        self._open = []
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def _start(self, target, *args):
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with suppress(OSError):  # the listener is shut down
            while True:
                client, _ = self._listener.accept()
                node = socket.create_connection(("127.0.0.1", self._port))
                self._open += [client, node]
                self._start(_carry, client, node)
                self._start(_carry, node, client)

    def cut(self):
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(30)
        for one in (self._listener, *self._open):
            one.close()


def _carry(source, target):
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def line(chain):
    line = Line(int(chain.url.rsplit(":", 1)[1]))
    yield line
    line.close()


def test_watch_prints_events_of_tool(author, registered_fqn):
    watch = author.daemon("watching", "tool", "watch", registered_fqn, "--json")
    author.json("tool", "update", registered_fqn, "--price", "0.5", "--yes")
    author.json("tool", "unregister", registered_fqn, "--yes")
    first, second = (json.loads(watch.process.stdout.readline()) for _ in range(2))
    assert (first["event"], first["fqn"], first["price_mist"]) == (
        "ToolUpdated",
        registered_fqn,
        500_000_000,
    )
    assert (second["event"], second["fqn"]) == ("Unregistered", registered_fqn)
    assert second["claimable_at_ms"] > second["at_ms"]
    assert first["transaction"] != second["transaction"]
    ended = watch.end(signal.SIGINT)
    assert (ended.code, "Traceback" in ended.stderr) == (130, False)


def test_watch_prints_one_line_per_event(author, registered_fqn):
    watch = author.daemon("watching", "tool", "watch", registered_fqn)
    author.json("tool", "update", registered_fqn, "--price", "0.5", "--yes")
    line = watch.process.stdout.readline()
    assert registered_fqn in line
    assert "ToolUpdated" in line
    assert "price 0.5 SUI" in line


def test_watch_prints_list_without_brackets():
    assert [_word(value) for value in (["0x1", "0x2"], 7)] == ["0x1 0x2", "7"]


def test_watch_defaults_to_all_tools(author, definition, meta_file):
    watch = author.daemon("watching all tools", "tool", "watch", "--json")
    path = meta_file(definition)
    author.json("tool", "register", "--from-meta", path, "--yes")
    event = json.loads(watch.process.stdout.readline())
    assert (event["event"], event["fqn"]) == ("ToolRegistered", definition["fqn"])
    assert event["url"] == definition["url"]


def test_watch_misses_no_event_when_connection_is_lost(author, registered_fqn, line):
    known = author.settings
    known["networks"]["line"] = {"url": line.url}
    known["deployments"]["line"] = known["deployments"]["test"]
    author.configure(**known)
    watch = author.daemon("watching", "tool", "watch", registered_fqn, "--json", "-n", "line")
    for price in ("0.1", "0.2", "0.3"):
        line.cut()
        author.json("tool", "update", registered_fqn, "--price", price, "--yes")
    prices = [json.loads(watch.process.stdout.readline())["price_mist"] for _ in range(3)]
    assert prices == [100_000_000, 200_000_000, 300_000_000]


def test_watch_continues_after_rollback(author, registered_fqn, chain):
    snapshot = chain.snapshot()
    watch = author.daemon("watching", "tool", "watch", registered_fqn, "--json")

    def update(price):
        """Change the price. Return the reported prices up to this one."""
        author.json("tool", "update", registered_fqn, "--price", f"0.0{price}", "--yes")
        told = []
        while price not in told:
            told.append(json.loads(watch.process.stdout.readline())["price_mist"] // 10**7)
        return told

    assert update(1) == [1]
    assert update(2) == [2]
    chain.revert(snapshot)
    for price in (3, 4, 5):
        author.json("tool", "update", registered_fqn, "--price", f"0.0{price}", "--yes")
    assert update(6)[-1] == 6
    assert "was rolled back" in watch.end(signal.SIGINT).stderr


def test_watch_rejects_unknown_tool(author):
    assert author.fails("tool", "watch", "xyz.test.nobody@1") == (3, "tool_unknown")
