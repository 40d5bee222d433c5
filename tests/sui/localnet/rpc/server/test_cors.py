"""Pages of loopback origins, with requests as from browsers (Fetch standard, "CORS protocol")."""

import httpx
import pytest

INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo"
ORIGIN = {"origin": "http://localhost:3000"}


@pytest.mark.parametrize("path", [INFO, "/v2/gas", "/v1/gas", "/health", "/anything"])
def test_preflight_allows_everything(localnet, path):
    asked = {
        **ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-grpc-web,x-sui-client-protocol-version",
    }
    answer = httpx.options(f"{localnet.url}{path}", headers=asked)
    assert answer.status_code == 200
    assert answer.content == b""
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET,POST"
    assert answer.headers["access-control-allow-headers"] == "*"
    assert answer.headers["vary"] == (
        "origin, access-control-request-method, access-control-request-headers"
    )


@pytest.mark.parametrize(
    ("path", "body"), [(INFO, b"\0\0\0\0\0"), (INFO, b"\x01\0\0\0\0"), ("/no.Such/Thing", b"")]
)
def test_page_may_read_responses_and_errors_with_all_headers(localnet, path, body):
    headers = {**ORIGIN, "content-type": "application/grpc-web+proto"}
    answer = httpx.post(f"{localnet.url}{path}", content=body, headers=headers)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-expose-headers"] == "*"


@pytest.mark.parametrize("path", ["/v2/gas", "/nothing"])
def test_page_may_read_plain_http(localnet, path):
    answer = httpx.post(f"{localnet.url}{path}", json={}, headers=ORIGIN)
    assert answer.status_code >= 400
    assert answer.headers["access-control-allow-origin"] == "*"
