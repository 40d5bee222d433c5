"""Packaged tools, run by the shell in a copy of their folder."""

import json
from dataclasses import replace

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge
from nexus_tools.errors import ValidationError

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
GITHUB = {"auth_provider": "github", "scopes": ["repo"]}
TOKEN = Credential(CredentialKind.TOKEN, "ghp-0123456789")


async def test_arguments_are_json_on_standard_input(write_packaged, call_tool):
    folder = write_packaged({"main.sh": "cat"}, schema=TEXT)
    assert await call_tool(folder, {"text": "héllo"}) == {"ok": {"result": {"text": "héllo"}}}


@pytest.mark.parametrize(
    ("printed", "result"),
    [
        ("42", 42),
        ('[1, {"a": null}]', [1, {"a": None}]),
        ('"quoted"', "quoted"),
        ("two words", "two words"),
        ('{"a": 1} {"b": 2}', '{"a": 1} {"b": 2}'),
        ('{"a": NaN}', '{"a": NaN}'),
        ("", ""),
    ],
)
async def test_output_is_a_value_if_it_is_json_else_text(
    write_packaged, call_tool, printed, result
):
    folder = write_packaged({"main.sh": "cat out", "out": printed})
    assert await call_tool(folder, {}) == {"ok": {"result": result}}


async def test_exit_code_is_an_error_with_the_output(write_packaged, call_tool):
    folder = write_packaged({"main.sh": "echo no such issue >&2; exit 3"})
    assert await call_tool(folder, {}) == {
        "err": {
            "reason": "the tool exited with code 3",
            "exit_code": 3,
            "log": "no such issue",
        }
    }


async def test_slow_tool_is_stopped(write_packaged, host):
    host = replace(host, timeout_ms=1_000)
    place = write_packaged({"main.sh": "echo begun; sleep 600"})
    discovery = await HyperpocketBridge().discover(place, host, Naming("xyz.example"))
    [tool] = discovery.tools
    async with discovery.running():
        await tool.build.ended()
        error = (await tool.invoke({})).as_json()["err"]
    assert (error["limit"], error["log"]) == ("time", "begun")


async def test_tool_with_too_much_output_is_stopped(write_packaged, host):
    host = replace(host, limits=replace(host.limits, output_bytes=10_000))
    place = write_packaged({"main.sh": "yes"})
    discovery = await HyperpocketBridge().discover(place, host, Naming("xyz.example"))
    async with discovery.running():
        error = (await discovery.tools[0].invoke({})).as_json()["err"]
    assert error["limit"] == "output"


async def test_invalid_arguments_never_reach_the_tool(write_packaged, call_tool, tmp_path):
    folder = write_packaged({"main.sh": f"touch {tmp_path / 'ran'}"}, schema=TEXT)
    with pytest.raises(ValidationError) as caught:
        await call_tool(folder, {"text": 7})
    assert caught.value.code == "input_invalid"
    assert not (tmp_path / "ran").exists()


async def test_foreign_argument_names_are_mapped_to_ports_and_back(
    write_packaged, call_tool, discover_tools
):
    schema = {"type": "object", "properties": {"perPage": {"type": "integer"}}}
    folder = write_packaged({"main.sh": "cat"}, schema=schema)
    [tool] = (await discover_tools(folder)).tools
    assert list(tool.input_schema["properties"]) == ["per_page"]
    assert await call_tool(folder, {"per_page": 5}) == {"ok": {"result": {"perPage": 5}}}


async def test_tool_has_its_variables_and_no_others_of_the_operator(write_packaged, call_tool):
    folder = write_packaged({"main.sh": "env"}, variables={"REGION": "eu", "LIMIT": "3"})
    overridden = {"shout": {"REGION": "us"}, "other": {"LIMIT": "9"}}
    output = await call_tool(folder, {}, variables=overridden)
    lines = set(output["ok"]["result"].splitlines())
    assert {"REGION=us", "LIMIT=3"} <= lines
    assert "not-for-tools" not in output["ok"]["result"]


async def test_call_works_in_a_copy_and_leaves_nothing(write_packaged, call_tool, host):
    folder = write_packaged(
        {"main.sh": "cat note; echo changed > note; cat note", "note": "first\n"}
    )
    for _ in range(2):
        assert await call_tool(folder, {}) == {"ok": {"result": "first\nchanged\n"}}
    assert (folder / "note").read_text() == "first\n"
    assert list(host.scratch.iterdir()) == []


async def test_build_results_are_available_when_the_tool_runs(write_packaged, call_tool):
    build = "mkdir made && echo built-once > made/it"
    folder = write_packaged({"main.sh": "cat made/it"}, build=build)
    assert await call_tool(folder, {}) == {"ok": {"result": "built-once\n"}}


@pytest.mark.long
async def test_python_tool_runs_in_its_own_environment(write_packaged, call_tool, host):
    code = "import sys; print(sys.prefix != sys.base_prefix, sys.prefix)"
    folder = write_packaged({"main.py": code}, run="python main.py", language="python")
    result = (await call_tool(folder, {}))["ok"]["result"]
    assert result.startswith(f"True {host.cache.resolve()}")


async def test_credentials_are_in_the_environment_of_the_tool(write_packaged, call_tool, store):
    store.put(CredentialKey("github"), TOKEN)
    folder = write_packaged(
        {"main.sh": 'test "$GITHUB_TOKEN" = ghp-0123456789 && echo 1'}, auth=GITHUB
    )
    assert await call_tool(folder, {}, credentials=store) == {"ok": {"result": 1}}


async def test_printed_environment_shows_no_credential(write_packaged, call_tool, store):
    store.put(CredentialKey("github"), TOKEN)
    store.put(CredentialKey("slack"), Credential(CredentialKind.TOKEN, "xoxb-others"))
    folder = write_packaged({"main.sh": "env"}, auth=GITHUB)
    output = json.dumps(await call_tool(folder, {}, credentials=store))
    assert "GITHUB_TOKEN=[redacted]" in output
    assert not [secret for secret in ("0123456789", "xoxb", "not-for-tools") if secret in output]


async def test_failure_log_shows_no_credential(write_packaged, call_tool, store):
    store.put(CredentialKey("github"), TOKEN)
    # The last four KiB of the log would start in the middle of the credential.
    script = 'printf %s "$GITHUB_TOKEN" >&2; head -c 4088 /dev/zero | tr "\\0" x >&2; exit 1'
    output = await call_tool(
        write_packaged({"main.sh": script}, auth=GITHUB), {}, credentials=store
    )
    assert "456789" not in output["err"]["log"]
    assert output["err"]["log"].endswith("xxxx")


async def test_tool_reads_credentials_by_the_configured_names(write_packaged, call_tool, store):
    store.put(CredentialKey("linear"), TOKEN)
    script = 'test "$LINEAR_API_KEY" = ghp-0123456789 && echo 1'
    folder = write_packaged({"main.sh": script}, auth={"auth_provider": "linear"})
    names = {"shout": ["LINEAR_API_KEY"]}
    output = await call_tool(folder, {}, credentials=store, credential_names=names)
    assert output == {"ok": {"result": 1}}


async def test_provider_with_two_secrets_requires_both(write_packaged, call_tool, store):
    folder = write_packaged({"main.sh": "echo $KRAKEN_API_KEY"}, auth={"auth_provider": "kraken"})
    half = Credential(CredentialKind.API_KEY, "", {"KRAKEN_API_KEY": "k1"})
    store.put(CredentialKey("kraken"), half)
    required = (await call_tool(folder, {}, credentials=store))["auth_required"]
    assert required["env"] == ["KRAKEN_API_KEY", "KRAKEN_API_SECRET"]
    assert required["reason"] == "the operator's credential lacks the fields KRAKEN_API_SECRET"


async def test_missing_credentials_are_reported_before_the_tool_runs(
    write_packaged, call_tool, tmp_path
):
    auth = {"auth_provider": "slack", "auth_handler": "slack-token", "scopes": ["chat:write"]}
    folder = write_packaged({"main.sh": f"touch {tmp_path / 'ran'}"}, auth=auth)
    assert await call_tool(folder, {}) == {
        "auth_required": {
            "provider": "slack",
            "handler": "slack-token",
            "scopes": ["chat:write"],
            "env": ["SLACK_BOT_TOKEN"],
            "reason": "the operator has not configured credentials",
        }
    }
    assert not (tmp_path / "ran").exists()
