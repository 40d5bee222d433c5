"""`tool list` with remote indices, which may be stale, hide tools, or be full of lies."""

import json
import socket
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture
def domain(stranger, meta_file, definition, operator_leader):
    """Three tools of one domain; the domain."""
    domain = definition["fqn"].split("@")[0]
    words = {"gamma": "Measures rays.", "alpha": "Counts particles.", "beta": "Weighs decay."}
    for (name, text), price in zip(words.items(), ("0.3", "0.1", "0.2"), strict=True):
        path = meta_file(definition | {"fqn": f"{domain}.{name}@1", "description": text})
        terms = ("--price", price, "--leader", operator_leader)
        stranger.json("tool", "register", "--from-meta", path, *terms, "--yes")
    return domain


@pytest.fixture
def publish(new_home, publisher, domain):
    """Return a function that serves an index with lies, and returns its URL."""

    def publish(name, *lies):
        home = new_home(name, publisher)
        path = Path(home.json("index", "run", "--once")["path"])
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement, *values in lies:
                assert connection.execute(statement, values).rowcount
        daemon = home.daemon("serving the index at", "index", "serve", "--port", 0, "--json")
        document = ""
        while not document.endswith("}\n"):
            document += daemon.process.stdout.readline()
        return json.loads(document)["url"]

    return publish


@pytest.fixture
def imitate():
    """Return a function that serves JSON documents by path, and returns the URL."""
    servers = []

    def imitate(**documents):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.partition("?")[0].rpartition("/")[2]
                body = documents.get(name, b"{}")
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def log_message(self, *_):
                """Write nothing to stderr, where commands write."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield imitate
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def closed():
    """Return a URL at which no server listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def listed(author, domain):
    """Return a function that lists tools of the domain, and returns the rows and the messages."""

    def listed(*options, **environment):
        result = author.run("tool", "list", "--domain", domain, *options, "--json", **environment)
        assert result.code == 0, result.stderr
        return result.document, result.stderr

    return listed


def labels(rows):
    return [row["fqn"].rsplit(".", 1)[1].removesuffix("@1") for row in rows]


def with_urls(*urls):
    return [word for url in urls for word in ("--index-url", url)]


def test_remote_index_proposes_tools_of_the_chain(author, listed, publish):
    url = publish("remote")
    rows, messages = listed(*with_urls(url), "--sort", "price")
    assert labels(rows) == ["alpha", "beta", "gamma"]
    [source] = {row["source"] for row in rows}
    assert source.startswith(f"index at {url}, checkpoint ")
    assert f"source: {source}" in messages
    rows, _ = listed("--search", "decaying", *with_urls(url))
    assert (labels(rows), rows[0]["reason"]) == (
        ["beta"],
        "'decaying' matches 'decay' in the description.",
    )
    author.json("config", "set", "index_url", f"{url}, {url}/")
    assert labels(listed("--sort", "reputation")[0]) == ["beta", "alpha", "gamma"]
    assert labels(listed("--limit", "2")[0]) == ["beta", "alpha"]
    assert {row["source"] for row in listed("--no-index")[0]} == {"chain"}


def test_index_that_hides_a_tool_hides_nothing(author, domain, listed, publish):
    hiding = publish("hiding", ("DELETE FROM tools WHERE fqn = ?", f"{domain}.beta@1"))
    honest = publish("honest")
    rows, messages = listed(*with_urls(hiding, honest), "--sort", "name")
    assert labels(rows) == ["alpha", "beta", "gamma"]
    assert hiding in rows[0]["source"]
    assert honest in rows[0]["source"]
    assert hiding not in rows[1]["source"]
    assert f"index at {hiding}, checkpoint" in messages
    assert "does not contain 1 tool that other indices have" in messages
    author.json("index", "run", "--once")
    rows, messages = listed("--search", "decay", *with_urls(hiding))
    assert (labels(rows), "does not contain 1 tool" in messages) == (["beta"], True)
    assert rows[0]["source"].startswith("index, checkpoint")


def test_lies_of_a_remote_index_are_not_shown(listed, domain, publish):
    lying = publish(
        "lying",
        ("UPDATE tools SET price_mist = 1, description = 'Free!', url = 'http://evil'",),
        ("UPDATE tools SET fqn = ? WHERE fqn = ?", f"{domain}.invented@1", f"{domain}.beta@1"),
        ("UPDATE tools SET state = 'claimed' WHERE fqn = ?", f"{domain}.alpha@1"),
    )
    rows, messages = listed(*with_urls(lying))
    assert labels(rows) == ["alpha", "gamma"]
    assert [row["price_mist"] for row in rows] == [10**8, 3 * 10**8]
    assert rows[0]["state"] == "active"
    assert "Free!" not in str(rows)
    assert "omitted 1 tool" in messages


def test_stale_remote_index_is_not_used(chain, listed, publish, stranger, definition, meta_file):
    url = publish("stale")
    chain.advance_clock(61_000)
    fqn = definition["fqn"].replace("@", ".later@")
    path = meta_file(definition | {"fqn": fqn})
    stranger.json("tool", "register", "--from-meta", path, "--yes")
    rows, messages = listed(*with_urls(url))
    assert rows[0]["fqn"] == fqn
    assert {row["source"] for row in rows} == {"chain"}
    assert "behind the chain" in messages
    assert url in messages


def test_index_that_cannot_be_used_is_named(author, listed, imitate, publish, closed):
    good = publish("good")
    status = {"checkpoint": 1, "complete_since": 0}
    identity = {"chain_id": "other", "package": f"0x{7:064x}"}
    bad = {
        imitate(status=status | identity): "belongs to another network",
        imitate(status=b"<html>"): "does not respond like an index",
        imitate(status=b" " * 5_000_000): "too large",
        closed: "cannot read the index",
    }
    rows, messages = listed(*with_urls(*bad, good))
    assert len(rows) == 3
    for url, problem in bad.items():
        assert any(url in line and problem in line for line in messages.splitlines())
    rows, messages = listed(*with_urls(closed))
    assert {row["source"] for row in rows} == {"chain"}
    assert "cannot read the index" in messages
    options = ("--sort", "reputation", "--index-url", closed)
    assert author.fails("tool", "list", *options)[1] == "index_unreachable"


def test_hostile_texts_and_endless_pages_do_no_harm(author, listed, imitate, publish, domain):
    shown = author.json("index", "run", "--once")
    identity = {key: shown[key] for key in ("chain_id", "package", "checkpoint", "complete_since")}
    tool = {
        "fqn": f"{domain}.beta@1",
        "checkpoint": 0,
        "reputation": 1.0,
        "volume_mist": 10**18,
        "reason": "\x1b[31mBuy\u202e " + "now " * 1_000,
    }
    page = {
        "items": [tool, tool | {"fqn": "../x"}],
        "next": "more",
        "checkpoint": 1,
        "notes": ["x"],
    }
    url = imitate(status=identity, tools=page | {"complete_since": 0})
    for path in Path(author.data, "index").glob("*.sqlite*"):
        path.unlink()
    rows, messages = listed(*with_urls(url))
    assert labels(rows) == ["beta"]
    assert "\x1b" not in str(rows) + messages
    assert len(rows[0].get("reason", "")) <= 300


def test_invalid_url_of_an_index_is_refused(author):
    for url in ("index.example.com", "ftp://example.com", "http://[::1", "https://x.example/?q=1"):
        assert author.fails("tool", "list", "--index-url", url) == (2, "index_url_invalid")
        assert author.fails("config", "set", "index_url", url) == (2, "index_url_invalid")
