import http.server
import json
import threading
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def responding(meta):
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


def test_a_tool_that_keeps_the_protocol_passes_every_check(home, served):
    document = home.json("tool", "validate", f"{served}/divide")
    assert document["passed"] is True
    statuses = {check["name"]: check["status"] for check in document["checks"]}
    assert statuses.pop("tls") == "skipped"
    assert set(statuses.values()) == {"passed"}
    assert {"reachable", "health", "fqn", "invoke with a bad input"} <= set(statuses)


def test_people_see_a_row_for_each_check(home, served):
    result = home.run("tool", "validate", f"{served}/divide")
    assert result.code == 0
    assert "✓ health" in result.stdout
    assert "rejected with 422" in result.stdout


def test_the_root_of_a_server_with_several_tools_is_told_to_name_one(home, served):
    result = home.run("tool", "validate", served)
    assert result.code == 7
    tools = httpx.get(f"{served}/tools").json()
    first = f"{served}{tools[0].rstrip('/')}"
    assert (
        f"This is a server with {len(tools)} tools. Pass one of them, like {first}" in result.stderr
    )


def test_a_url_without_a_scheme_is_told_how_it_is_written(home):
    result = home.run("tool", "validate", "127.0.0.1:8080", "--json")
    assert (result.code, result.error["code"]) == (2, "url_invalid")
    assert "http://127.0.0.1:8080" in result.error["hint"]


def test_a_tool_that_is_not_there_is_unreachable(home):
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
def test_a_definition_that_breaks_a_rule_fails_its_check(home, definition, change, check):
    with responding(definition | change) as url:
        result = home.run("tool", "validate", url, "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    failed = [row for row in result.document["checks"] if row["status"] == "failed"]
    assert check in {row["name"] for row in failed}
    assert all(row["message"] for row in failed)


def test_a_strangers_answer_cannot_control_the_terminal(home, definition):
    with responding(definition | {"url": "https://x\x1b]0;owned\x07"}) as url:
        result = home.run("tool", "validate", url)
    assert result.code == 7
    assert not set(result.stdout + result.stderr) & set("\x1b\x07")


def test_a_file_without_certificates_is_said_so(home, tmp_path):
    (tmp_path / "ca.pem").write_text("no certificate")
    arguments = ("tool", "validate", "https://127.0.0.1:1", "--ca-file", tmp_path / "ca.pem")
    assert home.fails(*arguments) == (2, "ca_file_invalid")


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


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_an_on_chain_tool_is_the_row_that_fails(home, project, name):
    file, change, words = BAD[name]
    result = home.run("tool", "validate", project(file, change), "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    [failed] = result.error["details"]["checks"]
    assert failed["name"] == name
    assert words in failed["message"]


def test_a_move_package_without_a_definition_is_told_of_it(home, project):
    folder = project("counter.json", ('"function"', '"functions"'))
    assert home.fails("tool", "validate", folder) == (3, "definition_missing")
