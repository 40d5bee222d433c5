import ipaddress
import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from grpclib.const import Status
from grpclib.exceptions import GRPCError

from nexus_tools.client import Network, Patience, SuiClient, UnsupportedByNodeError
from nexus_tools.client.messages import rpc
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
)

QUICK = Patience(attempts=3, first_pause_s=0.001)


# --- Patience


def test_pauses_double_up_to_the_longest_and_vary_by_half():
    pauses = Patience(first_pause_s=1.0, longest_pause_s=4.0).pauses()
    for longest in (1.0, 2.0, 4.0, 4.0):
        assert longest / 2 <= next(pauses) <= longest


@pytest.fixture
def failing(monkeypatch):
    """Lets the next `count` requests for the gas price fail; gives how many there were."""
    original = rpc().LedgerServiceStub.get_epoch
    requests = []

    def fail(status, count):
        async def get_epoch(self, message, **options):
            requests.append(message)
            if len(requests) <= count:
                raise GRPCError(status, "so it is")
            return await original(self, message, **options)

        monkeypatch.setattr(rpc().LedgerServiceStub, "get_epoch", get_epoch)
        return requests

    return fail


async def test_a_node_that_is_busy_for_a_moment_is_asked_again(failing, alice):
    requests = failing(Status.UNAVAILABLE, 2)
    assert await alice.gas_price() > 0
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.UNAVAILABLE, (UnreachableError, "node_unreachable", 3)),
        (Status.RESOURCE_EXHAUSTED, (UnreachableError, "node_busy", 3)),
        (Status.INTERNAL, (UnreachableError, "node_unreachable", 1)),
        (Status.NOT_FOUND, (NotFoundError, "not_found", 1)),
        (Status.UNIMPLEMENTED, (UnsupportedByNodeError, "node_unsupported", 1)),
        (Status.PERMISSION_DENIED, (NotAllowedError, "node_refused_access", 1)),
        (Status.INVALID_ARGUMENT, (RefusedOnChainError, "refused_by_node", 1)),
    ],
)
async def test_every_failure_has_its_class_and_only_passing_ones_are_repeated(
    failing, chain, status, expected
):
    kind, code, count = expected
    requests = failing(status, 99)
    async with SuiClient(chain.network, patience=QUICK) as client:
        with pytest.raises(kind) as caught:
            await client.gas_price()
    assert caught.value.code == code
    assert len(requests) == count


# --- TLS


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localnet")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
async def tls_port(chain, certificate, relay_before):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2"])
    async with relay_before(chain, context) as relay:
        yield relay.port


async def test_a_node_behind_tls_is_reached_if_its_certificate_is_trusted(
    tls_port, certificate, chain, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    network = Network("private", f"https://127.0.0.1:{tls_port}")
    async with SuiClient(network, patience=QUICK) as client:
        assert await client.chain_id() == chain.deployment.chain_id


async def test_a_node_with_an_unknown_certificate_is_refused(tls_port):
    network = Network("private", f"https://127.0.0.1:{tls_port}")
    async with SuiClient(network, patience=Patience(attempts=1)) as client:
        with pytest.raises(UnreachableError, match="certificate"):
            await client.chain_id()
