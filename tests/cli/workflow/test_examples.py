"""The example workflows on a localnet, with their tools and a Leader."""

import json
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import sqrt
from pathlib import Path
from threading import Thread

import pytest

WORKFLOWS = Path(__file__).parents[3] / "examples" / "workflows"
COUNT = "xyz.example.text.count_lines@1"
ROOT = "xyz.example.math.root@1"
EXCHANGE = "xyz.example.rates.exchange@1"


class Rates:
    """A server of the latest rates; its next `is_down` responses are errors."""

    def __init__(self):
        self.is_down = 0
        rates = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                rates.is_down, works = rates.is_down - 1, rates.is_down <= 0
                self.send_response(200 if works else 500)
                self.end_headers()
                self.wfile.write(json.dumps({"day": "2026-11-20", "rates": {"CHF": 0.95}}).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture(scope="module")
def source():
    """Serve the latest rates."""
    rates = Rates()
    Thread(target=rates.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield rates
    rates.server.shutdown()
    rates.server.server_close()


@pytest.fixture(scope="module")
def workflow_owner(
    chain, publisher, new_home, tool_server_url, source, operator_leader, running_leader
):
    """Return the user who registered the tools and published the workflows."""
    user = new_home("examples", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    settings = {"BIND_ADDR": "127.0.0.1:0", "RATES_URL": source.url}
    server = user.daemon("split_lines@1", "tool", "serve", WORKFLOWS / "tools.py", **settings)
    for url in (tool_server_url, server.line.split(" at ")[1].rsplit("/", 1)[0]):
        terms = ("--price", "0.001", "--leader", operator_leader)
        user.json("tool", "register", "--url", url, "--all", *terms, "--yes")
    user.json("workflow", "publish", WORKFLOWS / "count.json", "--name", COUNT, "--yes")
    for name in ("root.py", "rates.py"):
        user.json("workflow", "publish", WORKFLOWS / name, "--yes")
    return user


@pytest.fixture
def run(author, workflow_owner):
    """Return a function that runs a published workflow and returns its state at the end."""

    def run(fqn, *terms, **inputs):
        given = [f"--input={name}={json.dumps(value)}" for name, value in inputs.items()]
        return author.json("workflow", "run", fqn, *given, *terms, "--wait", "--yes")

    return run


def runs_of(found):
    return Counter(each["vertex"] for each in found["runs"])


# --- count.json: a region


def test_count_adds_up_the_words_of_all_lines(run):
    found = run(COUNT, text="to be or not to be\n\nthat is the question")
    assert found["status"] == "completed"
    assert found["outputs"] == {"sum.ok.sum": 6 + 4}
    assert runs_of(found) == {"split": 1, "count": 2, "sum": 1}


def test_count_returns_zero_for_a_text_without_lines(run):
    found = run(COUNT, text=" \n ")
    assert found["outputs"] == {"sum.ok.sum": 0}
    assert runs_of(found) == {"split": 1, "sum": 1}


# --- root.py: branches and a loop


@pytest.mark.parametrize(("dividend", "rounds"), [(84, 7), (2, 1), (0, 1)])
def test_root_is_improved_in_rounds(run, dividend, rounds):
    """The guesses for 42 are 21.5, 11.727, 7.654, 6.571, 6.481, and 6.480741 twice."""
    found = run(ROOT, dividend=dividend, divisor=2)
    assert found["status"] == "completed"
    assert found["outputs"] == {"root": pytest.approx(sqrt(dividend // 2), abs=1e-6)}
    assert runs_of(found) == {"divide": 1, "improve_root": rounds}


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"dividend": 84, "divisor": 0}, "84 cannot be divided by zero"),
        ({"dividend": -84, "divisor": 2}, "-42 has no real root"),
    ],
)
def test_root_returns_a_reason_if_there_is_no_root(run, inputs, reason):
    found = run(ROOT, **inputs)
    assert found["status"] == "completed"
    assert found["outputs"] == {"refused": reason}


# --- rates.py: retries, and a fallback


def attempts(found):
    return {each["vertex"]: each["attempt"] for each in found["runs"]}


def test_exchange_uses_the_latest_rate_if_available(run, source):
    source.is_down = 0
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["outputs"] == {"amount": 95.0, "day": "2026-11-20"}
    assert attempts(found) == {"latest": 1, "convert": 1}


def test_exchange_retries_an_unavailable_source(run, source):
    source.is_down = 1
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["status"] == "completed"
    assert found["outputs"] == {"amount": 95.0, "day": "2026-11-20"}
    assert attempts(found) == {"latest": 2, "convert": 1}


def test_exchange_uses_the_stored_rate_after_three_failures(run, source):
    source.is_down = 3
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["status"] == "completed"
    assert found["outputs"] == {"amount": 161.68, "day": "1999-01-04"}
    assert attempts(found) == {"latest": 3, "kept": 1, "convert": 1}


def test_exchange_refuses_a_currency_without_a_rate(run, source):
    source.is_down = 0
    found = run(EXCHANGE, euros=100, currency="XXX")
    assert found["outputs"] == {"refused": "XXX has no rate on 2026-11-20"}
