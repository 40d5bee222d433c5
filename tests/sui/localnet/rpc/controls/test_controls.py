"""The faucet and other plain HTTP requests."""

import json

import httpx
import pytest

from nexus_tools.sui.localnet.rpc import Limits

RECIPIENT = "0x" + "ab" * 32


def ask(localnet, path, body):
    return httpx.post(f"{localnet.url}{path}", json=body)


def test_faucet_sends_five_coins(localnet, client):
    answer = ask(localnet, "/v2/gas", {"FixedAmountRequest": {"recipient": RECIPIENT}})
    assert answer.status_code == 200
    assert answer.json()["status"] == "Success"
    coins = answer.json()["coins_sent"]
    assert len({coin["id"] for coin in coins}) == 5
    for coin in coins:
        found = client.call("LedgerService/GetObject", "*", object_id=coin["id"]).object
        assert found.owner.address == RECIPIENT
        assert found.balance == coin["amount"] == 200_000_000_000
        assert found.previous_transaction == coin["transferTxDigest"]


@pytest.mark.parametrize("amount_mist", [1, 123_456_789_012, 1_000_000_000_000_000])
def test_faucet_sends_exactly_the_requested_amount(localnet, amount_mist):
    fixed = {"recipient": RECIPIENT, "amount_mist": amount_mist}
    answer = ask(localnet, "/v2/gas", {"FixedAmountRequest": fixed})
    assert answer.status_code == 200
    assert [coin["amount"] for coin in answer.json()["coins_sent"]] == [amount_mist]


@pytest.mark.parametrize(
    "amount_mist", [0, -1, 1_000_000_000_000_001, 1.5, 1e9, "7", True, None, [], float("nan")]
)
def test_faucet_refuses_an_invalid_amount(localnet, amount_mist):
    fixed = {"recipient": RECIPIENT, "amount_mist": amount_mist}
    body = json.dumps({"FixedAmountRequest": fixed})
    answer = httpx.post(f"{localnet.url}/v2/gas", content=body)
    assert answer.status_code == 400
    assert answer.json()["coins_sent"] is None
    assert "amount_mist" in answer.json()["status"]["Failure"]["internal"]


def test_faucet_serves_version_1(localnet):
    answer = ask(localnet, "/v1/gas", {"FixedAmountRequest": {"recipient": RECIPIENT}})
    assert answer.status_code == 201
    assert answer.json()["error"] is None
    assert len(answer.json()["transferredGasObjects"]) == 5
    assert answer.json()["status"] == "Success"
    assert answer.json()["coins_sent"] == answer.json()["transferredGasObjects"]


@pytest.mark.parametrize("path", ["/gas", "/v1/gas"])
def test_faucet_reports_errors_in_the_form_of_version_1(localnet, path):
    answer = ask(localnet, path, {"FixedAmountRequest": {}})
    assert answer.status_code == 400
    assert answer.json()["transferredGasObjects"] == []
    assert "recipient" in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"FixedAmountRequest": 1},
        {"FixedAmountRequest": {"recipient": 5}},
        {"FixedAmountRequest": {"recipient": "0xzz"}},
    ],
)
def test_faucet_refuses_a_request_without_a_recipient(localnet, body):
    answer = ask(localnet, "/v2/gas", body)
    assert answer.status_code == 400
    assert answer.json()["coins_sent"] is None
    assert answer.json()["status"]["Failure"]["internal"]


def test_faucet_refuses_invalid_json(localnet):
    answer = httpx.post(f"{localnet.url}/v2/gas", content=b"[" * 60_000)
    assert answer.status_code == 400


def test_health_reports_the_latest_checkpoint(localnet, client):
    answer = httpx.get(f"{localnet.url}/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["chain_id"] == client.call("LedgerService/GetServiceInfo").chain_id


def test_other_paths_and_methods_are_refused(localnet):
    assert httpx.get(f"{localnet.url}/nothing").status_code == 404
    assert httpx.get(f"{localnet.url}/v2/gas").status_code == 405


def test_body_that_is_too_large_is_refused(localnet):
    answer = httpx.post(f"{localnet.url}/v2/gas", content=b" " * (Limits().http_body_bytes + 1))
    assert answer.status_code == 413


def test_one_connection_serves_many_requests(localnet):
    with httpx.Client() as http:
        answers = [http.get(f"{localnet.url}/health") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]


def test_query_after_the_path_is_ignored(localnet):
    assert httpx.get(f"{localnet.url}/health?threshold_seconds=5").status_code == 200
