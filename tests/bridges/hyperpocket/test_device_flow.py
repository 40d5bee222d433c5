"""The device authorization grant (RFC 8628), against a server that implements it."""

import asyncio

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import AuthorizationServer, Clock
from nexus_tools.bridges.hyperpocket.auth.device_flow import authorize_device, wait_for_token
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import credential_of
from nexus_tools.errors import NotAllowedError, UnreachableError, ValidationError

REPO = frozenset({"repo"})


@pytest.fixture
def server(authorization_server):
    url = authorization_server.url
    return AuthorizationServer("client-1", f"{url}/token", f"{url}/device")


@pytest.fixture
def responding(server, monkeypatch):
    """A server that answers with a document of the test's."""

    def responding(**document):
        async def post(*_):
            return document

        monkeypatch.setattr(AuthorizationServer, "post", post)
        return server

    return responding


class Elapsing:
    """A clock that lets sleepers sleep in no time; `at` runs something when a time has come."""

    def __init__(self, turned):
        self.turned, self.plans = turned, []
        self.clock = Clock(lambda: turned.time, self._sleep)

    def after(self, seconds, do):
        self.plans.append((self.turned.time + seconds, do))

    async def _sleep(self, seconds):
        self.turned.slept.append(seconds)
        self.turned.time += seconds
        for due, do in self.plans:
            if due <= self.turned.time:
                do()


@pytest.fixture
def elapsing(turned):
    return Elapsing(turned)


async def test_the_client_asks_for_its_scopes(server, authorization_server, turned):
    await authorize_device(server, frozenset({"user", "repo"}), turned.time)
    form = {"client_id": "client-1", "scope": "repo user"}
    assert authorization_server.forms == [("/device", form)]


async def test_an_authorization_has_the_code_its_url_and_its_times(
    server, authorization_server, turned
):
    authorization = await authorize_device(server, REPO, turned.time)
    [user_code] = authorization_server.codes
    assert authorization.user_code == user_code
    assert authorization.url == f"https://example.com/device?code={user_code}"
    assert authorization.expires_at == turned.time + 600
    assert authorization.interval == 5


async def test_the_code_of_the_device_is_in_no_repr(server, authorization_server, turned):
    authorization = await authorize_device(server, REPO, turned.time)
    [device_code] = authorization_server.issues
    assert authorization.device_code == device_code
    assert device_code not in repr(authorization)


async def test_a_client_secret_is_sent_and_shown_nowhere(authorization_server, turned):
    authorization_server.client_secret = "s3cret-of-client"
    url = authorization_server.url
    server = AuthorizationServer("client-1", f"{url}/token", f"{url}/device", "s3cret-of-client")
    await authorize_device(server, REPO, turned.time)
    assert "s3cret-of-client" not in repr(server)


async def test_a_client_that_the_server_does_not_know_is_told(authorization_server, turned):
    url = authorization_server.url
    server = AuthorizationServer("stranger", f"{url}/token", f"{url}/device")
    with pytest.raises(NotAllowedError, match="invalid_client") as caught:
        await authorize_device(server, REPO, turned.time)
    assert caught.value.code == "sign_in_refused"


async def test_it_asks_again_in_the_interval_while_authorization_is_pending(
    server, authorization_server, elapsing
):
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    elapsing.after(14, lambda: authorization_server.decide(authorization.user_code, "approve"))
    credential = await wait_for_token(server, authorization, elapsing.clock)
    assert elapsing.turned.slept == [5, 5, 5]
    assert credential.secret == authorization_server.tokens[0]


async def test_slow_down_adds_five_seconds_for_good(server, authorization_server, elapsing):
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    [issue] = authorization_server.issues.values()
    issue.interval = 7  # the server wants more than it has said: the second question is too early
    elapsing.after(24, lambda: authorization_server.decide(authorization.user_code, "approve"))
    await wait_for_token(server, authorization, elapsing.clock)
    assert elapsing.turned.slept == [5, 5, 10, 10]


async def test_access_denied_ends_it(server, authorization_server, elapsing):
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    authorization_server.decide(authorization.user_code, "deny")
    with pytest.raises(NotAllowedError, match="access_denied"):
        await wait_for_token(server, authorization, elapsing.clock)
    assert elapsing.turned.slept == [5]


async def test_expired_token_ends_it(server, authorization_server, elapsing):
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    [issue] = authorization_server.issues.values()
    issue.expires_at -= 590
    with pytest.raises(NotAllowedError, match="expired_token"):
        await wait_for_token(server, authorization, elapsing.clock)
    assert elapsing.turned.slept == [5, 5]


async def test_it_asks_no_more_when_the_code_has_expired(server, authorization_server, elapsing):
    authorization_server.lifetime = 12
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    with pytest.raises(NotAllowedError, match="nobody has signed in"):
        await wait_for_token(server, authorization, elapsing.clock)
    assert elapsing.turned.slept == [5, 5]


async def test_a_server_that_is_gone_is_asked_less_and_less_often(elapsing, server):
    authorization = await authorize_device(server, REPO, elapsing.turned.time)
    gone = AuthorizationServer("client-1", "http://127.0.0.1:1/token", "http://127.0.0.1:1/device")
    with pytest.raises(NotAllowedError):
        await wait_for_token(gone, authorization, elapsing.clock)
    assert elapsing.turned.slept[:6] == [5, 10, 20, 40, 60, 60]


async def test_a_lifetime_without_end_is_not_waited_for(responding, turned):
    server = responding(
        device_code="d", user_code="U", verification_uri="https://x", expires_in=1e9
    )
    authorization = await authorize_device(server, REPO, turned.time)
    assert authorization.expires_at == turned.time + 3600
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
async def test_an_answer_that_cannot_be_used_is_refused(responding, turned, change):
    answer = {
        "device_code": "d",
        "user_code": "U",
        "verification_uri": "https://example.com",
        "expires_in": 60,
    }
    with pytest.raises(ValidationError) as caught:
        await authorize_device(responding(**answer | change), REPO, turned.time)
    assert caught.value.code == "auth_response_invalid"


async def test_a_server_that_nobody_answers_at_is_unreachable(turned):
    gone = AuthorizationServer("client-1", "http://127.0.0.1:1/token", "http://127.0.0.1:1/device")
    with pytest.raises(UnreachableError) as caught:
        await authorize_device(gone, REPO, turned.time)
    assert caught.value.code == "auth_unreachable"


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b'"token"', b"x" * 70_000], ids=["html", "list", "text", "huge"]
)
async def test_an_answer_that_is_no_object_is_refused_unquoted(turned, content):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        with pytest.raises(ValidationError) as caught:
            await authorize_device(AuthorizationServer("c", url, url), REPO, turned.time)
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
def test_secrets_go_to_https_or_this_machine_alone(url):
    with pytest.raises(ValidationError) as caught:
        AuthorizationServer("client-1", url, "https://example.com/device")
    assert caught.value.code == "auth_provider_invalid"


@pytest.mark.parametrize("url", ["https://example.com/t", "http://[::1]:8/t", "http://localhost/t"])
def test_an_endpoint_is_https_or_on_this_machine(url):
    assert AuthorizationServer("client-1", url, url).token_endpoint == url


def test_a_token_response_without_scope_grants_what_was_asked_for():
    credential = credential_of({"access_token": "a"}, 0.0, REPO)
    assert credential == Credential(CredentialKind.OAUTH2, "a", scopes=REPO)


def test_a_token_response_may_separate_scopes_by_commas():
    credential = credential_of({"access_token": "a", "scope": "repo,user"}, 0.0, REPO)
    assert credential.scopes == {"repo", "user"}
