from pathlib import Path

import pytest

from nexus_tools.bridges.mcp.declaration import (
    HttpServer,
    StdioServer,
    parse_server,
    read_servers,
)
from nexus_tools.errors import ValidationError

FOLDER = Path("/project")


def parse(document, **environment):
    return parse_server(document, environment, FOLDER)


def test_program_has_command_arguments_and_variables():
    server = parse({"command": "npx", "args": ["-y", "weather"], "env": {"A": "b"}})
    assert server == StdioServer(("npx", "-y", "weather"), {"A": "b"}, None)


def test_command_with_a_slash_is_relative_to_the_file():
    assert parse({"command": "./bin/weather"}).command == ("/project/bin/weather",)
    assert parse({"command": "/bin/weather"}).command == ("/bin/weather",)


def test_directory_is_relative_to_the_file(tmp_path):
    (tmp_path / "sub").mkdir()
    server = parse_server({"command": "a", "cwd": "sub"}, {}, tmp_path)
    assert server.directory == tmp_path / "sub"


def test_npm_server_may_read_its_packages(tmp_path, host):
    packages = tmp_path / "node_modules"
    main = packages / "@example" / "server" / "node_modules" / "own" / "dist" / "index.js"
    main.parent.mkdir(parents=True)
    main.touch()
    reads = StdioServer(("node", str(main)), {}, None).confinement(host).reads
    assert packages in reads
    assert tmp_path not in reads


def test_missing_directory_is_refused():
    with pytest.raises(ValidationError, match="/project/missing is not a folder"):
        parse({"command": "a", "cwd": "missing"})


@pytest.mark.parametrize(
    ("kind", "transport"),
    [("http", "http"), ("streamable-http", "http"), ("streamableHttp", "http"), ("sse", "sse")],
)
def test_url_server_has_a_known_transport(kind, transport):
    server = parse({"type": kind, "url": "https://a.example/mcp", "headers": {"X-A": "b"}})
    assert server == HttpServer("https://a.example/mcp", {"X-A": "b"}, transport)


def test_url_server_uses_streamable_http_by_default():
    assert parse({"url": "https://a.example/mcp"}).transport == "http"


@pytest.mark.parametrize(
    "url", ["http://localhost:1/mcp", "http://127.0.0.7/mcp", "http://[::1]:8000/mcp"]
)
def test_server_on_this_machine_needs_no_tls(url):
    assert parse({"url": url}).url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/mcp",
        "http://10.0.0.1/mcp",
        "http://localhost.example/mcp",
        "https://user:password@a.example/mcp",
        "ftp://a.example/mcp",
        "https:///mcp",
        "https://a.example:port/mcp",
        "mcp",
    ],
)
def test_other_urls_are_refused(url):
    with pytest.raises(ValidationError, match=r"^the url "):
        parse({"url": url})


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"command": "a", "url": "https://a.example"},
        {"command": ""},
        {"command": 3},
        {"command": "a", "args": "b"},
        {"command": "a", "args": [1]},
        {"command": "a", "env": {"A": 1}},
        {"command": "a", "env": []},
        {"command": "a", "type": "http"},
        {"command": "a\0b"},
        {"url": "https://a.example", "type": "stdio"},
        {"url": "https://a.example", "type": {}},
        {"url": "https://a.example", "headers": {"A": "b\nC: d"}},
        {"url": "https://a.example", "headers": {"A": "é"}},
        {"url": "https://a.example", "headers": {"A b": "c"}},
        {"command": "a", "env": {"A=B": "c"}},
        {"command": "a", "args": ["a\0b"]},
        {"command": "a", "disabled": True},
    ],
)
def test_invalid_server_is_refused(document):
    with pytest.raises(ValidationError) as raised:
        parse(document)
    assert raised.value.code == "mcp_json_invalid"


def test_placeholders_are_replaced_from_the_environment():
    server = parse(
        {"command": "${RUNNER}", "args": ["--key=${KEY}"], "env": {"T": "a${KEY}b"}},
        RUNNER="npx",
        KEY="k",
    )
    assert server.command == ("npx", "--key=k")
    assert server.environment == {"T": "akb"}


def test_placeholders_in_urls_and_headers_are_replaced():
    server = parse(
        {"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        HOST="a.example",
        TOKEN="t",
    )
    assert server.url == "https://a.example/mcp"
    assert server.headers == {"Authorization": "Bearer t"}


def test_placeholder_may_have_a_default():
    document = {"command": "a", "env": {"LEVEL": "${LEVEL:-info}"}}
    assert parse(document).environment == {"LEVEL": "info"}
    assert parse(document, LEVEL="").environment == {"LEVEL": "info"}
    assert parse(document, LEVEL="debug").environment == {"LEVEL": "debug"}


def test_only_missing_variables_are_named():
    with pytest.raises(ValidationError) as raised:
        parse({"command": "a", "env": {"A": "${ONE}${TWO}", "B": "${THERE}"}}, THERE="x")
    assert raised.value.code == "variable_missing"
    assert raised.value.message.startswith("the server requires ONE, TWO, ")


def test_replacements_are_not_expanded_again():
    server = parse({"command": "a", "env": {"A": "${ONE}"}}, ONE="${TWO}", TWO="secret")
    assert server.environment == {"A": "${TWO}"}


def test_repr_shows_no_replaced_secrets():
    document = {"command": "a", "args": ["${TOKEN}"], "env": {"A": "${TOKEN}"}}
    assert "hush" not in repr(parse(document, TOKEN="hush"))


def test_file_without_servers_is_refused(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {}}')
    with pytest.raises(ValidationError) as raised:
        read_servers(file)
    assert raised.value.code == "mcp_json_invalid"


def test_large_file_is_refused(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}' + " " * 2**20)
    with pytest.raises(ValidationError):
        read_servers(file)
