"""A local network with real clients: grpcio, with message classes from the same definitions.

One network serves all tests of a session. Each test starts at the same point of its chain.
"""

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import nexus_tools.contracts
from nexus_tools.sui.bcs import boolean
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.signature import TRANSACTION_INTENT, SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import GasData, SharedObject, TransactionData

SUI = 1_000_000_000
CREATED = 2


class Client:
    """A client that calls procedures by their short names, with fields as keyword arguments."""

    def __init__(self, url, messages, options=()):
        self.messages = messages
        self.channel = grpc.insecure_channel(urlsplit(url).netloc, options=list(options))
        self._paths = {
            path.rpartition(".")[2]: procedure for path, procedure in messages.procedures.items()
        }

    def message(self, name, **fields):
        return self.messages.message(f"sui.rpc.v2.{name}")(**fields)

    def mask(self, *paths):
        return self.messages.message("google.protobuf.FieldMask")(paths=paths)

    def call(self, procedure_name, /, *paths, **fields):
        return self.call_with_headers(procedure_name, *paths, **fields)[0]

    def call_with_headers(self, procedure_name, /, *paths, **fields):
        procedure, request = self._request(procedure_name, paths, fields)
        stub = self.channel.unary_unary(
            procedure.path,
            request_serializer=procedure.request.SerializeToString,
            response_deserializer=procedure.response.FromString,
        )
        response, call = stub.with_call(request, timeout=20)
        return response, dict(call.initial_metadata())

    def stream(self, procedure_name, /, *paths, **fields):
        procedure, request = self._request(procedure_name, paths, fields)
        stub = self.channel.unary_stream(
            procedure.path,
            request_serializer=procedure.request.SerializeToString,
            response_deserializer=procedure.response.FromString,
        )
        return stub(request, timeout=20)

    def _request(self, name, paths, fields):
        procedure = self._paths[name]
        if paths:
            fields["read_mask"] = self.mask(*paths)
        return procedure, procedure.request(**fields)

    def close(self):
        self.channel.close()


class WebClient:
    """A client of gRPC-web over HTTP/1.1 that builds its requests by hand."""

    def __init__(self, url, messages):
        self.url = url
        self.messages = messages
        self.http = httpx.Client(base_url=url, timeout=20)

    def post(self, path, body, content_type="application/grpc-web+proto", **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(path, content=body, headers={"content-type": content_type, **names})

    def call(self, path, **fields):
        """Return the messages and trailers of a binary call."""
        procedure = self.messages.procedures[path]
        message = procedure.request(**fields).SerializeToString()
        answer = self.post(path, b"\0" + len(message).to_bytes(4, "big") + message)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/grpc-web+proto"
        if not answer.content:
            return [], answer.headers
        *frames, (flags, trailers) = self.frames(answer.content)
        assert flags == 0x80
        assert all(flags == 0 for flags, _ in frames)
        lines = trailers.decode().removesuffix("\r\n").split("\r\n")
        found = [procedure.response.FromString(frame) for _, frame in frames]
        return found, dict(line.split(":", 1) for line in lines)

    def frames(self, body):
        """Yield flags and content of each frame of a body."""
        found = []
        while body:
            end = 5 + int.from_bytes(body[1:5], "big")
            assert end <= len(body)
            found.append((body[0], body[5:end]))
            body = body[end:]
        return found


class Account:
    """A key that can send transactions."""

    def __init__(self, seed):
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.public_key = self.key.public_key().public_bytes_raw()
        self.address = key_address(SignatureScheme.ED25519, self.public_key)

    def sign(self, data):
        signature = self.key.sign(blake2b256(TRANSACTION_INTENT, data))
        return bytes([SignatureScheme.ED25519]) + signature + self.public_key

    def coins(self, client):
        found = client.call(
            "StateService/ListOwnedObjects",
            "*",
            owner=str(self.address),
            object_type="0x2::coin::Coin<0x2::sui::SUI>",
        )
        return [reference(entry) for entry in found.objects]

    def transaction(self, client, builder, *, payment=None, budget=SUI):
        payment = payment or self.coins(client)[:1]
        gas = GasData(tuple(payment), self.address, 1000, budget)
        return TransactionData(builder.finish(), self.address, gas, NoExpiration()).encode()

    def execute(self, client, builder, *paths, payment=None):
        data = self.transaction(client, builder, payment=payment)
        response = client.call(
            "TransactionExecutionService/ExecuteTransaction",
            *(paths or ("*",)),
            transaction={"bcs": {"value": data}},
            signatures=[{"bcs": {"value": self.sign(data)}}],
        )
        return response.transaction


def reference(message):
    return ObjectReference(
        Address.parse(message.object_id), message.version, Digest.parse(message.digest)
    )


@dataclass(frozen=True)
class Published:
    """Our own package on the network of the tests."""

    package: Address
    registry: Address
    registry_version: int
    admin: Address
    admin_version: int
    upgrade_cap: Address
    digest: str

    def configure(self, client, account, max_schema_bytes, *paths):
        """Change the registry's settings, which emits one event."""
        builder = TransactionBuilder()
        builder.move_call(
            self.package,
            "tool_registry",
            "configure",
            [
                builder.resolved(SharedObject(self.registry, self.registry_version, mutable=True)),
                builder.resolved(SharedObject(self.admin, self.admin_version, mutable=False)),
                builder.pure(boolean, True),
                *map(builder.u64, (SUI, 86_400_000, 1_000, 2_000, max_schema_bytes)),
            ],
        )
        return account.execute(client, builder, *paths)


def publish(localnet, client):
    """Publish our own package as account 1."""
    account = Account(1)
    localnet.fund(account.address, 10 * SUI)
    folder = Path(nexus_tools.contracts.__file__).parent / "bytecode"
    document = json.loads((folder / "package.json").read_text())
    builder = TransactionBuilder()
    cap = builder.publish(
        [(folder / f"{name}.mv").read_bytes() for name in document["modules"]],
        [Address.parse(entry) for entry in document["dependencies"]],
    )
    builder.transfer_objects([cap], account.address)
    executed = account.execute(client, builder)
    assert executed.effects.status.success, executed.effects.status.error.description
    created = {
        change.object_type.rpartition("::")[2]: change
        for change in executed.effects.changed_objects
        if change.id_operation == CREATED
    }
    return Published(
        Address.parse(created["package"].object_id),
        Address.parse(created["ToolRegistry"].object_id),
        created["ToolRegistry"].output_version,
        Address.parse(created["Admin"].object_id),
        created["Admin"].output_version,
        Address.parse(created["UpgradeCap"].object_id),
        executed.digest,
    )


@pytest.fixture(scope="session")
def messages():
    return load_messages()


@pytest.fixture(scope="session")
def stage(messages):
    """Return the network of all tests and the package on it."""
    with ThreadedLocalnet() as localnet:
        client = Client(localnet.url, messages)
        yield localnet, publish(localnet, client)
        client.close()


@pytest.fixture
def localnet(stage):
    localnet, _ = stage
    snapshot = localnet.snapshot()
    yield localnet
    localnet.revert(snapshot)


@pytest.fixture
def published(stage):
    return stage[1]


@pytest.fixture
def client(localnet, make_client):
    return make_client(localnet.url)


@pytest.fixture
def web(localnet, make_web):
    return make_web(localnet.url)


@pytest.fixture
def make_web(messages):
    """Return a function that creates gRPC-web clients of other networks."""
    clients = []

    def make(url):
        clients.append(WebClient(url, messages))
        return clients[-1]

    yield make
    for entry in clients:
        entry.http.close()


@pytest.fixture
def dial(localnet):
    """Return a function that opens raw connections to the network."""
    connections = []

    def connect(url=localnet.url):
        parts = urlsplit(url)
        connections.append(socket.create_connection((parts.hostname, parts.port), timeout=20))
        return connections[-1]

    yield connect
    for connection in connections:
        connection.close()


@pytest.fixture
def alice(localnet):
    """Return the publisher of the package, with another coin of 100 SUI."""
    account = Account(1)
    localnet.fund(account.address, 100 * SUI)
    return account


@pytest.fixture
def bob():
    return Account(2)


@pytest.fixture
def make_client(messages):
    """Return a function that creates clients of other networks."""
    clients = []

    def make(url, options=()):
        clients.append(Client(url, messages, options))
        return clients[-1]

    yield make
    for entry in clients:
        entry.close()


@pytest.fixture
def builder():
    return TransactionBuilder()
