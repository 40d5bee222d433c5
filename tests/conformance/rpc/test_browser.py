"""A page of another origin uses the network like a browser: preflights, fetch, gRPC-web text.

Requests and responses follow the Fetch standard and PROTOCOL-WEB.md.
"""

from base64 import b64decode, b64encode

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.signature import TRANSACTION_INTENT, SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import GasData, TransactionData

TEXT = "application/grpc-web-text"
SUI_COIN = "0x2::coin::Coin<0x2::sui::SUI>"


class Page:
    """A page that sends and receives only what a browser allows."""

    def __init__(self, url, messages):
        self.http = httpx.Client(
            base_url=url, timeout=20, headers={"origin": "http://localhost:3000"}
        )
        self.messages = messages

    def fetch(self, path, body, content_type, **headers):
        self.preflight(path, ["content-type", *headers])
        sent = {"content-type": content_type, **headers}
        answer = self.http.post(path, content=body, headers=sent)
        assert answer.headers["access-control-allow-origin"] == "*"
        return answer

    def preflight(self, path, names):
        asked = {
            "access-control-request-method": "POST",
            "access-control-request-headers": ",".join(sorted(names)),
        }
        answer = self.http.options(path, headers=asked)
        assert answer.is_success
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "POST" in answer.headers["access-control-allow-methods"]
        assert answer.headers["access-control-allow-headers"] == "*"

    def call(self, path, **fields):
        """Return the messages of a response, and its status."""
        procedure = self.messages.procedures[path]
        message = procedure.request(**fields).SerializeToString()
        body = b64encode(b"\0" + len(message).to_bytes(4, "big") + message)
        answer = self.fetch(path, body, TEXT, **{"x-grpc-web": "1", "accept": TEXT})
        assert answer.headers["content-type"].startswith(TEXT)
        assert answer.headers["access-control-expose-headers"] == "*"
        if "grpc-status" in answer.headers:
            return [], int(answer.headers["grpc-status"])
        *frames, (flags, trailers) = read_frames(decode(answer.text))
        assert flags == 0x80
        assert trailers.startswith(b"grpc-status:")
        found = [procedure.response.FromString(frame) for _, frame in frames]
        return found, int(trailers.partition(b":")[2].partition(b"\r")[0])


def decode(text):
    """Decode base64 four characters at a time, because padding may occur in the middle."""
    return b"".join(b64decode(text[start : start + 4]) for start in range(0, len(text), 4))


def read_frames(body):
    """Return the flags and contents of the complete frames."""
    while len(body) >= 5:
        end = 5 + int.from_bytes(body[1:5], "big")
        if len(body) < end:
            return
        yield body[0], body[5:end]
        body = body[end:]


@pytest.fixture(scope="module")
def page(url):
    found = Page(url, load_messages())
    yield found
    found.http.close()


@pytest.fixture(scope="module")
def wallet(page):
    """Return a key with money from the faucet."""
    key = Ed25519PrivateKey.generate()
    public_key = key.public_key().public_bytes_raw()
    address = key_address(SignatureScheme.ED25519, public_key)
    body = b'{"FixedAmountRequest": {"recipient": "%s"}}' % str(address).encode()
    answer = page.fetch("/v2/gas", body, "application/json")
    assert answer.json()["status"] == "Success"
    return key, public_key, address


def coins(page, address):
    (page_of_coins,), status = page.call(
        "/sui.rpc.v2.StateService/ListOwnedObjects",
        owner=str(address),
        object_type=SUI_COIN,
        read_mask={"paths": ["object_id", "version", "digest", "balance"]},
    )
    assert status == 0
    assert not page_of_coins.HasField("next_page_token")
    return list(page_of_coins.objects)


def transfer(coin, sender, amount):
    builder = TransactionBuilder()
    parts = builder.split_coins(builder.gas, [amount])
    builder.transfer_objects([parts[0]], sender)
    payment = ObjectReference(
        Address.parse(coin.object_id), coin.version, Digest.parse(coin.digest)
    )
    gas = GasData((payment,), sender, 1000, 50_000_000)
    return TransactionData(builder.finish(), sender, gas, NoExpiration()).encode()


def test_page_sends_a_transaction(page, wallet):
    key, public_key, address = wallet
    coin, *_ = coins(page, address)
    data = transfer(coin, address, 1234)
    (simulated,), status = page.call(
        "/sui.rpc.v2.TransactionExecutionService/SimulateTransaction",
        transaction={"bcs": {"value": data}},
        read_mask={"paths": ["transaction.effects.status"]},
    )
    assert status == 0
    assert simulated.transaction.effects.status.success
    signature = key.sign(blake2b256(TRANSACTION_INTENT, data))
    serialized = bytes([SignatureScheme.ED25519]) + signature + public_key
    (executed,), status = page.call(
        "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction",
        transaction={"bcs": {"value": data}},
        signatures=[{"bcs": {"value": serialized}}],
    )
    assert status == 0
    assert executed.transaction.effects.status.success
    assert 1234 in [item.balance for item in coins(page, address)]


def test_page_receives_error_messages(page):
    assert page.call("/sui.rpc.v2.LedgerService/GetObject", object_id="0x1234") == ([], 5)
    assert page.call("/sui.rpc.v2.LedgerService/GetObject") == ([], 3)


def test_page_reads_history_as_a_stream(page):
    found, status = page.call("/sui.rpc.v2.LedgerService/ListTransactions")
    assert status == 0
    assert found[0].transaction.digest
    assert [item.HasField("end") for item in found].count(True) == 1


def test_page_subscribes_to_updates(page):
    """Every frame of a stream is padded, so a page can decode each one as it arrives."""
    path = "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints"
    headers = {"content-type": TEXT, "accept": TEXT}
    with page.http.stream("POST", path, content=b"AAAAAAA=", headers=headers) as answer:
        text, seen = "", []
        for part in answer.iter_text():
            text += part
            frames = list(read_frames(decode(text[: len(text) // 4 * 4])))
            response = page.messages.procedures[path].response
            seen = [response.FromString(frame).cursor for _, frame in frames]
            if len(seen) >= 3:
                break
    assert seen == list(range(seen[0], seen[0] + len(seen)))
