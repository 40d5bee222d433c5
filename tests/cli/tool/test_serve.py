import json
import signal
import socket
from pathlib import Path

import httpx
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
TOOLS = EXAMPLES / "tools.py"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_says_where_tools_are_and_ends_cleanly(home, number):
    tool = f"{TOOLS}:divide"
    server = home.daemon("divide@1", "tool", "serve", tool, BIND_ADDR="127.0.0.1:0")
    url = server.line.strip().split(" at ")[1].rstrip("/")
    assert httpx.get(f"{url}/health").json()["status"] == "ready"
    assert httpx.get(f"{url}/meta").json()["fqn"] == "xyz.example.math.divide@1"
    ended = server.end(number)
    assert ended.code == 0
    assert "Traceback" not in ended.stderr


def test_an_option_overrules_the_environment(home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = home.spawn("tool", "serve", TOOLS, "--json", BIND_ADDR=address)
        assert (result.code, result.error["code"]) == (2, "address_unusable")
        options = ("--bind", "127.0.0.1:0")
        assert home.daemon("divide@1", "tool", "serve", TOOLS, *options, BIND_ADDR=address)


def test_meta_prints_the_definitions_that_can_be_registered(home):
    result = home.run("tool", "serve", TOOLS, "--meta", "--public-url", "https://tools.example.com")
    definitions = json.loads(result.stdout)
    assert [one["url"] for one in definitions] == [
        "https://tools.example.com/xyz.example.math.divide@1",
        "https://tools.example.com/xyz.example.text.count_words@1",
        "https://tools.example.com/xyz.example.time.nap@1",
    ]


@pytest.mark.parametrize("bind", ["nowhere", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_refused(home, bind):
    assert home.fails("tool", "serve", TOOLS, "--bind", bind) == (2, "address_invalid")


def test_a_target_that_is_none_is_refused(home, tmp_path):
    assert home.fails("tool", "serve", tmp_path / "no.py") == (2, "target_unknown")
    assert home.fails("tool", "serve", f"{TOOLS}:Quotient") == (2, "target_unknown")


@pytest.mark.parametrize(
    ("text", "word"), [("def broken(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError")]
)
def test_a_target_that_cannot_be_imported_is_the_authors_affair(home, tmp_path, text, word):
    (tmp_path / "mine.py").write_text(text)
    result = home.spawn("tool", "serve", tmp_path / "mine.py", "--json")
    assert (result.code, result.error["code"]) == (2, "target_broken")
    assert word in result.error["message"]
    assert "Traceback" not in result.stderr


def test_tls_needs_both_files(home):
    result = home.run("tool", "serve", TOOLS, "--json", NEXUS_TOOL_TLS_CERT_PATH=str(TOOLS))
    assert (result.code, result.error["code"]) == (2, "tls_incomplete")


def test_a_file_that_does_not_exist_is_refused(home):
    result = home.run("tool", "serve", TOOLS, NEXUS_TOOL_TLS_KEY_PATH="/no/such.pem")
    assert result.code == 2
    assert "/no/such.pem" in result.stderr
