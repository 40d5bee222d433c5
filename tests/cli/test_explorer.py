"""`nexus-tools explorer`: serves pages, follows the chain, and ends with its parent process."""

import json
import os
import signal
import socket

import httpx
import pytest

from tests.cli.conftest import make_definition


def read_document(stream):
    """Return the JSON document that a process prints over several lines."""
    document = ""
    while not document.endswith("}\n"):
        document += stream.readline()
    return json.loads(document)


@pytest.fixture
def explore():
    """Return a function that starts an explorer, and returns the process and its URL."""

    def explore(home, *options):
        process = home.process("explorer", "--port", 0, "--json", *options)
        return process, read_document(process.stdout)["url"]

    return explore


def wait_for_page(url, word):
    """Reload a page until it contains a word. The timeout of the test limits the time."""
    while word not in (page := httpx.get(url, timeout=60).text):
        pass
    return page


def wait_for_event(url, fqn):
    """Follow the events until they report a tool."""
    with httpx.stream("GET", f"{url}/api/events?since=0", timeout=60) as response:
        for line in response.iter_lines():
            if line.startswith("data:") and json.loads(line[5:]).get("fqn") == fqn:
                return


@pytest.fixture
def register(author, meta_file):
    """Return a function that registers a tool with a name, and its FQN."""

    def register(name):
        document = make_definition(name)
        author.json("tool", "register", "--from-meta", meta_file(document), "--yes")
        return document["fqn"]

    return register


def end(process, number=signal.SIGTERM):
    process.send_signal(number)
    process.communicate(timeout=30)
    return process.returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_explorer_follows_the_chain_and_ends_with_open_streams(author, register, explore, number):
    process, url = explore(author)
    wait_for_page(url, "<h1>Overview</h1>")
    first = register(f"first{number}")
    wait_for_event(url, first)
    assert f"/tools/{first}" in httpx.get(f"{url}/tools").text
    assert httpx.get(f"{url}/api/tools/{first}").status_code == 200
    with httpx.stream("GET", f"{url}/api/events", timeout=60) as response:
        next(response.iter_lines())
        assert end(process, number) == 0


def test_explorer_shows_the_index_of_another_process(author, register, explore):
    fqn = register("shared")
    writer, first = explore(author)
    wait_for_event(wait_and_return(first), fqn)
    reader, second = explore(author)
    assert f"/tools/{fqn}" in wait_for_page(f"{second}/tools", fqn)
    assert end(reader) == 0
    assert end(writer) == 0


def wait_and_return(url):
    wait_for_page(url, "<h1>Overview</h1>")
    return url


def test_explorer_without_run_needs_an_index(author, register, explore):
    register("unindexed")
    process, url = explore(author, "--no-run")
    assert "nexus-tools index run" in wait_for_page(url, "index_missing")
    author.json("index", "run", "--once")
    wait_for_page(url, "<h1>Overview</h1>")
    assert end(process) == 0


def test_explorer_says_that_the_index_is_behind_the_chain(author, chain, register, explore):
    register("old")
    author.json("index", "run", "--once")
    chain.advance_clock(120_000)
    register("new")
    process, url = explore(author, "--no-run")
    wait_for_page(url, "behind the chain")
    assert end(process) == 0


def test_explorer_refuses_other_host_names(author, explore):
    process, url = explore(author)
    assert httpx.get(url, headers={"Host": "attacker.example"}).status_code == 421
    assert end(process) == 0
    process, url = explore(author, "--allow-host", "explorer.example")
    wait_for_page(url, "<h1>")
    assert httpx.get(url, headers={"Host": "explorer.example"}).status_code in (200, 503)
    assert end(process) == 0


def test_explorer_refuses_invalid_options(author):
    for options, error in [
        (("--host", "256.0.0.1"), (2, "address_unavailable")),
        (("--port", "70000"), (2, "usage")),
        (("--network", "nowhere"), (3, "network_unknown")),
    ]:
        assert author.fails("explorer", *options) == error


def test_explorer_of_a_used_port_is_refused(author):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        refused = author.run("explorer", "--port", port, "--json")
        assert (refused.code, refused.error["code"]) == (2, "address_unavailable")
        assert "another server" in refused.error["message"]
        assert "--port 0" in refused.error["hint"]


def test_explorer_warns_if_other_machines_can_connect(author):
    daemon = author.daemon("can read this explorer", "explorer", "--port", 0, "--host", "0.0.0.0")
    assert daemon.wait_for("the explorer is at")
    assert daemon.end(signal.SIGTERM).code == 0


# --- With a localnet


def test_localnet_starts_and_stops_an_explorer(home):
    result = home.spawn("localnet", "start", "--detach", "--explorer", "--port", 0, "--json")
    url = result.document["explorer"]
    assert home.json("localnet", "status")["explorer"] == url
    page = wait_for_page(url, "package_not_published")
    assert "nexus-tools package publish" in page
    home.json("wallet", "new", "author")
    home.json("localnet", "faucet")
    home.json("package", "publish", "--yes")
    wait_for_page(url, "<h1>Overview</h1>")
    home.json("localnet", "stop")
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_explorer_ends_when_the_process_of_its_localnet_is_killed(home):
    result = home.spawn("localnet", "start", "--detach", "--explorer", "--port", 0, "--json")
    url = result.document["explorer"]
    with httpx.stream("GET", f"{url}/static/explorer.css") as response:
        response.read()
    os.kill(result.document["pid"], signal.SIGKILL)
    while True:  # the timeout of the test limits the time
        try:
            httpx.get(url, timeout=60)
        except httpx.HTTPError:
            break
