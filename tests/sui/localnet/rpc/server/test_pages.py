"""Foreign web pages, which must not read or control anything."""

import json
import urllib.request

import httpx
import pytest

from nexus_tools.sui.localnet import Localnet
from nexus_tools.sui.support.allowed_sources import AllowedSources

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
EMPTY_MESSAGE = b"\0\0\0\0\0"
CONTROLS = ["/gas", "/v1/gas", "/v2/gas", "/advance-epoch", "/snapshot", "/revert", "/trace"]
COINS = json.dumps({"FixedAmountRequest": {"recipient": "0x" + "ab" * 32}})
FOREIGN = [
    {"host": "evil.example"},
    {"host": "evil.example:9000"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "localhost.evil.example"},
    {"host": "localhost@evil.example"},
    {"host": ""},
    {"origin": "https://evil.example"},
    {"origin": "http://localhost.evil.example"},
    {"origin": "http://evil.example#localhost"},
    {"origin": "null"},
    {"origin": ""},
]


def height(localnet):
    return httpx.get(f"{localnet.url}/health").json()["checkpoint"]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_foreign_pages_get_403_and_change_nothing(localnet, headers):
    before = height(localnet)
    for path in CONTROLS:
        plain = {"content-type": "text/plain"} | headers
        answer = httpx.post(f"{localnet.url}{path}", content=COINS, headers=plain)
        assert answer.status_code == 403
        assert "--allow-" in answer.json()["error"]
    assert height(localnet) == before


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("form", ["application/grpc-web+proto", "application/grpc-web-text"])
def test_foreign_pages_cannot_call_procedures(localnet, headers, form):
    sent = headers | {"content-type": form}
    answer = httpx.post(f"{localnet.url}{INFO}", content=EMPTY_MESSAGE, headers=sent)
    assert answer.status_code == 403
    assert "grpc-status" not in answer.headers


def test_foreign_pages_get_no_preflight(localnet):
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = httpx.options(f"{localnet.url}/v2/gas", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-methods" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:9000"},
        {"host": "[::1]:9000"},
        {"host": "app.localhost"},
        {"host": "192.168.1.5:9000"},
        {"origin": "http://localhost:3000"},
        {"origin": "https://127.0.0.1:5173"},
        {"origin": "http://[::1]:8080"},
        {"origin": "http://app.localhost:3000"},
    ],
    ids=str,
)
def test_local_programs_and_pages_may_use_everything(localnet, headers):
    plain = {"content-type": "text/plain"} | headers
    assert httpx.post(f"{localnet.url}/v2/gas", content=COINS, headers=plain).status_code == 200
    web = {"content-type": "application/grpc-web+proto"} | headers
    answer = httpx.post(f"{localnet.url}{INFO}", content=EMPTY_MESSAGE, headers=web)
    assert (answer.status_code, answer.headers.get("grpc-status", "0")) == (200, "0")


def test_control_characters_in_a_shown_header_are_escaped(localnet):
    request = urllib.request.Request(f"{localnet.url}/health", headers={"Origin": "x\x9b31m" * 99})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    told = json.loads(caught.value.read())["error"]
    assert told.isprintable()
    assert len(told) < 250


async def test_sources_can_be_allowed():
    sources = AllowedSources.of(["Net.example", "other.example:81"], ["https://Dapp.example/"])
    async with Localnet(sources=sources) as localnet, httpx.AsyncClient() as client:

        async def status(**headers):
            return (await client.get(f"{localnet.url}/health", headers=headers)).status_code

        assert await status(host="net.example:9000", origin="https://dapp.example") == 200
        assert await status(host="other.example:81") == 200
        assert await status(host="other.example:82") == 403
        assert await status(origin="http://dapp.example") == 403
        assert await status(origin="https://dapp.example:444") == 403
