"""`nexus-tools index serve`: serves a file, follows the chain, and ends cleanly."""

import json
import signal
from pathlib import Path

import httpx
import pytest

from nexus_tools.index import IndexIdentity, open_writer
from nexus_tools.index.index_file import delete_file
from nexus_tools.sui.types.address import Address
from tests.cli.conftest import make_definition


@pytest.fixture
def register(author, meta_file):
    """Return a function that registers a tool with a name, and its FQN."""

    def register(name):
        document = make_definition(name)
        author.json("tool", "register", "--from-meta", meta_file(document), "--yes")
        return document["fqn"]

    return register


@pytest.fixture
def serve(author):
    """Return a function that starts a server, and returns the process and its URL."""

    def serve(*options, word="serving the index at"):
        daemon = author.daemon(word, "index", "serve", "--port", 0, "--json", *options)
        document = ""
        while not document.endswith("}\n"):
            document += daemon.process.stdout.readline()
        return daemon, json.loads(document)["url"]

    return serve


def fqns(url):
    return [item["fqn"] for item in httpx.get(f"{url}/api/tools").json()["items"]]


def wait_for(daemon, url, fqn):
    """Follow the stream until it reports a tool."""
    with httpx.stream("GET", f"{url}/api/events?since=0", timeout=60) as response:
        for line in response.iter_lines():
            if line.startswith("data:") and json.loads(line[5:]).get("fqn") == fqn:
                return
    raise AssertionError(daemon.process.poll())


def test_serve_without_index_names_the_next_step(author):
    result = author.run("index", "serve", "--json")
    assert (result.code, result.error["code"]) == (3, "index_missing")
    assert "nexus-tools index run" in result.error["hint"]


def test_serve_warns_about_an_empty_index(author, serve):
    author.json("index", "run", "--once")
    status = author.json("index", "status")
    path = Path(status["path"])
    delete_file(path)
    identity = IndexIdentity(status["chain_id"], Address.parse(status["package"]))
    open_writer(path, identity).close()
    _, url = serve(word="the index is empty")
    assert fqns(url) == []


def test_serve_shows_the_index_of_another_process(author, register, serve):
    fqn = register("served")
    author.json("index", "run", "--once")
    daemon, url = serve()
    assert url.startswith("http://127.0.0.1:")
    assert fqns(url)[0] == fqn
    later = register("later")
    author.json("index", "run", "--once")
    assert fqns(url)[:2] == [later, fqn]
    assert httpx.get(url, headers={"Host": "attacker.example"}).status_code == 421
    result = daemon.end(signal.SIGINT)
    assert (result.code, result.stdout) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_with_run_follows_the_chain_and_ends_with_open_streams(
    author, register, serve, number
):
    first = register(f"first{number}")
    daemon, url = serve("--run")
    wait_for(daemon, url, first)
    assert author.fails("index", "run", "--once") == (4, "index_locked")
    second = register(f"second{number}")
    wait_for(daemon, url, second)
    assert fqns(url)[:2] == [second, first]
    with httpx.stream("GET", f"{url}/api/events", timeout=60) as response:
        lines = response.iter_lines()
        next(lines)
        daemon.process.send_signal(number)
        assert not any(line.startswith("data") for line in lines)
    assert daemon.process.wait(timeout=30) == 0


def test_serve_refuses_invalid_options(author, register):
    register("options")
    author.json("index", "run", "--once")
    for options, code in [
        (("--trusted-proxy", "*"), "proxy_invalid"),
        (("--mcp-url", "ftp://example.com"), "mcp_url_invalid"),
        (("--host", "256.0.0.1"), "address_unavailable"),
        (("--tls-cert", __file__), "tls_incomplete"),
    ]:
        assert author.fails("index", "serve", "--port", 0, *options) == (2, code)


def test_serve_warns_if_other_machines_can_connect(author, register):
    register("public")
    author.json("index", "run", "--once")
    daemon = author.daemon(
        "anyone who can reach 0.0.0.0", "index", "serve", "--port", 0, "--host", "0.0.0.0"
    )
    assert daemon.wait_for("serving the index at")
    assert daemon.end(signal.SIGTERM).code == 0
