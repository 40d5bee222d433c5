"""The workflows of the examples on a localnet: their tools served, carried by a Leader."""

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
    """Who publishes the latest rates; `is_down` says how often it is before it works."""

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
    """The rates, as `Rates`."""
    rates = Rates()
    Thread(target=rates.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield rates
    rates.server.shutdown()
    rates.server.server_close()


@pytest.fixture(scope="module")
def published(chain, publisher, new_home, served, source, carrier, running):
    """Who owns the tools, and published the workflows."""
    user = new_home("examples", publisher)
    chain.fund(user.wallet.signer().address, 60 * 10**9)
    settings = {"BIND_ADDR": "127.0.0.1:0", "RATES_URL": source.url}
    server = user.daemon("split_lines@1", "tool", "serve", WORKFLOWS / "tools.py", **settings)
    for url in (served, server.line.split(" at ")[1].rsplit("/", 1)[0]):
        terms = ("--price", "0.001", "--leader", carrier)
        user.json("tool", "register", "--url", url, "--all", *terms, "--yes")
    user.json("workflow", "publish", WORKFLOWS / "count.json", "--name", COUNT, "--yes")
    for name in ("root.py", "rates.py"):
        user.json("workflow", "publish", WORKFLOWS / name, "--yes")
    return user


@pytest.fixture
def run(author, published):
    """Runs a published workflow to its end; gives what it came to."""

    def run(fqn, *terms, **inputs):
        given = [f"--input={name}={json.dumps(value)}" for name, value in inputs.items()]
        return author.json("workflow", "run", fqn, *given, *terms, "--wait", "--yes")

    return run


def runs_of(found):
    return Counter(each["vertex"] for each in found["runs"])


# --- count.json: a list, piece by piece


def test_the_words_of_all_lines_are_counted(run):
    found = run(COUNT, text="to be or not to be\n\nthat is the question")
    assert found["status"] == "completed"
    assert found["outputs"] == {"sum.ok.sum": 6 + 4}
    assert runs_of(found) == {"split": 1, "count": 2, "sum": 1}


def test_a_text_without_lines_has_no_words(run):
    found = run(COUNT, text=" \n ")
    assert found["outputs"] == {"sum.ok.sum": 0}
    assert runs_of(found) == {"split": 1, "sum": 1}


# --- root.py: branches and a loop


@pytest.mark.parametrize(("dividend", "rounds"), [(84, 7), (2, 1), (0, 1)])
def test_a_root_is_found_in_rounds(run, dividend, rounds):
    """Of 42 the guesses are 21.5, 11.727, 7.654, 6.571, 6.481, 6.480741, and that once more."""
    found = run(ROOT, dividend=dividend, divisor=2)
    assert found["status"] == "completed"
    assert found["outputs"] == {"root": pytest.approx(sqrt(dividend // 2), abs=1e-6)}
    assert runs_of(found) == {"divide": 1, "improve_root": rounds}


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"dividend": 84, "divisor": 0}, "84 cannot be divided by zero"),
        ({"dividend": -84, "divisor": 2}, "-42 has no real root"),
    ],
)
def test_what_has_no_root_is_refused_with_a_reason(run, inputs, why):
    found = run(ROOT, **inputs)
    assert found["status"] == "completed"
    assert found["outputs"] == {"refused": why}


# --- rates.py: once more, and then another tool


def attempts(found):
    return {each["vertex"]: each["attempt"] for each in found["runs"]}


def test_the_latest_rate_is_taken_where_it_is_known(run, source):
    source.is_down = 0
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["outputs"] == {"amount": 95.0, "day": "2026-11-20"}
    assert attempts(found) == {"latest": 1, "convert": 1}


def test_a_source_that_was_down_is_asked_again(run, source):
    source.is_down = 1
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["status"] == "completed"
    assert found["outputs"] == {"amount": 95.0, "day": "2026-11-20"}
    assert attempts(found) == {"latest": 2, "convert": 1}


def test_the_kept_rate_stands_in_for_a_source_that_is_down_three_times(run, source):
    source.is_down = 3
    found = run(EXCHANGE, euros=100, currency="CHF")
    assert found["status"] == "completed"
    assert found["outputs"] == {"amount": 161.68, "day": "1999-01-04"}
    assert attempts(found) == {"latest": 3, "kept": 1, "convert": 1}


def test_a_currency_without_a_rate_is_refused(run, source):
    source.is_down = 0
    found = run(EXCHANGE, euros=100, currency="XXX")
    assert found["outputs"] == {"refused": "on 2026-11-20 there was no rate of XXX"}
