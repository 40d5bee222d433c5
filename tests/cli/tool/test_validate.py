import http.server
import json
import threading
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def serve_meta(meta):
    """A server whose every answer is this document."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(meta).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_conforming_tool_passes_every_check(home, tool_server_url):
    document = home.json("tool", "validate", f"{tool_server_url}/divide")
    assert document["passed"] is True
    statuses = {check["name"]: check["status"] for check in document["checks"]}
    assert statuses.pop("tls") == "skipped"
    assert set(statuses.values()) == {"passed"}
    assert {"reachable", "health", "fqn", "invoke with a bad input"} <= set(statuses)


def test_validate_prints_a_row_for_each_check(home, tool_server_url):
    result = home.run("tool", "validate", f"{tool_server_url}/divide")
    assert result.code == 0
    assert "✓ health" in result.stdout
    assert "rejected with 422" in result.stdout


def test_root_of_a_server_hints_at_the_url_of_a_tool(home, tool_server_url):
    result = home.run("tool", "validate", tool_server_url)
    assert result.code == 7
    tools = httpx.get(f"{tool_server_url}/tools").json()
    first = f"{tool_server_url}{tools[0].rstrip('/')}"
    assert (
        f"This is a server with {len(tools)} tools. Pass the URL of a tool, such as {first}"
        in result.stderr
    )


def test_url_without_scheme_has_a_hint(home):
    result = home.run("tool", "validate", "127.0.0.1:8080", "--json")
    assert (result.code, result.error["code"]) == (2, "url_invalid")
    assert "http://127.0.0.1:8080" in result.error["hint"]


def test_missing_server_is_unreachable(home):
    result = home.run("tool", "validate", "http://127.0.0.1:1", "--json")
    assert (result.code, result.error["code"]) == (6, "tool_unreachable")
    assert result.document["passed"] is False


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"output_schema": {"type": "object"}}, "ports and variants"),
        ({"input_schema": {"$ref": "https://evil.example/schema.json"}}, "schemas"),
        ({"fqn": "Not An Fqn"}, "fqn"),
        ({"timeout": 1}, "bounds"),
    ],
)
def test_invalid_definition_fails_its_check(home, definition, change, check):
    with serve_meta(definition | change) as url:
        result = home.run("tool", "validate", url, "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    failed = [row for row in result.document["checks"] if row["status"] == "failed"]
    assert check in {row["name"] for row in failed}
    assert all(row["message"] for row in failed)


def test_untrusted_definition_cannot_control_the_terminal(home, definition):
    with serve_meta(definition | {"url": "https://x\x1b]0;owned\x07"}) as url:
        result = home.run("tool", "validate", url)
    assert result.code == 7
    assert not set(result.stdout + result.stderr) & set("\x1b\x07")


def test_ca_file_without_certificates_is_rejected(home, tmp_path):
    (tmp_path / "ca.pem").write_text("no certificate")
    arguments = ("tool", "validate", "https://127.0.0.1:1", "--ca-file", tmp_path / "ca.pem")
    assert home.fails(*arguments) == (2, "ca_file_invalid")


def test_ports_without_a_text_have_a_hint(home, tmp_path, definition):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(definition))
    result = home.run("tool", "validate", file)
    assert result.code == 0
    assert "Add a title or a description to a, b, ok.total." in result.stdout


def test_signed_tool_names_a_way_to_check_its_answers(home, tmp_path, examples):
    leaders = tmp_path / "leaders.keys"
    leaders.write_text("")
    options = ("--bind", "127.0.0.1:0", "--leaders", leaders)
    server = home.daemon("divide@1", "tool", "serve", f"{examples / 'tools.py'}:divide", *options)
    result = home.run("tool", "validate", server.line.strip().split(" at ")[1])
    assert result.code == 0
    assert "`nexus-tools tool invoke xyz.example.math.divide@1`" in result.stdout


@pytest.mark.parametrize("command", ["validate", "serve"])
def test_folder_with_tools_hints_at_its_file(home, tmp_path, command):
    (tmp_path / "tools.py").write_text("")
    result = home.run("tool", command, tmp_path, "--json")
    assert result.code == 2
    assert result.error["hint"] == f"Did you mean {tmp_path / 'tools.py'}?"


def test_folder_without_tools_hints_at_the_manifest(home, tmp_path):
    result = home.run("tool", "validate", tmp_path, "--json")
    assert (result.code, result.error["code"]) == (2, "url_invalid")
    assert "Move.toml" in result.error["hint"]


# --- On-chain tools


@pytest.fixture
def project(home, tmp_path, compiler):
    """A Move package with a tool, in which some words are others."""

    def project(file, *changes):
        folder = tmp_path / "project"
        home.json("tool", "new", "counter", "--template", "move", "--directory", folder)
        place = folder / file
        text = place.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        place.write_text(text)
        return folder

    return project


SOURCE = "sources/counter.move"
BAD = {
    "package": (SOURCE, ("counter.total + by", "counter.total + bye"), "bye"),
    "definition": ("counter.json", ('"oneOf"', '"anyOf"'), "oneOf"),
    "function": (
        SOURCE,
        ("counter: &mut Counter)", "counter: &mut Counter, _ctx: &mut TxContext)"),
        "it takes a TxContext, with which it could act as the caller",
    ),
    "invoke with a valid input": (
        SOURCE,
        ("if (by > MOST)", "if (by / (by - by) > MOST)"),
        "abort",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BAD)
def test_invalid_on_chain_tool_fails_the_matching_check(home, project, name):
    file, change, words = BAD[name]
    result = home.run("tool", "validate", project(file, change), "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    [failed] = result.error["details"]["checks"]
    assert failed["name"] == name
    assert words in failed["message"]


def test_move_package_without_definition_is_rejected(home, project):
    folder = project("counter.json", ('"function"', '"functions"'))
    assert home.fails("tool", "validate", folder) == (3, "definition_missing")


# --- Files


def test_python_file_is_served_and_each_tool_is_checked(home, examples):
    document = home.json("tool", "validate", examples / "tools.py")
    assert document["passed"] is True
    invoked = [
        row["tool"] for row in document["checks"] if row["name"] == "invoke with a bad input"
    ]
    assert invoked == [
        "xyz.example.math.divide@1",
        "xyz.example.text.count_words@1",
        "xyz.example.time.nap@1",
    ]


def test_python_tool_that_breaks_the_protocol_fails(home, tmp_path):
    file = tmp_path / "bad.py"
    file.write_text(
        "from nexus_tools.tool_server import Variant, tool\n"
        "class Done(Variant, name='ok'):\n    a: int\n"
        "@tool('xyz.example.bad@1')\n"
        "async def bad(text: str) -> Done:\n    'Fails.'\n    raise ValueError(text)\n"
    )
    result = home.run("tool", "validate", file, "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    assert result.error["details"]["checks"][0]["name"] == "invoke with a valid input"


def test_definition_file_is_checked_without_a_call(home, examples):
    document = home.json("tool", "validate", examples / "on_chain" / "badge.json")
    [check] = document["checks"]
    assert check["message"] == "xyz.example.badges.mint@1, with variants: ok"
    assert document["file"].endswith("badge.json")


def test_invalid_definition_in_a_file_fails(home, tmp_path, definition):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([definition, definition | {"url": "tools.example.com"}]))
    result = home.run("tool", "validate", file, "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    [failed] = result.error["details"]["checks"]
    assert "the URL must be an absolute http or https URL" in failed["message"]


@pytest.mark.parametrize(
    ("name", "code"), [("no.json", "output_file_unreadable"), ("no.py", "target_unknown")]
)
def test_missing_file_is_reported(home, tmp_path, name, code):
    assert home.fails("tool", "validate", tmp_path / name) == (2, code)
