"""Errors for JSON-RPC and GraphQL clients, in their own formats."""

import httpx
import pytest

CHECKPOINT = {"jsonrpc": "2.0", "id": 7, "method": "sui_getLatestCheckpointSequenceNumber"}
CHAIN = {"query": "query { chainIdentifier }", "variables": {}}


def post(localnet, path, body):
    return httpx.post(f"{localnet.url}{path}", json=body)


@pytest.mark.parametrize("path", ["", "/", "/rpc"])
def test_json_rpc_request_gets_method_not_found(localnet, path):
    response = post(localnet, path, CHECKPOINT)
    assert response.status_code == 200
    told = response.json()
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", 7, -32601)
    assert "speaks gRPC (`sui.rpc.v2`)" in told["error"]["message"]
    assert "SuiGrpcClient" in told["error"]["message"]


def test_json_rpc_batch_gets_a_batch(localnet):
    told = post(localnet, "/", [CHECKPOINT, CHECKPOINT | {"id": "b"}]).json()
    assert [(response["id"], response["error"]["code"]) for response in told] == [
        (7, -32601),
        ("b", -32601),
    ]


@pytest.mark.parametrize("path", ["/graphql", "/"])
def test_graphql_request_gets_a_graphql_error(localnet, path):
    response = post(localnet, path, CHAIN)
    assert response.status_code == 200
    [error] = response.json()["errors"]
    assert "speaks gRPC (`sui.rpc.v2`)" in error["message"]


@pytest.mark.parametrize("body", [[], [1], [CHECKPOINT, 1], {}, {"query": 1}, "jsonrpc", None])
def test_other_json_gets_no_special_error(localnet, body):
    assert post(localnet, "/", body).status_code == 404


def test_invalid_json_gets_no_special_error(localnet):
    assert httpx.post(f"{localnet.url}/", content=b"[" * 60_000).status_code == 404
    assert httpx.get(f"{localnet.url}/graphql").status_code == 404
