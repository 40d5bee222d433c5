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


async def test_the_arguments_are_the_standard_input_as_json(packaged, called):
    folder = packaged({"main.sh": "cat"}, schema=TEXT)
    assert await called(folder, {"text": "héllo"}) == {"ok": {"result": {"text": "héllo"}}}


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
async def test_one_json_text_is_a_value_and_anything_else_a_text(packaged, called, printed, result):
    folder = packaged({"main.sh": "cat out", "out": printed})
    assert await called(folder, {}) == {"ok": {"result": result}}


async def test_an_exit_code_is_an_error_with_what_was_printed(packaged, called):
    folder = packaged({"main.sh": "echo no such issue >&2; exit 3"})
    assert await called(folder, {}) == {
        "err": {
            "reason": "the tool ended with exit code 3",
            "exit_code": 3,
            "log": "no such issue",
        }
    }


async def test_a_tool_that_takes_too_long_is_stopped(packaged, host):
    host = replace(host, timeout_ms=1_000)
    place = packaged({"main.sh": "echo begun; sleep 600"})
    discovery = await HyperpocketBridge().discover(place, host, Naming("xyz.example"))
    [tool] = discovery.tools
    async with discovery.running():
        await tool.build.ended()
        error = (await tool.invoke({})).as_json()["err"]
    assert (error["limit"], error["log"]) == ("time", "begun")


async def test_a_tool_that_prints_too_much_is_stopped(packaged, host):
    host = replace(host, limits=replace(host.limits, output_bytes=10_000))
    place = packaged({"main.sh": "yes"})
    discovery = await HyperpocketBridge().discover(place, host, Naming("xyz.example"))
    async with discovery.running():
        error = (await discovery.tools[0].invoke({})).as_json()["err"]
    assert error["limit"] == "output"


async def test_wrong_arguments_never_reach_the_tool(packaged, called, tmp_path):
    folder = packaged({"main.sh": f"touch {tmp_path / 'ran'}"}, schema=TEXT)
    with pytest.raises(ValidationError) as caught:
        await called(folder, {"text": 7})
    assert caught.value.code == "input_invalid"
    assert not (tmp_path / "ran").exists()


async def test_foreign_names_of_arguments_are_ports_and_come_back(packaged, called, found):
    schema = {"type": "object", "properties": {"perPage": {"type": "integer"}}}
    folder = packaged({"main.sh": "cat"}, schema=schema)
    [tool] = (await found(folder)).tools
    assert list(tool.input_schema["properties"]) == ["per_page"]
    assert await called(folder, {"per_page": 5}) == {"ok": {"result": {"perPage": 5}}}


async def test_a_tool_has_its_variables_and_nothing_else_of_the_operator(packaged, called):
    folder = packaged({"main.sh": "env"}, variables={"REGION": "eu", "LIMIT": "3"})
    overridden = {"shout": {"REGION": "us"}, "other": {"LIMIT": "9"}}
    output = await called(folder, {}, variables=overridden)
    lines = set(output["ok"]["result"].splitlines())
    assert {"REGION=us", "LIMIT=3"} <= lines
    assert "not-for-tools" not in output["ok"]["result"]


async def test_a_call_works_in_a_copy_and_leaves_nothing(packaged, called, host):
    folder = packaged({"main.sh": "cat note; echo changed > note; cat note", "note": "first\n"})
    for _ in range(2):
        assert await called(folder, {}) == {"ok": {"result": "first\nchanged\n"}}
    assert (folder / "note").read_text() == "first\n"
    assert list(host.scratch.iterdir()) == []


async def test_what_the_build_made_is_there_when_the_tool_runs(packaged, called):
    build = "mkdir made && echo built-once > made/it"
    folder = packaged({"main.sh": "cat made/it"}, build=build)
    assert await called(folder, {}) == {"ok": {"result": "built-once\n"}}


async def test_a_tool_in_python_runs_in_an_environment_of_its_own(packaged, called, host):
    code = "import sys; print(sys.prefix != sys.base_prefix, sys.prefix)"
    folder = packaged({"main.py": code}, run="python main.py", language="python")
    result = (await called(folder, {}))["ok"]["result"]
    assert result.startswith(f"True {host.cache.resolve()}")


async def test_credentials_are_in_the_environment_of_the_tool(packaged, called, store):
    store.put(CredentialKey("github"), TOKEN)
    folder = packaged({"main.sh": 'test "$GITHUB_TOKEN" = ghp-0123456789 && echo 1'}, auth=GITHUB)
    assert await called(folder, {}, credentials=store) == {"ok": {"result": 1}}


async def test_a_tool_that_prints_its_environment_shows_no_credential(packaged, called, store):
    store.put(CredentialKey("github"), TOKEN)
    store.put(CredentialKey("slack"), Credential(CredentialKind.TOKEN, "xoxb-others"))
    folder = packaged({"main.sh": "env"}, auth=GITHUB)
    output = json.dumps(await called(folder, {}, credentials=store))
    assert "GITHUB_TOKEN=[redacted]" in output
    assert not [secret for secret in ("0123456789", "xoxb", "not-for-tools") if secret in output]


async def test_the_log_of_a_failure_shows_no_credential(packaged, called, store):
    store.put(CredentialKey("github"), TOKEN)
    # Four KiB of log would begin in the midst of the credential.
    script = 'printf %s "$GITHUB_TOKEN" >&2; head -c 4088 /dev/zero | tr "\\0" x >&2; exit 1'
    output = await called(packaged({"main.sh": script}, auth=GITHUB), {}, credentials=store)
    assert "456789" not in output["err"]["log"]
    assert output["err"]["log"].endswith("xxxx")


async def test_a_tool_reads_credentials_by_the_names_that_the_operator_gives(
    packaged, called, store
):
    store.put(CredentialKey("linear"), TOKEN)
    script = 'test "$LINEAR_API_KEY" = ghp-0123456789 && echo 1'
    folder = packaged({"main.sh": script}, auth={"auth_provider": "linear"})
    names = {"shout": ["LINEAR_API_KEY"]}
    output = await called(folder, {}, credentials=store, credential_names=names)
    assert output == {"ok": {"result": 1}}


async def test_a_provider_with_two_secrets_needs_both(packaged, called, store):
    folder = packaged({"main.sh": "echo $KRAKEN_API_KEY"}, auth={"auth_provider": "kraken"})
    half = Credential(CredentialKind.API_KEY, "", {"KRAKEN_API_KEY": "k1"})
    store.put(CredentialKey("kraken"), half)
    required = (await called(folder, {}, credentials=store))["auth_required"]
    assert required["env"] == ["KRAKEN_API_KEY", "KRAKEN_API_SECRET"]
    assert required["reason"] == "the operator's credential has no KRAKEN_API_SECRET"


async def test_missing_credentials_are_told_before_anything_runs(packaged, called, tmp_path):
    auth = {"auth_provider": "slack", "auth_handler": "slack-token", "scopes": ["chat:write"]}
    folder = packaged({"main.sh": f"touch {tmp_path / 'ran'}"}, auth=auth)
    assert await called(folder, {}) == {
        "auth_required": {
            "provider": "slack",
            "handler": "slack-token",
            "scopes": ["chat:write"],
            "env": ["SLACK_BOT_TOKEN"],
            "reason": "the operator keeps no credentials",
        }
    }
    assert not (tmp_path / "ran").exists()
