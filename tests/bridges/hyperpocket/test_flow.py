"""The flow of a call: invoke, authenticate, and invoke with credentials."""

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import auth_providers

GITHUB = {"auth_provider": "github", "scopes": ["repo"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def whoami(write_packaged):
    return write_packaged({"main.sh": 'printf %s "$GITHUB_TOKEN" | wc -c'}, auth=GITHUB)


async def test_call_succeeds_after_sign_in(
    whoami, discover_tools, device_flow, announcing_store, manual_clock, authorization_server
):
    providers = auth_providers({"github": device_flow}, announcing_store, manual_clock.clock)
    discovery = await discover_tools(whoami, credentials=announcing_store, providers=providers)
    [tool] = discovery.tools
    async with discovery.running():
        required = (await tool.invoke({})).as_json()["auth_required"]
        [user_code] = authorization_server.codes
        assert required["user_code"] == user_code
        assert required["url"] == f"https://example.com/device?code={user_code}"
        assert (required["env"], required["scopes"]) == (["GITHUB_TOKEN"], ["repo"])
        authorization_server.decide(user_code, "approve")
        await manual_clock.turn(5)
        await announcing_store.has_put()
        output = (await tool.invoke({})).as_json()
    assert output == {"ok": {"result": len(authorization_server.tokens[0])}}


async def test_provider_of_the_handler_takes_precedence(write_packaged, call_tool, store):
    auth = {"auth_provider": "linkedin", "auth_handler": "linkedin-basicauth"}
    folder = write_packaged({"main.sh": "printf %s $LINKEDIN_BASIC_AUTH | wc -c"}, auth=auth)
    store.put(CredentialKey("linkedin"), Credential(CredentialKind.TOKEN, "12345"))
    handler = CredentialKey("linkedin/linkedin-basicauth")
    store.put(handler, Credential(CredentialKind.API_KEY, "1234567"))
    providers = auth_providers(
        {"linkedin": {"kind": "token"}, handler.provider: {"kind": "api_key"}}, store
    )
    output = await call_tool(folder, {}, credentials=store, providers=providers)
    assert output == {"ok": {"result": 7}}


async def test_provider_is_used_without_a_handler(whoami, call_tool, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "1234567"))
    providers = auth_providers({"github": {"kind": "api_key"}}, store)
    output = await call_tool(whoami, {}, credentials=store, providers=providers)
    assert output["auth_required"]["reason"] == "the operator has not stored an API key for github"


async def test_operator_may_supply_a_custom_provider(whoami, call_tool):
    class Own:
        names = ()

        async def authorize(self, request):
            assert request.auth.provider == "github"
            return Credential(CredentialKind.TOKEN, "1234567")

        def running(self):
            from contextlib import nullcontext

            return nullcontext()

    assert await call_tool(whoami, {}, providers={"github": Own()}) == {"ok": {"result": 7}}


@pytest.mark.parametrize("kind", ["token", "device_flow"])
async def test_broken_store_requires_authentication_and_leaks_no_secret(
    whoami, call_tool, store, device_flow, kind
):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "1234567"))
    store.path.chmod(0o644)
    providers = auth_providers(
        {"github": device_flow if kind == "device_flow" else {"kind": kind}}, store
    )
    output = await call_tool(whoami, {}, credentials=store, providers=providers)
    reason = "the operator's credentials are currently unavailable"
    assert output["auth_required"]["reason"] == reason


async def test_tool_without_auth_has_no_auth_variant(write_packaged, discover_tools):
    [tool] = (await discover_tools(write_packaged({"main.sh": ""}))).tools
    names = [branch["required"][0] for branch in tool.output_schema["oneOf"]]
    assert names == ["ok", "err"]


async def test_profile_wraps_the_arguments_in_a_body(write_packaged, discover_tools):
    [tool] = (
        await discover_tools(write_packaged({"main.sh": "cat"}, schema=TEXT), profile=True)
    ).tools
    ports = tool.input_schema["properties"]
    assert sorted(ports) == ["body", "profile", "thread_id"]
    assert ports["body"]["required"] == ["text"]
    assert (ports["profile"]["default"], ports["thread_id"]["default"]) == ("default", "default")
    assert tool.input_schema["required"] == ["body"]


async def test_references_in_a_wrapped_schema_still_resolve(write_packaged, call_tool):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}},
        "$defs": {"unused": {"$ref": "#"}},
    }
    folder = write_packaged({"main.sh": "cat"}, schema=schema)
    output = await call_tool(folder, {"body": {"a": 1, "b": 2}}, profile=True)
    assert output == {"ok": {"result": {"a": 1, "b": 2}}}


async def test_profile_and_thread_select_the_credential(whoami, call_tool, store):
    store.put(CredentialKey("github", "work", "t-1"), Credential(CredentialKind.TOKEN, "12345"))
    ports = {"body": {}, "profile": "work", "thread_id": "t-1"}
    assert await call_tool(whoami, ports, profile=True, credentials=store) == {"ok": {"result": 5}}
    output = await call_tool(whoami, {"body": {}}, profile=True, credentials=store)
    assert (
        output["auth_required"]["reason"] == "the operator has not stored a credential for github"
    )


@pytest.mark.parametrize("profile", [False, True])
async def test_non_object_schema_is_refused(write_packaged, discover_tools, profile):
    discovery = await discover_tools(write_packaged(schema={"type": "string"}), profile=profile)
    assert discovery.tools == ()
    assert "must describe an object" in discovery.rejected[0].reason
