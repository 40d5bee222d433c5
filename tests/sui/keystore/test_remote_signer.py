"""Remote signers over real loopback HTTP: servers that refuse, lie, or are not servers."""

import asyncio
import json
import socket
import ssl
from base64 import b64encode

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from nexus_tools.errors import NexusError, UsageError
from nexus_tools.sui.keystore import KeyPair, RemoteSigner, SignerCredentials, sign_transaction

pytestmark = pytest.mark.anyio

TRANSACTION = b"transaction bytes"
TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def own():
    return KeyPair.new()


@pytest.fixture
async def serve(serve_app):
    """Serve `POST /sign`, and return the URL and the requests with their documents."""

    async def serve(respond):
        requests = []

        async def sign(request):
            requests.append((request, await request.json()))
            return respond(requests[-1][1])

        return await serve_app(Starlette(routes=[Route("/sign", sign, methods=["POST"])])), requests

    return serve


def signature_by(key):
    def respond(_document):
        return JSONResponse({"signature": b64encode(key.sign(TRANSACTION)).decode()})

    return respond


async def code_of(signer):
    with pytest.raises(NexusError) as caught:
        await sign_transaction(signer, TRANSACTION)
    return caught.value.code


async def test_server_receives_the_transaction_the_address_and_the_token(serve, own):
    url, requests = await serve(signature_by(own))
    signer = RemoteSigner(f"{url}/", own.address, SignerCredentials(TOKEN))
    assert await sign_transaction(signer, TRANSACTION) == own.sign(TRANSACTION)
    [(request, document)] = requests
    assert document == {"transaction": "dHJhbnNhY3Rpb24gYnl0ZXM=", "address": str(own.address)}
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


async def test_signature_of_a_replaced_key_is_refused(serve, own):
    url, _ = await serve(signature_by(KeyPair.new()))
    assert await code_of(RemoteSigner(url, own.address)) == "signature_of_other_key"


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response("<html>", 200), "signer_response_invalid"),
        (Response(b"\xff", 200), "signer_response_invalid"),
        (Response("[" * 50_000, 200), "signer_response_invalid"),
        (JSONResponse([]), "signer_response_invalid"),
        (JSONResponse({}), "signer_response_invalid"),
        (JSONResponse({"signature": "%"}), "signer_response_invalid"),
        (JSONResponse({"signature": 7}), "signer_response_invalid"),
        (JSONResponse({"signature": ""}), "signature_malformed"),
        (Response("x" * 70_000, 200), "signer_response_invalid"),
        (RedirectResponse("https://example.com/sign"), "signer_response_invalid"),
        (JSONResponse({"error": {"message": "no"}}, 401), "signer_unauthorized"),
        (JSONResponse({"error": {"message": "no"}}, 403), "signer_refused"),
        (JSONResponse({"error": {"code": "address_unknown"}}, 404), "signer_address_wrong"),
        (Response("not found", 404), "signer_failed"),
        (JSONResponse({"error": "no"}, 400), "signer_failed"),
        (JSONResponse({"error": ["no"]}, 500), "signer_failed"),
    ],
)
async def test_response_without_a_signature_has_an_error_code(serve, own, response, code):
    url, requests = await serve(lambda _: response)
    assert await code_of(RemoteSigner(url, own.address)) == code
    assert len(requests) == 1


async def test_reason_of_a_server_is_shown_without_the_token_and_on_one_line(serve, own):
    message = f"policy\n\x1b[31m of Bearer {TOKEN}"
    url, _ = await serve(lambda _: JSONResponse({"error": {"message": message}}, 403))
    signer = RemoteSigner(url, own.address, SignerCredentials(TOKEN))
    with pytest.raises(NexusError) as caught:
        await signer.sign(TRANSACTION)
    assert caught.value.message.endswith("refuses to sign: policy \ufffd[31m of Bearer …")
    for text in (str(caught.value), repr(signer), str(signer.credentials)):
        assert TOKEN not in text


async def test_unreachable_server_is_named(own, unused_port):
    signer = RemoteSigner(f"http://127.0.0.1:{unused_port}", own.address)
    with pytest.raises(NexusError) as caught:
        await signer.sign(TRANSACTION)
    assert caught.value.code == "signer_unreachable"
    assert signer.url in caught.value.message


async def test_server_that_never_answers_ends_at_the_limit(own):
    async def keep_open(reader, _writer):
        await reader.read()

    server = await asyncio.start_server(keep_open, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        assert await code_of(RemoteSigner(url, own.address, timeout_s=0)) == "signer_timeout"


@pytest.fixture
def unused_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


# --- Credentials


@pytest.mark.parametrize(
    "url",
    [
        "http://signer.example",
        "http://10.0.0.1:8700",
        "ftp://127.0.0.1",
        "https://",
        "https://user:secret@signer.example",
        "https://signer.example?token=secret",
        "https://signer.example#secret",
        "https://[secret",
        "https://signer.example:secret",
    ],
)
async def test_url_without_tls_or_with_a_secret_is_refused(url, own):
    with pytest.raises(UsageError) as caught:
        RemoteSigner(url, own.address)
    assert caught.value.code == "signer_url_invalid"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "[::1]", "localhost"])
async def test_server_on_this_machine_needs_no_tls(host, own):
    assert RemoteSigner(f"http://{host}:8700", own.address).url == f"http://{host}:8700"


async def test_token_file_is_read_for_each_request(serve, own, tmp_path):
    url, requests = await serve(signature_by(own))
    file = tmp_path / "token"
    signer = RemoteSigner(url, own.address, SignerCredentials(token_file=file))
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        file.chmod(0o600)
        await signer.sign(TRANSACTION)
    sent = [request.headers["authorization"] for request, _ in requests]
    assert sent == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("content", ["", "two words", "t\x00ken", "tökén", None, b"\xff"])
async def test_invalid_token_is_not_sent_and_not_shown(serve, own, tmp_path, content):
    url, requests = await serve(signature_by(own))
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(0o600)
    with pytest.raises(UsageError) as caught:
        await RemoteSigner(url, own.address, SignerCredentials(token_file=file)).sign(TRANSACTION)
    assert caught.value.code == "signer_token_invalid"
    assert not content or str(content) not in caught.value.message
    assert requests == []


async def test_token_file_that_others_can_read_is_refused(own, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    credentials = SignerCredentials(token_file=file)
    assert await code_of(RemoteSigner("http://[::1]:1", own.address, credentials)) == (
        "signer_token_invalid"
    )


@pytest.mark.parametrize("name", ["ca", "certificate"])
async def test_invalid_certificate_file_is_reported(own, tmp_path, name):
    file = tmp_path / "file.pem"
    file.write_text("no certificate")
    credentials = SignerCredentials(**{name: file})
    signer = RemoteSigner("https://127.0.0.1:1", own.address, credentials)
    assert await code_of(signer) == "signer_certificate_invalid"


async def test_client_certificate_identifies_the_client(own, make_certificate):
    """The server and the client use the same certificate, and trust no other one."""
    made = make_certificate("127.0.0.1")
    context = made.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(made.certificate)
    body = json.dumps({"signature": b64encode(own.sign(TRANSACTION)).decode()}).encode()

    async def respond(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    full = SignerCredentials(certificate=made.certificate, key=made.key, ca=made.certificate)
    async with server:
        signer = RemoteSigner(url, own.address, full)
        assert await sign_transaction(signer, TRANSACTION) == own.sign(TRANSACTION)
        for wrong in (SignerCredentials(ca=made.certificate), SignerCredentials()):
            assert await code_of(RemoteSigner(url, own.address, wrong)) == "signer_unreachable"
