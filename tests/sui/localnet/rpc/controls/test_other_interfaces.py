"""Clients of JSON-RPC and GraphQL are told in their own form that the node speaks gRPC."""

import httpx
import pytest

CHECKPOINT = {"jsonrpc": "2.0", "id": 7, "method": "sui_getLatestCheckpointSequenceNumber"}
CHAIN = {"query": "query { chainIdentifier }", "variables": {}}


def post(localnet, path, body):
    return httpx.post(f"{localnet.url}{path}", json=body)


@pytest.mark.parametrize("path", ["", "/", "/rpc"])
def test_json_rpc_has_no_such_method(localnet, path):
    response = post(localnet, path, CHECKPOINT)
    assert response.status_code == 200
    told = response.json()
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", 7, -32601)
    assert "speaks gRPC (`sui.rpc.v2`)" in told["error"]["message"]
    assert "SuiGrpcClient" in told["error"]["message"]


def test_a_batch_of_json_rpc_gets_a_batch(localnet):
    told = post(localnet, "/", [CHECKPOINT, CHECKPOINT | {"id": "b"}]).json()
    assert [(each["id"], each["error"]["code"]) for each in told] == [(7, -32601), ("b", -32601)]


@pytest.mark.parametrize("path", ["/graphql", "/"])
def test_graphql_gets_an_error_of_graphql(localnet, path):
    response = post(localnet, path, CHAIN)
    assert response.status_code == 200
    [error] = response.json()["errors"]
    assert "speaks gRPC (`sui.rpc.v2`)" in error["message"]


@pytest.mark.parametrize("body", [[], [1], [CHECKPOINT, 1], {}, {"query": 1}, "jsonrpc", None])
def test_what_is_neither_finds_nothing(localnet, body):
    assert post(localnet, "/", body).status_code == 404


def test_what_is_not_json_finds_nothing(localnet):
    assert httpx.post(f"{localnet.url}/", content=b"[" * 60_000).status_code == 404
    assert httpx.get(f"{localnet.url}/graphql").status_code == 404
