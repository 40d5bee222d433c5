"""The device authorization grant (RFC 8628), against a server that implements it."""

import asyncio

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import AuthorizationServer, Clock
from nexus_tools.bridges.hyperpocket.auth.device_flow import authorize_device, wait_for_token
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import credential_from_response
from nexus_tools.errors import NotAllowedError, UnreachableError, ValidationError

REPO = frozenset({"repo"})


@pytest.fixture
def server(authorization_server):
    url = authorization_server.url
    return AuthorizationServer("client-1", f"{url}/token", f"{url}/device")


@pytest.fixture
def respond_with(server, monkeypatch):
    """Return a server that responds with a document of the test."""

    def respond_with(**document):
        async def post(*_):
            return document

        monkeypatch.setattr(AuthorizationServer, "post", post)
        return server

    return respond_with


class FastClock:
    """A clock without real delays; `at` schedules a call for a time."""

    def __init__(self, manual_clock):
        self.turned, self.plans = manual_clock, []
        self.clock = Clock(lambda: manual_clock.time, self._sleep)

    def after(self, seconds, do):
        self.plans.append((self.turned.time + seconds, do))

    async def _sleep(self, seconds):
        self.turned.slept.append(seconds)
        self.turned.time += seconds
        for due, do in self.plans:
            if due <= self.turned.time:
                do()


@pytest.fixture
def fast_clock(manual_clock):
    return FastClock(manual_clock)


async def test_client_requests_its_scopes(server, authorization_server, manual_clock):
    await authorize_device(server, frozenset({"user", "repo"}), manual_clock.time)
    form = {"client_id": "client-1", "scope": "repo user"}
    assert authorization_server.forms == [("/device", form)]


async def test_authorization_has_code_url_and_times(server, authorization_server, manual_clock):
    authorization = await authorize_device(server, REPO, manual_clock.time)
    [user_code] = authorization_server.codes
    assert authorization.user_code == user_code
    assert authorization.url == f"https://example.com/device?code={user_code}"
    assert authorization.expires_at == manual_clock.time + 600
    assert authorization.interval == 5


async def test_device_code_is_not_in_the_repr(server, authorization_server, manual_clock):
    authorization = await authorize_device(server, REPO, manual_clock.time)
    [device_code] = authorization_server.issues
    assert authorization.device_code == device_code
    assert device_code not in repr(authorization)


async def test_client_secret_is_sent_and_never_shown(authorization_server, manual_clock):
    authorization_server.client_secret = "s3cret-of-client"
    url = authorization_server.url
    server = AuthorizationServer("client-1", f"{url}/token", f"{url}/device", "s3cret-of-client")
    await authorize_device(server, REPO, manual_clock.time)
    assert "s3cret-of-client" not in repr(server)


async def test_unknown_client_is_reported(authorization_server, manual_clock):
    url = authorization_server.url
    server = AuthorizationServer("stranger", f"{url}/token", f"{url}/device")
    with pytest.raises(NotAllowedError, match="invalid_client") as caught:
        await authorize_device(server, REPO, manual_clock.time)
    assert caught.value.code == "sign_in_refused"


async def test_client_polls_in_the_interval_while_authorization_is_pending(
    server, authorization_server, fast_clock
):
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    fast_clock.after(14, lambda: authorization_server.decide(authorization.user_code, "approve"))
    credential = await wait_for_token(server, authorization, fast_clock.clock)
    assert fast_clock.turned.slept == [5, 5, 5]
    assert credential.secret == authorization_server.tokens[0]


async def test_slow_down_adds_five_seconds_permanently(server, authorization_server, fast_clock):
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    [issue] = authorization_server.issues.values()
    issue.interval = (
        7  # the server requires more than it announced, so the second poll is too early
    )
    fast_clock.after(24, lambda: authorization_server.decide(authorization.user_code, "approve"))
    await wait_for_token(server, authorization, fast_clock.clock)
    assert fast_clock.turned.slept == [5, 5, 10, 10]


async def test_access_denied_ends_the_flow(server, authorization_server, fast_clock):
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    authorization_server.decide(authorization.user_code, "deny")
    with pytest.raises(NotAllowedError, match="access_denied"):
        await wait_for_token(server, authorization, fast_clock.clock)
    assert fast_clock.turned.slept == [5]


async def test_expired_token_ends_the_flow(server, authorization_server, fast_clock):
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    [issue] = authorization_server.issues.values()
    issue.expires_at -= 590
    with pytest.raises(NotAllowedError, match="expired_token"):
        await wait_for_token(server, authorization, fast_clock.clock)
    assert fast_clock.turned.slept == [5, 5]


async def test_polling_stops_when_the_code_has_expired(server, authorization_server, fast_clock):
    authorization_server.lifetime = 12
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    with pytest.raises(NotAllowedError, match="expired before anyone signed in"):
        await wait_for_token(server, authorization, fast_clock.clock)
    assert fast_clock.turned.slept == [5, 5]


async def test_polling_slows_down_when_the_server_is_unreachable(fast_clock, server):
    authorization = await authorize_device(server, REPO, fast_clock.turned.time)
    gone = AuthorizationServer("client-1", "http://127.0.0.1:1/token", "http://127.0.0.1:1/device")
    with pytest.raises(NotAllowedError):
        await wait_for_token(gone, authorization, fast_clock.clock)
    assert fast_clock.turned.slept[:6] == [5, 10, 20, 40, 60, 60]


async def test_excessive_lifetime_is_limited(respond_with, manual_clock):
    server = respond_with(
        device_code="d", user_code="U", verification_uri="https://x", expires_in=1e9
    )
    authorization = await authorize_device(server, REPO, manual_clock.time)
    assert authorization.expires_at == manual_clock.time + 3600
    assert authorization.interval == 5


@pytest.mark.parametrize(
    "change",
    [
        {"device_code": ""},
        {"user_code": 7},
        {"user_code": "A" * 65},
        {"user_code": "A\nB"},
        {"verification_uri": None},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri_complete": "file:///etc/passwd"},
        {"expires_in": "soon"},
        {"expires_in": -1},
        {"interval": []},
    ],
    ids=str,
)
async def test_unusable_response_is_refused(respond_with, manual_clock, change):
    answer = {
        "device_code": "d",
        "user_code": "U",
        "verification_uri": "https://example.com",
        "expires_in": 60,
    }
    with pytest.raises(ValidationError) as caught:
        await authorize_device(respond_with(**answer | change), REPO, manual_clock.time)
    assert caught.value.code == "auth_response_invalid"


async def test_unreachable_server_is_reported(manual_clock):
    gone = AuthorizationServer("client-1", "http://127.0.0.1:1/token", "http://127.0.0.1:1/device")
    with pytest.raises(UnreachableError) as caught:
        await authorize_device(gone, REPO, manual_clock.time)
    assert caught.value.code == "auth_unreachable"


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b'"token"', b"x" * 70_000], ids=["html", "list", "text", "huge"]
)
async def test_non_object_response_is_refused_unquoted(manual_clock, content):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        with pytest.raises(ValidationError) as caught:
            await authorize_device(AuthorizationServer("c", url, url), REPO, manual_clock.time)
    assert caught.value.code == "auth_response_invalid"
    assert content.decode()[:20] not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/token",
        "ftp://127.0.0.1/x",
        "https://",
        "token",
        "http://10.0.0.1/",
        "//x",
    ],
)
def test_secrets_go_only_to_https_or_this_machine(url):
    with pytest.raises(ValidationError) as caught:
        AuthorizationServer("client-1", url, "https://example.com/device")
    assert caught.value.code == "auth_provider_invalid"


@pytest.mark.parametrize("url", ["https://example.com/t", "http://[::1]:8/t", "http://localhost/t"])
def test_endpoint_must_be_https_or_on_this_machine(url):
    assert AuthorizationServer("client-1", url, url).token_endpoint == url


def test_token_response_without_scope_grants_the_requested_scopes():
    credential = credential_from_response({"access_token": "a"}, 0.0, REPO)
    assert credential == Credential(CredentialKind.OAUTH2, "a", scopes=REPO)


def test_token_response_may_separate_scopes_by_commas():
    credential = credential_from_response({"access_token": "a", "scope": "repo,user"}, 0.0, REPO)
    assert credential.scopes == {"repo", "user"}
