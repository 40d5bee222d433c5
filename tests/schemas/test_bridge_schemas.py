"""The schemas of `mcp.json` and of Hyperpocket's file, compared with the bridges' readers."""

import json
import re

import pytest
import tomli_w

from nexus_tools.bridges import CredentialStore, auth_providers
from nexus_tools.bridges.hyperpocket.auth.configuration_schema import (
    UNSTATED_RULES as HYPERPOCKET_RULES,
)
from nexus_tools.bridges.mcp.declaration import parse_server, read_servers
from nexus_tools.bridges.mcp.declaration_schema import UNSTATED_RULES as MCP_RULES
from nexus_tools.cli.bridge.hyperpocket import HyperpocketSettings
from nexus_tools.errors import UsageError, ValidationError
from tests.schemas.judges import VALUES, Judge, compare

TOML_VALUES = tuple(value for value in VALUES if value is not None)
PROGRAM = {"command": "python", "args": ["a.py"], "env": {"A": "1"}, "cwd": ".", "type": "stdio"}
REMOTE = {
    "type": "http",
    "url": "https://weather.example.org/mcp",
    "headers": {"Authorization": "Bearer ${TOKEN:-none}"},
}
MCP = {"$schema": "./mcp.schema.json", "mcpServers": {"units": PROGRAM, "weather": REMOTE}}
DEVICE_FLOW = {
    "kind": "device_flow",
    "client_id": "Iv1.example",
    "client_secret": "secret",
    "token_endpoint": "https://github.com/login/oauth/access_token",
    "device_authorization_endpoint": "https://github.com/login/device/code",
    "scopes": ["repo", "user"],
    "env": "GITHUB_TOKEN",
}
HYPERPOCKET = {
    "$schema": "./hyperpocket.schema.json",
    "providers": {
        "github": DEVICE_FLOW,
        "valyu": {"kind": "api_key", "env": ["VALYU_API_KEY"]},
        "linkedin/linkedin-basicauth": {"kind": "token"},
    },
    "variables": {"echo": {"FOO": "bar"}},
    "credential-names": {"list-issues": ["LINEAR_API_KEY"]},
}
MCP_REASONS = {
    "placeholder": "variable_missing|must be a string that is not empty",
    "folder": "is not a folder",
    "url": "the url ",
}
HYPERPOCKET_REASONS = {"endpoint": "is not an https URL"}


@pytest.fixture(scope="module")
def mcp(tmp_path_factory):
    file = tmp_path_factory.mktemp("mcp") / "mcp.json"

    def read(document):
        file.write_text(json.dumps(document))
        for server in read_servers(file).values():
            if not (isinstance(server, dict) and server.get("disabled") is True):
                parse_server(server, {}, file.parent)

    return Judge("mcp", read)


@pytest.fixture(scope="module")
def hyperpocket(tmp_path_factory):
    file = tmp_path_factory.mktemp("hyperpocket") / "hyperpocket.toml"

    def read(document):
        if not isinstance(document, dict):
            raise UsageError("hyperpocket_settings_invalid", "TOML describes a table")
        file.write_text(tomli_w.dumps(document))
        store = CredentialStore(file.parent / "credentials.json")
        auth_providers(HyperpocketSettings.read(file).providers, store)

    return Judge("hyperpocket", read)


def says(reasons):
    return lambda reason: any(re.search(words, reason) for words in reasons.values())


def test_verdicts_on_mutations_of_mcp_json_agree(mcp):
    accepted, rejected = compare(mcp, MCP, says(MCP_REASONS))
    assert (accepted > 40, rejected > 120) == (True, True)


def test_verdicts_on_mutations_of_hyperpocket_toml_agree(hyperpocket):
    accepted, rejected = compare(hyperpocket, HYPERPOCKET, says(HYPERPOCKET_REASONS), TOML_VALUES)
    assert (accepted > 30, rejected > 150) == (True, True)


def server(**fields):
    return {"mcpServers": {"units": {"command": "python"} | fields}}


def remote(**fields):
    return {"mcpServers": {"weather": {"url": "https://a.example"} | fields}}


VALID_MCP = (
    {"mcpServers": {}},
    {"mcpServers": {}, "inputs": []},
    server(),
    server(timeout=5, disabled=False),
    server(args=["${A:-1}", ""], env={"A": ""}),
    {"mcpServers": {"off": {"disabled": True, "command": 5}}},
    *(remote(type=kind) for kind in ("streamable-http", "streamableHttp", "sse", "${T:-sse}")),
    *(remote(url=url) for url in ("http://127.0.0.1:1/a@b", "HTTPS://a", "${U:-https://a}")),
    remote(headers={"X-A": "a\tb"}),
)
INVALID_MCP = (
    {},
    {"mcpServers": []},
    {"mcpServers": {"a": {}}},
    {"mcpServers": {"a": {"command": "a", "url": "https://a"}}},
    *(server(command=command) for command in ("", 5, None, "a\0")),
    server(type="http"),
    server(args="a"),
    server(args=[1]),
    server(env={"A": 1}),
    server(env={"A=B": "1"}),
    server(env={"": "1"}),
    server(env=["A=1"]),
    server(cwd=5),
    server(headers=[]),
    *(remote(url=url) for url in ("a.example", "ftp://a", "https://u@a", "https:///a", 5)),
    remote(type="stdio"),
    remote(type=1),
    remote(headers={"A B": "1"}),
    remote(headers={"A": "1\x01"}),
    remote(headers={"A": 1}),
    remote(env={"TOKEN": 1}),
)
UNSTATED_MCP = {
    "placeholder": server(command="${PROGRAM}"),
    "folder": server(cwd="missing"),
    "url": remote(url="http://weather.example.org"),
}


@pytest.mark.parametrize("document", VALID_MCP, ids=str)
def test_valid_mcp_json_is_accepted(mcp, document):
    verdict = mcp.judge(document)
    assert (verdict.by_schema, verdict.reason) == (True, None)


@pytest.mark.parametrize("document", INVALID_MCP, ids=str)
def test_invalid_mcp_json_is_rejected(mcp, document):
    verdict = mcp.judge(document)
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


@pytest.mark.parametrize("rule", MCP_RULES)
def test_bridge_rejects_servers_that_the_schema_accepts(mcp, rule):
    verdict = mcp.judge(UNSTATED_MCP[rule])
    assert verdict.by_schema
    assert re.search(MCP_REASONS[rule], verdict.reason)


def provider(**fields):
    return {"providers": {"a": fields}}


VALID_HYPERPOCKET = (
    {},
    provider(kind="token", env=[]),
    provider(kind="api_key", env=["A", "_b1"]),
    provider(**{key: DEVICE_FLOW[key] for key in DEVICE_FLOW if key not in ("env", "scopes")}),
    provider(**DEVICE_FLOW | {"token_endpoint": "http://localhost:1/token", "scopes": "repo"}),
)
INVALID_HYPERPOCKET = (
    {"providers": []},
    {"colour": {}},
    {"$schema": 5},
    {"variables": {"a": "b"}},
    {"variables": {"a": {"b": 1}}},
    {"credential-names": {"a": "B"}},
    {"providers": {"a": "token"}},
    {"providers": {"-a": {"kind": "token"}}},
    {"providers": {"a" * 129: {"kind": "token"}}},
    provider(),
    provider(kind="oauth"),
    provider(kind="token", scopes=["a"]),
    provider(kind="token", env=""),
    provider(kind="token", env="A-B"),
    provider(kind="token", env=["A", 1]),
    provider(kind="device_flow", client_id="a"),
    provider(**DEVICE_FLOW | {"client_id": ""}),
    provider(**DEVICE_FLOW | {"client_secret": ""}),
    provider(**DEVICE_FLOW | {"scopes": [""]}),
    provider(**DEVICE_FLOW | {"token_endpoint": "github.com"}),
)


@pytest.mark.parametrize("document", VALID_HYPERPOCKET, ids=str)
def test_valid_hyperpocket_file_is_accepted(hyperpocket, document):
    verdict = hyperpocket.judge(document)
    assert (verdict.by_schema, verdict.reason) == (True, None)


@pytest.mark.parametrize("document", INVALID_HYPERPOCKET, ids=str)
def test_invalid_hyperpocket_file_is_rejected(hyperpocket, document):
    verdict = hyperpocket.judge(document)
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


def test_bridge_rejects_an_endpoint_that_the_schema_accepts(hyperpocket):
    document = provider(**DEVICE_FLOW | {"token_endpoint": "http://github.com/token"})
    verdict = hyperpocket.judge(document)
    assert verdict.by_schema
    assert [*HYPERPOCKET_RULES] == ["endpoint"]
    assert re.search(HYPERPOCKET_REASONS["endpoint"], verdict.reason)


@pytest.mark.parametrize("kind", [["token"], {"token": 1}])
def test_kind_of_a_provider_that_is_not_a_string_is_invalid(hyperpocket, kind):
    assert "auth_provider_invalid: " in hyperpocket.reason(provider(kind=kind))


@pytest.mark.parametrize("name", ["env", "headers"])
def test_server_with_a_secret_that_is_not_a_string_is_invalid(tmp_path, name):
    with pytest.raises(ValidationError, match=f"{name} must be an object of strings"):
        parse_server({"url": "https://a.example", name: {"TOKEN": 5}}, {}, tmp_path)
