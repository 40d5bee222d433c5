import signal
import socket
import ssl
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from nexus_tools.errors import UsageError
from nexus_tools.toolkit import ToolServer, run

PROGRAM = """
import sys
from pathlib import Path
from nexus_tools.toolkit import load, run
paths = [Path(name) for name in sys.argv[2:]]
tls = dict(zip(("tls_certificate", "tls_key"), paths))
run(load(sys.argv[1]), port=0, on_ready=lambda url: print(url, flush=True), **tls)
"""


@contextmanager
def _served(target, *files):
    """The URL of a server in another process, which has to end well when it is told to."""
    command = [sys.executable, "-c", PROGRAM, target, *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cert.pem").write_bytes(built.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_server_answers_on_a_socket_and_stops_when_told(examples_path, stop):
    with _served(str(examples_path)) as (process, url):
        answer = httpx.post(f"{url}/divide/invoke", json={"dividend": 7, "divisor": 2})
        assert answer.json() == {"ok": {"quotient": 3, "remainder": 1}}
        process.send_signal(stop)
        assert process.wait() == 0


def test_a_body_beyond_the_limit_is_refused_on_a_socket(examples_path):
    with _served(str(examples_path)) as (_, url):
        address = url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=60) as connection:
            connection.sendall(
                b"POST /divide/invoke HTTP/1.1\r\nhost: localhost\r\n"
                b"content-type: application/json\r\ncontent-length: 11000000\r\n\r\n{"
            )
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_server_speaks_tls(examples_path, certificate):
    with _served(str(examples_path), *certificate) as (_, url):
        assert url.startswith("https://")
        trusted = ssl.create_default_context(cafile=certificate[0])
        assert httpx.get(f"{url}/divide/health", verify=trusted).status_code == 200


def test_an_address_in_use_is_refused(add):
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(UsageError) as caught,
    ):
        run(ToolServer([add]), port=listener.getsockname()[1])
    assert caught.value.code == "address_unusable"


def test_tls_needs_both_files(add, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(ToolServer([add]), port=0, tls_certificate=tmp_path / "cert.pem")
    assert caught.value.code == "tls_incomplete"


def test_tls_files_that_cannot_be_read_are_refused(add, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(ToolServer([add]), port=0, tls_certificate=tmp_path / "a", tls_key=tmp_path / "b")
    assert caught.value.code == "tls_unusable"
