"""Sign-in by the device flow of OAuth 2.0, while tools return the instructions."""

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
def provider(device_flow, announcing_store, manual_clock):
    return auth_providers({"github": device_flow}, announcing_store, manual_clock.clock)["github"]


async def test_first_call_returns_the_sign_in_url(provider, authorization_server):
    async with provider.running():
        required = await provider.authorize(AuthRequest(REPO))
    [user_code] = authorization_server.codes
    assert required == AuthRequired(
        f"Sign in at github with the code {user_code}, and call again.",
        f"https://example.com/device?code={user_code}",
        user_code,
    )


async def test_next_call_uses_the_token_after_sign_in(
    provider, authorization_server, announcing_store, manual_clock
):
    async with provider.running():
        required = await provider.authorize(AuthRequest(REPO))
        await manual_clock.turn(5)
        await manual_clock.asleep()
        authorization_server.decide(required.user_code, "approve")
        await manual_clock.turn(5)
        await announcing_store.has_put()
        credential = await provider.authorize(AuthRequest(REPO))
    assert credential.secret == authorization_server.tokens[0]
    assert credential.scopes == {"repo"}
    assert credential.expires_at == manual_clock.time + 3600
    assert credential == announcing_store.get(CredentialKey("github"))


async def test_calls_during_a_sign_in_return_the_same_code(provider, authorization_server):
    async with provider.running():
        first = await provider.authorize(AuthRequest(REPO))
        assert await provider.authorize(AuthRequest(REPO)) == first
    assert len(authorization_server.codes) == 1


async def test_each_profile_signs_in_separately(
    provider, authorization_server, announcing_store, manual_clock
):
    async with provider.running():
        mine = await provider.authorize(AuthRequest(REPO, "mine", "t-1"))
        authorization_server.decide(mine.user_code, "approve")
        await manual_clock.turn(5)
        await announcing_store.has_put()
        theirs = await provider.authorize(AuthRequest(REPO, "theirs", "t-1"))
        assert isinstance(theirs, AuthRequired)
        assert theirs.user_code != mine.user_code
        assert isinstance(await provider.authorize(AuthRequest(REPO, "mine", "t-1")), Credential)


async def test_token_without_a_scope_is_requested_again_with_all_scopes(
    provider, authorization_server, store
):
    stored = Credential(CredentialKind.OAUTH2, "old", scopes=frozenset({"user"}))
    store.put(CredentialKey("github"), stored)
    async with provider.running():
        required = await provider.authorize(AuthRequest(REPO))
    assert required.user_code in authorization_server.codes
    assert authorization_server.forms[0][1]["scope"] == "repo user"


async def test_expired_token_is_refreshed_and_the_new_refresh_token_stored(
    provider, authorization_server, store, manual_clock
):
    authorization_server.refresh_tokens["refresh-0"] = "repo"
    expired = Credential(
        CredentialKind.OAUTH2,
        "access-0",
        refresh_token="refresh-0",
        expires_at=manual_clock.time - 1,
        scopes=frozenset({"repo"}),
    )
    store.put(CredentialKey("github"), expired)
    credential = await provider.authorize(AuthRequest(REPO))
    assert credential.secret == authorization_server.tokens[0]
    [refresh_token] = authorization_server.refresh_tokens
    assert store.get(CredentialKey("github")).refresh_token == refresh_token


async def test_rejected_refresh_token_starts_a_new_sign_in(
    provider, authorization_server, store, manual_clock
):
    gone = Credential(
        CredentialKind.OAUTH2, "access-0", refresh_token="gone", expires_at=manual_clock.time - 1
    )
    store.put(CredentialKey("github"), gone)
    async with provider.running():
        required = await provider.authorize(AuthRequest(REPO))
    assert required.user_code in authorization_server.codes


async def test_expired_code_is_replaced(provider, authorization_server, manual_clock):
    authorization_server.lifetime = 4  # less than the interval, so it expires before the first poll
    async with provider.running():
        first = await provider.authorize(AuthRequest(REPO))
        await anyio.wait_all_tasks_blocked()
        second = await provider.authorize(AuthRequest(REPO))
    assert second.user_code != first.user_code
    assert manual_clock.slept == []


async def test_provider_starts_no_sign_in_when_it_is_not_running(provider, authorization_server):
    required = await provider.authorize(AuthRequest(REPO))
    assert required == AuthRequired("not signed in at github")
    assert authorization_server.forms == []


async def test_unresponsive_server_is_a_reason_not_a_failure(
    device_flow, store, manual_clock, authorization_server
):
    port = authorization_server.url.rpartition(":")[2]
    device_flow["device_authorization_endpoint"] = "http://127.0.0.1:1/device"
    provider = auth_providers({"github": device_flow}, store, manual_clock.clock)["github"]
    async with provider.running():
        required = await provider.authorize(AuthRequest(REPO))
    assert port != "1"
    assert "does not respond" in required.reason
    assert required.url == ""


async def test_terminal_sign_in_stores_the_token(
    provider, authorization_server, announcing_store, manual_clock
):
    announcements = []

    def announce(authorization):
        announcements.append((authorization.url, authorization.user_code))
        authorization_server.decide(authorization.user_code, "approve")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(manual_clock.turn, 5)
        key = await sign_in(provider, announce, scopes=frozenset({"repo"}), profile="work")
    [user_code] = authorization_server.codes
    assert announcements == [(f"https://example.com/device?code={user_code}", user_code)]
    assert key == CredentialKey("github", "work")
    assert announcing_store.get(key).secret == authorization_server.tokens[0]


async def test_terminal_sign_in_fails_when_the_user_refuses(
    provider, authorization_server, manual_clock
):
    def refuse(authorization):
        authorization_server.decide(authorization.user_code, "deny")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(manual_clock.turn, 5)
        with pytest.raises(NotAllowedError, match="access_denied"):
            await sign_in(provider, refuse)
