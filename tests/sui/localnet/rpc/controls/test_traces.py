"""Traces over HTTP."""

from base64 import b64encode

import httpx
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.system_transaction import RandomnessStateUpdate
from nexus_tools.sui.types.transaction import GasData, TransactionData

RECIPIENT = "0x" + "cd" * 32


def post(localnet, body):
    return httpx.post(f"{localnet.url}/trace", json=body)


@pytest.fixture
def digest(localnet):
    """Return the digest of a transfer by the faucet."""
    request = {"FixedAmountRequest": {"recipient": RECIPIENT, "amount_mist": 5}}
    answer = httpx.post(f"{localnet.url}/v2/gas", json=request)
    return answer.json()["coins_sent"][0]["transferTxDigest"]


def test_trace_is_a_json_object(localnet, digest):
    answer = post(localnet, {"digest": digest})
    trace = answer.json()
    assert (answer.status_code, trace["digest"], trace["is_faithful"]) == (200, digest, True)
    split, transfer = trace["commands"]
    assert split["results"][0]["value"]["balance"] == "5"
    assert transfer["arguments"][1]["value"] == RECIPIENT


def test_values_are_text_on_request(localnet, digest):
    trace = post(localnet, {"digest": digest, "values": "text"}).json()
    assert trace["commands"][0]["results"][0]["value"].startswith("Coin<SUI> {id: 0x")


def unsent_transaction(kind, payment=(), price=0, budget=0):
    """Return a transaction of an account without SUI."""
    sender = Address.of(0xB0B)
    data = TransactionData(kind, sender, GasData(payment, sender, price, budget), NoExpiration())
    return b64encode(data.encode()).decode()


def split_kind(amount):
    builder = TransactionBuilder()
    split = builder.split_coins(builder.gas, [amount])
    builder.transfer_objects([split[0]], Address.parse(RECIPIENT))
    return builder.finish()


def test_unsent_transaction_is_traced(localnet):
    trace = post(localnet, {"transaction": unsent_transaction(split_kind(5))}).json()
    assert (trace["is_simulated"], trace["checkpoint"]) == (True, None)
    assert trace["status"] == {"success": True}
    assert trace["commands"][0]["results"][0]["value"]["balance"] == "5"


def test_failing_transaction_is_traced(localnet):
    trace = post(localnet, {"transaction": unsent_transaction(split_kind(2**64 - 1))}).json()
    assert trace["status"]["error"] == "INSUFFICIENT_COIN_BALANCE"
    assert [command["status"] for command in trace["commands"]] == ["failed", "not_run"]


def test_refused_transaction_returns_status_422(localnet):
    lost = ObjectReference(Address.of(0x105), 1, Digest(bytes(32)))
    answer = post(
        localnet, {"transaction": unsent_transaction(split_kind(5), (lost,), 1_000, 10**7)}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "object_not_found")


def test_system_transaction_is_refused(localnet):
    answer = post(
        localnet, {"transaction": unsent_transaction(RandomnessStateUpdate(0, 0, b"", 1))}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "unsupported")


def test_executed_transaction_must_be_traced_by_its_digest(localnet, digest):
    known = localnet.call(lambda net: net.node.ledger.transaction(Digest.parse(digest)))
    answer = post(localnet, {"transaction": b64encode(known.data_bytes).decode()})
    assert (answer.status_code, answer.json()["code"]) == (409, "transaction_executed")
    assert digest in answer.json()["error"]


def test_largest_transaction_fits_into_a_request(localnet):
    builder = TransactionBuilder()
    cap = builder.publish([bytes(127 * 1024)], [])
    builder.transfer_objects([cap], Address.of(0xB))
    answer = post(localnet, {"transaction": unsent_transaction(builder.finish())})
    assert answer.status_code == 200
    assert answer.json()["status"]["error"] == "VM_VERIFICATION_OR_DESERIALIZATION_ERROR"


def test_unknown_transaction_is_not_found(localnet):
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
        ({"transaction": "AA==", "digest": "1" * 32}, "request_invalid"),
        ({"transaction": "?"}, "request_invalid"),
        ({"transaction": 5}, "request_invalid"),
        ({"transaction": "AA=="}, "bcs_invalid"),
    ],
)
def test_bytes_that_are_not_a_transaction_are_refused(localnet, body, code):
    answer = post(localnet, body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["error"]
