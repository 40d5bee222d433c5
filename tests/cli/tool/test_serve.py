import json
import signal
import socket
from pathlib import Path

import httpx
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
TOOLS = EXAMPLES / "tools.py"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_server_prints_tool_urls_and_stops_cleanly(home, number):
    tool = f"{TOOLS}:divide"
    server = home.daemon("divide@1", "tool", "serve", tool, BIND_ADDR="127.0.0.1:0")
    url = server.line.strip().split(" at ")[1].rstrip("/")
    assert httpx.get(f"{url}/health").json()["status"] == "ready"
    assert httpx.get(f"{url}/meta").json()["fqn"] == "xyz.example.math.divide@1"
    ended = server.end(number)
    assert ended.code == 0
    assert "Traceback" not in ended.stderr


def test_option_overrides_the_environment(home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = home.spawn("tool", "serve", TOOLS, "--json", BIND_ADDR=address)
        assert (result.code, result.error["code"]) == (2, "address_unavailable")
        assert result.error["hint"] == "Pass `--bind 127.0.0.1:0` to use a free port."
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


def test_port_without_a_host_listens_on_the_loopback_interface(home):
    server = home.daemon("divide@1", "tool", "serve", f"{TOOLS}:divide", "--bind", "0")
    assert " at http://127.0.0.1:" in server.line


def test_meta_completes_a_port_without_a_host(home):
    result = home.run("tool", "serve", f"{TOOLS}:divide", "--meta", "--bind", "8081")
    assert json.loads(result.stdout)[0]["url"] == "http://127.0.0.1:8081/xyz.example.math.divide@1"


def test_server_on_a_public_address_warns_without_a_public_url(home):
    arguments = ("tool", "serve", f"{TOOLS}:divide", "--bind", "0.0.0.0:0")
    public = home.daemon("tools", *arguments, "--public-url", "https://tools.example.com")
    assert "divide@1 at https://tools.example.com" in public.line
    warned = home.daemon("tools", *arguments)
    assert "anyone who can reach 0.0.0.0 can call these tools" in warned.line


@pytest.mark.parametrize("bind", ["nowhere", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000"])
def test_invalid_bind_address_is_rejected(home, bind):
    assert home.fails("tool", "serve", TOOLS, "--bind", bind) == (2, "address_invalid")


def test_unknown_target_is_rejected(home, tmp_path):
    assert home.fails("tool", "serve", tmp_path / "no.py") == (2, "target_unknown")
    assert home.fails("tool", "serve", f"{TOOLS}:Quotient") == (2, "target_unknown")


DIVIDES = """
from nexus_tools.tool_server import Variant, tool

class Quotient(Variant, name="ok"):
    result: int

@tool("xyz.example.math.divide@1")
def divide(a: int, b: int) -> Quotient:
    return Quotient(result=a // b)
"""


@pytest.mark.parametrize(
    ("text", "word", "place"),
    [
        ("\ndef broken(:", "SyntaxError", "line 2: def broken(:"),
        ("1 / 0", "ZeroDivisionError", "line 1: 1 / 0"),
        ("import json\njson.loads('{')", "JSONDecodeError", "line 2: json.loads('{')"),
        ("import no_such_module", "ModuleNotFoundError", "line 1: import no_such_module"),
        ("import sys\nsys.exit(0)", "SystemExit", "line 2: sys.exit(0)"),
    ],
    ids=["syntax", "own", "called", "import", "exit"],
)
def test_import_error_names_the_line_in_the_user_file(home, tmp_path, *, text, word, place):
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    result = home.spawn("tool", "serve", mine, "--json")
    error = result.error
    assert (result.code, error["code"]) == (2, "target_import_failed")
    assert word in error["message"]
    assert error["hint"] == f"See {mine}, {place}"
    assert "Traceback" not in result.stderr


def test_invalid_tool_error_names_the_line_in_the_user_file(home, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(DIVIDES.replace("a: int", "a"))
    error = home.run("tool", "serve", mine, "--json").error
    assert error["code"] == "tool_invalid"
    assert error["hint"].startswith(f"See {mine}, line 7: @tool(")


def test_calls_are_logged_and_exceptions_have_a_user_traceback(home, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(DIVIDES)
    options = ("--bind", "127.0.0.1:0", "--log-format", "text", "--log-calls")
    server = home.daemon("divide@1", "tool", "serve", mine, *options)
    url = server.line.strip().split(" at ")[1]
    assert httpx.post(f"{url}/invoke", json={"a": 6, "b": 3}).json() == {"ok": {"result": 2}}
    assert httpx.post(f"{url}/invoke", json={"a": 6, "b": 0}).status_code == 500
    log = server.end(signal.SIGTERM).stderr
    assert "invoked" in log
    assert "variant=ok" in log
    traceback = log[log.index("Traceback") :].replace("\n  | ", "\n").splitlines()
    assert traceback[1].strip() == f'File "{mine}", line 9, in divide'
    assert "ZeroDivisionError: integer division or modulo by zero" in traceback


def test_reload_serves_a_changed_file_at_the_same_url(home, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(DIVIDES)
    options = ("--bind", "127.0.0.1:0", "--reload")
    server = home.daemon("divide@1", "tool", "serve", mine, *options)
    url = server.line.strip().split(" at ")[1].rpartition("/")[0]
    mine.write_text(DIVIDES.replace("a // b", "a //"))
    server.wait_for("SyntaxError")
    mine.write_text(DIVIDES.replace("math.divide@1", "math.divide@2"))
    assert server.wait_for("divide@2").strip().endswith(f"{url}/xyz.example.math.divide@2")
    assert httpx.get(f"{url}/meta").json()["fqn"] == "xyz.example.math.divide@2"
    ended = server.end(signal.SIGINT)
    assert ended.code == 0
    assert "Traceback" not in ended.stderr
    assert "process already dead" not in ended.stderr
    assert "KeyboardInterrupt" not in ended.stderr
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_tls_needs_both_files(home):
    result = home.run("tool", "serve", TOOLS, "--json", NEXUS_TOOL_TLS_CERT_PATH=str(TOOLS))
    assert (result.code, result.error["code"]) == (2, "tls_incomplete")


def test_missing_tls_file_is_rejected(home):
    result = home.run("tool", "serve", TOOLS, NEXUS_TOOL_TLS_KEY_PATH="/no/such.pem")
    assert result.code == 2
    assert "/no/such.pem" in result.stderr
