"""The cost of signatures: signing and verifying a request, and a server that requires them.

The peer is another library, which signs and verifies the same components of the same request with
RFC 9421 and Ed25519. The requests to the server are signed before they are timed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time, time
from types import SimpleNamespace
from urllib.parse import urlsplit

from http_message_signatures import (
    HTTPMessageSigner,
    HTTPMessageVerifier,
    MappingKeyResolver,
    algorithms,
)

from benchmarks.figure import Figure, at_most, compared
from benchmarks.processes import Process, python, started
from benchmarks.rounds import interleaved
from benchmarks.server_app import LEADER
from nexus_tools.tool import (
    Identity,
    KnownKeys,
    SigningKey,
    check_body,
    check_request,
    protocol,
    sign_request,
)
from nexus_tools.tool.signing.http_signatures import content_digest
from nexus_tools.tool.signing.signing import COVERED

ROUNDS = 15
REQUESTS = 60
TARGET_US = 100.0
LOAD_ROUNDS = 9
LOAD_REQUESTS = 400

URL = "https://tools.example.com/xyz.example.math.add@1/invoke"
BODY = b'{"a":20,"b":22}'
HEADERS = {
    protocol.INVOCATION_HEADER.lower(): "0x" + "c3" * 32,
    protocol.TOOL_HEADER.lower(): "xyz.example.math.add@1",
    protocol.DEADLINE_HEADER.lower(): "2030-01-15T08:00:30.000Z",
    protocol.MAX_OUTCOME_BYTES_HEADER.lower(): "4096",
}
_PEER = "http-message-signatures"


def measure(folder: Path) -> Iterator[Figure]:
    """Yield CPU microseconds per request, then requests per second of a server."""
    ours, theirs = _Ours(), _Theirs()
    for name, own, other in (
        ("sign", ours.sign, theirs.sign),
        ("verify", ours.verify, theirs.verify),
    ):
        taken = interleaved(ROUNDS, {"ours": partial(_us, own), "theirs": partial(_us, other)})
        target = at_most(TARGET_US)
        yield compared(name, "us", taken["ours"], {_PEER: taken["theirs"]}, target=target)
    yield from _servers(folder)


class _Ours:
    def __init__(self) -> None:
        self._identity = Identity(LEADER, SigningKey.new())
        self._leaders = KnownKeys({LEADER: [self._identity.key.public_key]})
        self._signed = [HEADERS | self.sign() for _ in range(REQUESTS)]

    def sign(self) -> dict[str, str]:
        return sign_request(self._identity, URL, HEADERS, BODY, time())

    def verify(self) -> None:
        headers = self._signed.pop(0)
        self._signed.append(headers)
        check_request(URL, protocol.INVOKE_METHOD, headers, self._leaders, time())
        check_body(BODY, headers)


class _Theirs:
    def __init__(self) -> None:
        key = SigningKey.new().private
        keys = MappingKeyResolver(
            public_keys={LEADER: key.public_key()}, private_keys={LEADER: key}
        )
        self._signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=keys)
        self._verifier = HTTPMessageVerifier(
            signature_algorithm=algorithms.ED25519, key_resolver=keys
        )
        self._signed = [self.sign() for _ in range(REQUESTS)]

    def sign(self) -> SimpleNamespace:
        headers = HEADERS | {protocol.CONTENT_DIGEST_HEADER.lower(): content_digest(BODY)}
        request = SimpleNamespace(method=protocol.INVOKE_METHOD, url=URL, headers=headers)
        self._signer.sign(
            request,
            key_id=LEADER,
            nonce="a nonce of the same length",
            covered_component_ids=COVERED,
            use_existing_digest=True,
        )
        return request

    def verify(self) -> None:
        request = self._signed.pop(0)
        self._signed.append(request)
        self._verifier.verify(request)


def _us(work: Callable[[], object]) -> float:
    began = process_time()
    for _ in range(REQUESTS):
        work()
    return (process_time() - began) / REQUESTS * 1e6


# --- A server


def _servers(folder: Path) -> Iterator[Figure]:
    """Yield requests per second of a server with and without verification of signatures."""
    key = folder / "leader.pem"
    key.touch(0o600)
    key.write_text(SigningKey.new().to_pem())
    with (
        started(python("server_app", "tools"), folder / "off.log") as off,
        started(python("server_app", "signed", str(key)), folder / "required.log") as required,
        started(python("server_load"), folder / "load.log") as load,
    ):
        servers = {"required": _Server(required, load, key), "off": _Server(off, load, None)}
        for server in servers.values():
            server.per_second()
            server.per_cpu_second.clear()
        rates = interleaved(
            LOAD_ROUNDS, {name: server.per_second for name, server in servers.items()}
        )
    peer = {"signatures off": rates["off"]}
    yield compared("server, signatures required", "requests/s", rates["required"], peer)
    on, without = servers["required"].per_cpu_second, servers["off"].per_cpu_second
    peer = {"signatures off": without}
    yield compared("server, signatures required, CPU", "requests/CPU s", on, peer)


class _Server:
    """A running server that receives prepared requests."""

    def __init__(self, process: Process, load: Process, key: Path | None) -> None:
        self._process = process
        self._load = load
        self._port = urlsplit(process.line()).port
        self._key = key
        self.per_cpu_second: list[float] = []

    def per_second(self) -> float:
        """Return the responses per second in one round."""
        job = {
            "port": self._port,
            "seconds": 0.005,
            "connections": 32,
            "nexus_headers": True,
            "signed_by": str(self._key) if self._key else None,
            "requests": LOAD_REQUESTS,
        }
        before = self._process.ask("cpu")
        responses, seconds = self._load.ask(job, timeout_s=60)
        self.per_cpu_second.append(responses / (self._process.ask("cpu") - before))
        return float(responses / seconds)
