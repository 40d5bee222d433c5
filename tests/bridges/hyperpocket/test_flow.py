"""The flow of a call in the document: invoke, authenticate, invoke with credentials."""

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import auth_providers

GITHUB = {"auth_provider": "github", "scopes": ["repo"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def whoami(packaged):
    return packaged({"main.sh": 'printf %s "$GITHUB_TOKEN" | wc -c'}, auth=GITHUB)


async def test_a_call_is_told_to_sign_in_and_the_next_one_is_done(
    whoami, found, device_flow, announcing_store, turned, authorization_server
):
    providers = auth_providers({"github": device_flow}, announcing_store, turned.clock)
    discovery = await found(whoami, credentials=announcing_store, providers=providers)
    [tool] = discovery.tools
    async with discovery.running():
        required = (await tool.invoke({})).as_json()["auth_required"]
        [user_code] = authorization_server.codes
        assert required["user_code"] == user_code
        assert required["url"] == f"https://example.com/device?code={user_code}"
        assert (required["env"], required["scopes"]) == (["GITHUB_TOKEN"], ["repo"])
        authorization_server.decide(user_code, "approve")
        await turned.turn(5)
        await announcing_store.has_put()
        output = (await tool.invoke({})).as_json()
    assert output == {"ok": {"result": len(authorization_server.tokens[0])}}


async def test_a_provider_of_the_handler_comes_before_that_of_the_provider(packaged, called, store):
    auth = {"auth_provider": "linkedin", "auth_handler": "linkedin-basicauth"}
    folder = packaged({"main.sh": "printf %s $LINKEDIN_BASIC_AUTH | wc -c"}, auth=auth)
    store.put(CredentialKey("linkedin"), Credential(CredentialKind.TOKEN, "12345"))
    handler = CredentialKey("linkedin/linkedin-basicauth")
    store.put(handler, Credential(CredentialKind.API_KEY, "1234567"))
    providers = auth_providers(
        {"linkedin": {"kind": "token"}, handler.provider: {"kind": "api_key"}}, store
    )
    output = await called(folder, {}, credentials=store, providers=providers)
    assert output == {"ok": {"result": 7}}


async def test_without_a_handler_the_provider_decides(whoami, called, store):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "1234567"))
    providers = auth_providers({"github": {"kind": "api_key"}}, store)
    output = await called(whoami, {}, credentials=store, providers=providers)
    assert output["auth_required"]["reason"] == "the operator has no API key for github"


async def test_a_provider_may_be_of_the_operators_own_making(whoami, called):
    class Own:
        names = ()

        async def authorise(self, request):
            assert request.auth.provider == "github"
            return Credential(CredentialKind.TOKEN, "1234567")

        def running(self):
            from contextlib import nullcontext

            return nullcontext()

    assert await called(whoami, {}, providers={"github": Own()}) == {"ok": {"result": 7}}


@pytest.mark.parametrize("kind", ["token", "device_flow"])
async def test_a_broken_store_is_a_reason_to_authenticate_and_tells_no_secret(
    whoami, called, store, device_flow, kind
):
    store.put(CredentialKey("github"), Credential(CredentialKind.TOKEN, "1234567"))
    store.path.chmod(0o644)
    providers = auth_providers(
        {"github": device_flow if kind == "device_flow" else {"kind": kind}}, store
    )
    output = await called(whoami, {}, credentials=store, providers=providers)
    reason = "the operator's credentials cannot be used at present"
    assert output["auth_required"]["reason"] == reason


async def test_a_tool_without_auth_has_no_variant_for_it(packaged, found):
    [tool] = (await found(packaged({"main.sh": ""}))).tools
    names = [branch["required"][0] for branch in tool.output_schema["oneOf"]]
    assert names == ["ok", "err"]


async def test_a_profile_wraps_the_arguments_into_a_body(packaged, found):
    [tool] = (await found(packaged({"main.sh": "cat"}, schema=TEXT), profile=True)).tools
    ports = tool.input_schema["properties"]
    assert sorted(ports) == ["body", "profile", "thread_id"]
    assert ports["body"]["required"] == ["text"]
    assert (ports["profile"]["default"], ports["thread_id"]["default"]) == ("default", "default")
    assert tool.input_schema["required"] == ["body"]


async def test_references_in_a_wrapped_schema_lead_where_they_led(packaged, called):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}},
        "$defs": {"unused": {"$ref": "#"}},
    }
    folder = packaged({"main.sh": "cat"}, schema=schema)
    output = await called(folder, {"body": {"a": 1, "b": 2}}, profile=True)
    assert output == {"ok": {"result": {"a": 1, "b": 2}}}


async def test_a_profile_and_a_thread_choose_the_credential(whoami, called, store):
    store.put(CredentialKey("github", "work", "t-1"), Credential(CredentialKind.TOKEN, "12345"))
    ports = {"body": {}, "profile": "work", "thread_id": "t-1"}
    assert await called(whoami, ports, profile=True, credentials=store) == {"ok": {"result": 5}}
    output = await called(whoami, {"body": {}}, profile=True, credentials=store)
    assert output["auth_required"]["reason"] == "the operator has no credential for github"


@pytest.mark.parametrize("profile", [False, True])
async def test_a_schema_of_something_else_than_an_object_is_refused(packaged, found, profile):
    discovery = await found(packaged(schema={"type": "string"}), profile=profile)
    assert discovery.tools == ()
    assert "describes no object" in discovery.refused[0].reason
