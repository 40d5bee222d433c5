"""People sign in by the device flow of OAuth 2.0, while tools answer what there is to do."""

import anyio
import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import (
    AuthRequest,
    AuthRequired,
    auth_providers,
    sign_in,
)
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth
from nexus_tools.errors import NotAllowedError

REPO = ToolAuth("github", scopes=frozenset({"repo"}))


@pytest.fixture
def provider(device_flow, announcing_store, turned):
    return auth_providers({"github": device_flow}, announcing_store, turned.clock)["github"]


async def test_the_first_call_says_where_to_sign_in(provider, authorization_server):
    async with provider.running():
        required = await provider.authorise(AuthRequest(REPO))
    [user_code] = authorization_server.codes
    assert required == AuthRequired(
        f"sign in at github with the code {user_code}, and call again",
        f"https://example.com/device?code={user_code}",
        user_code,
    )


async def test_the_next_call_has_the_token_of_who_signed_in(
    provider, authorization_server, announcing_store, turned
):
    async with provider.running():
        required = await provider.authorise(AuthRequest(REPO))
        await turned.turn(5)
        await turned.asleep()
        authorization_server.decide(required.user_code, "approve")
        await turned.turn(5)
        await announcing_store.has_put()
        credential = await provider.authorise(AuthRequest(REPO))
    assert credential.secret == authorization_server.tokens[0]
    assert credential.scopes == {"repo"}
    assert credential.expires_at == turned.time + 3600
    assert credential == announcing_store.get(CredentialKey("github"))


async def test_calls_in_the_meantime_name_the_same_code(provider, authorization_server):
    async with provider.running():
        first = await provider.authorise(AuthRequest(REPO))
        assert await provider.authorise(AuthRequest(REPO)) == first
    assert len(authorization_server.codes) == 1


async def test_each_profile_signs_in_for_itself(
    provider, authorization_server, announcing_store, turned
):
    async with provider.running():
        mine = await provider.authorise(AuthRequest(REPO, "mine", "t-1"))
        authorization_server.decide(mine.user_code, "approve")
        await turned.turn(5)
        await announcing_store.has_put()
        theirs = await provider.authorise(AuthRequest(REPO, "theirs", "t-1"))
        assert isinstance(theirs, AuthRequired)
        assert theirs.user_code != mine.user_code
        assert isinstance(await provider.authorise(AuthRequest(REPO, "mine", "t-1")), Credential)


async def test_a_token_that_lacks_a_scope_is_asked_for_anew_with_all_scopes(
    provider, authorization_server, store
):
    stored = Credential(CredentialKind.OAUTH2, "old", scopes=frozenset({"user"}))
    store.put(CredentialKey("github"), stored)
    async with provider.running():
        required = await provider.authorise(AuthRequest(REPO))
    assert required.user_code in authorization_server.codes
    assert authorization_server.forms[0][1]["scope"] == "repo user"


async def test_an_expired_token_is_refreshed_and_the_new_refresh_token_kept(
    provider, authorization_server, store, turned
):
    authorization_server.refresh_tokens["refresh-0"] = "repo"
    expired = Credential(
        CredentialKind.OAUTH2,
        "access-0",
        refresh_token="refresh-0",
        expires_at=turned.time - 1,
        scopes=frozenset({"repo"}),
    )
    store.put(CredentialKey("github"), expired)
    credential = await provider.authorise(AuthRequest(REPO))
    assert credential.secret == authorization_server.tokens[0]
    [kept] = authorization_server.refresh_tokens
    assert store.get(CredentialKey("github")).refresh_token == kept


async def test_a_refresh_token_that_is_taken_no_more_leads_to_a_new_sign_in(
    provider, authorization_server, store, turned
):
    gone = Credential(
        CredentialKind.OAUTH2, "access-0", refresh_token="gone", expires_at=turned.time - 1
    )
    store.put(CredentialKey("github"), gone)
    async with provider.running():
        required = await provider.authorise(AuthRequest(REPO))
    assert required.user_code in authorization_server.codes


async def test_a_code_that_has_expired_is_replaced(provider, authorization_server, turned):
    authorization_server.lifetime = 4  # less than the interval: it expires before it is asked for
    async with provider.running():
        first = await provider.authorise(AuthRequest(REPO))
        await anyio.wait_all_tasks_blocked()
        second = await provider.authorise(AuthRequest(REPO))
    assert second.user_code != first.user_code
    assert turned.slept == []


async def test_outside_of_its_time_nobody_is_sent_to_sign_in(provider, authorization_server):
    required = await provider.authorise(AuthRequest(REPO))
    assert required == AuthRequired("nobody is signed in at github")
    assert authorization_server.forms == []


async def test_a_server_that_does_not_respond_is_a_reason_and_no_failure(
    device_flow, store, turned, authorization_server
):
    port = authorization_server.url.rpartition(":")[2]
    device_flow["device_authorization_endpoint"] = "http://127.0.0.1:1/device"
    provider = auth_providers({"github": device_flow}, store, turned.clock)["github"]
    async with provider.running():
        required = await provider.authorise(AuthRequest(REPO))
    assert port != "1"
    assert "does not respond" in required.reason
    assert required.url == ""


async def test_signing_in_at_a_terminal_keeps_the_token(
    provider, authorization_server, announcing_store, turned
):
    said = []

    def announce(authorization):
        said.append((authorization.url, authorization.user_code))
        authorization_server.decide(authorization.user_code, "approve")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turned.turn, 5)
        key = await sign_in(provider, announce, scopes=frozenset({"repo"}), profile="work")
    [user_code] = authorization_server.codes
    assert said == [(f"https://example.com/device?code={user_code}", user_code)]
    assert key == CredentialKey("github", "work")
    assert announcing_store.get(key).secret == authorization_server.tokens[0]


async def test_signing_in_at_a_terminal_fails_when_the_person_refuses(
    provider, authorization_server, turned
):
    def refuse(authorization):
        authorization_server.decide(authorization.user_code, "deny")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turned.turn, 5)
        with pytest.raises(NotAllowedError, match="access_denied"):
            await sign_in(provider, refuse)
