"""Traces over HTTP."""

import httpx
import pytest

RECIPIENT = "0x" + "cd" * 32


def post(localnet, body):
    return httpx.post(f"{localnet.url}/trace", json=body)


@pytest.fixture
def digest(localnet):
    """The digest of a transfer by the faucet."""
    request = {"FixedAmountRequest": {"recipient": RECIPIENT, "amount_mist": 5}}
    answer = httpx.post(f"{localnet.url}/v2/gas", json=request)
    return answer.json()["coins_sent"][0]["transferTxDigest"]


def test_a_trace_is_a_json_object(localnet, digest):
    answer = post(localnet, {"digest": digest})
    trace = answer.json()
    assert (answer.status_code, trace["digest"], trace["is_faithful"]) == (200, digest, True)
    split, transfer = trace["commands"]
    assert split["results"][0]["value"]["balance"] == "5"
    assert transfer["arguments"][1]["value"] == RECIPIENT


def test_values_are_text_where_that_is_asked_for(localnet, digest):
    trace = post(localnet, {"digest": digest, "values": "text"}).json()
    assert trace["commands"][0]["results"][0]["value"].startswith("Coin<SUI> {id: 0x")


def test_an_unknown_transaction_is_not_found(localnet):
    answer = post(localnet, {"digest": "1" * 32})
    assert (answer.status_code, answer.json()["code"]) == (404, "transaction_not_found")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "request_invalid"),
        ([1], "request_invalid"),
        ({"digest": 5}, "request_invalid"),
        ({"digest": "1" * 32, "values": "pictures"}, "request_invalid"),
        ({"digest": "1" * 32, "values": []}, "request_invalid"),
        ({"digest": "0OIl"}, "digest_invalid"),
    ],
)
def test_what_is_no_digest_is_refused(localnet, body, code):
    answer = post(localnet, body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["error"]
