"""Proof that the domain in a tool's name lists the tool's owner.

The queried host is untrusted. Each request therefore passes the Leader's address guard and does not
follow redirects. One deadline covers all hosts of a query. Each query is for only one tool, because
the host's operator learns who looks up the tool. Responses are cached for a day.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import aiohttp

from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.http import (
    AddressGuard,
    NoResponseError,
    ResponseMalformedError,
    ResponseTooLargeError,
    SystemResolver,
    exchange,
)
from nexus_tools.http.guarded_client import guarded_client
from nexus_tools.sui.support.private_file import read_private, write_private
from nexus_tools.tool import MAX_PROOF_BYTES, PROOF_PATH, DomainOwners, proof_hosts

DEADLINE_S = 10
DOCUMENT_LIFETIME_S = 86_400
ABSENCE_LIFETIME_S = 3_600
"""The lifetime of a cached absence, which is short because the owner may soon publish a document.
"""

_PORT = 443
_OK = 200
_ABSENT = (404, 410)
_LIFETIMES_S = {_OK: DOCUMENT_LIFETIME_S} | dict.fromkeys(_ABSENT, ABSENCE_LIFETIME_S)
_RETRY_STATUSES = (408, 425, 429)
_NO_NAME_ERRORS = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class ProofState(StrEnum):
    """The result of a query. Only `PROVED` confirms that the domain lists the owner."""

    PROVED = "proved"
    NOT_PROVED = "not_proved"
    UNPROVABLE = "unprovable"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class DomainProof:
    """The result of a query whether a domain lists an owner, with the reason.

    `host` is the host whose response decided the result, or None. `owners` are the owners that the
    host's document lists for the registry, or None if the host has no document.
    """

    state: ProofState
    reason: str
    host: str | None = None
    owners: tuple[str, ...] | None = None

    @property
    def is_denied(self) -> bool:
        """Whether the domain publishes a list of owners that does not contain this owner."""
        return self.state is ProofState.NOT_PROVED and self.owners is not None


class DomainProver:
    """A client that queries domains, and optionally caches the responses in a folder.

    `now` returns the time in seconds since 1970.
    """

    def __init__(
        self,
        client: aiohttp.ClientSession,
        folder: Path | None = None,
        *,
        port: int = _PORT,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._cache = _Cache(folder, now)
        self._port = port

    async def prove(
        self, domain: str, owner: str, chain: str, registry: str, *, fresh: bool = False
    ) -> DomainProof:
        """Query whether `domain` lists an owner for a registry on a chain.

        `domain` has the same form as in FQNs. `fresh` bypasses the cache.
        """
        try:
            hosts = proof_hosts(domain)
        except ValidationError as error:
            return DomainProof(ProofState.UNPROVABLE, error.message)
        return await self._decide(hosts, owner, (chain, registry), fresh=fresh)

    async def _decide(
        self, hosts: Sequence[str], owner: str, registry_key: tuple[str, str], *, fresh: bool
    ) -> DomainProof:
        """Return the decision of the nearest host that publishes a document.

        An unreachable host ends the query with `UNREACHABLE`. Otherwise an attacker who blocks a
        host could make the document of its parent domain decide. A host is skipped only if it does
        not exist or has no document.
        """
        host = hosts[0]
        try:
            async with asyncio.timeout(DEADLINE_S):
                for host in hosts:
                    document = await self._document(host, fresh=fresh)
                    if document is not None:
                        return _decision(host, document.owners_in(*registry_key), owner)
        except TimeoutError:
            reason = f"{host} did not respond within {DEADLINE_S} s"
            return DomainProof(ProofState.UNREACHABLE, reason, host)
        except UnreachableError as error:
            return DomainProof(ProofState.UNREACHABLE, error.message, host)
        except NexusError as error:
            return DomainProof(ProofState.NOT_PROVED, error.message, host)
        return _no_document(hosts)

    async def _document(self, host: str, *, fresh: bool) -> DomainOwners | None:
        """Return a host's document if it exists. Raises `domain_unreachable` or `proof_invalid`."""
        cached = None if fresh else self._cache.get(host)
        status, body = cached or await self._query(host)
        document = _read(host, status, body)
        if cached is None and status:
            self._cache.put(host, status, body)
        return document

    async def _query(self, host: str) -> tuple[int, bytes]:
        """Return the status and body of a host's response. The status is 0 for an unknown host."""
        url = f"https://{host}:{self._port}{PROOF_PATH}"
        try:
            response = await exchange(self._client, "GET", url, max_response_bytes=MAX_PROOF_BYTES)
        except NoResponseError as error:
            if _is_no_name(error):
                return 0, b""
            raise _unreachable(host, _explanation(error)) from error
        except ResponseTooLargeError as error:
            raise _invalid(host, f"has more than {MAX_PROOF_BYTES} bytes") from error
        except ResponseMalformedError as error:
            raise _invalid(host, "was compressed or not valid HTTP") from error
        return response.status, response.body


@asynccontextmanager
async def open_domain_prover(folder: Path | None = None) -> AsyncIterator[DomainProver]:
    """Open a client that queries domains on the internet and caches responses in a folder."""
    with closing(SystemResolver()) as resolve:

        async def resolve_absolute(host: str) -> Sequence[str]:
            # The final dot keeps the resolver from trying the search domains of this machine.
            return await resolve(f"{host}.")

        guard = AddressGuard(ports=frozenset((_PORT,)))
        async with guarded_client(guard, resolve_absolute, max_connections=1) as client:
            yield DomainProver(client, folder)


def read_cached_proof(
    folder: Path, domain: str, owner: str, chain: str, registry: str
) -> DomainProof | None:
    """Return the proof that follows from cached responses, or None if one of them is missing.

    No request is sent.
    """
    try:
        hosts = proof_hosts(domain)
    except ValidationError as error:
        return DomainProof(ProofState.UNPROVABLE, error.message)
    cache = _Cache(folder, time.time)
    for host in hosts:
        cached = cache.get(host)
        if cached is None:
            return None
        try:
            document = _read(host, *cached)
        except NexusError as error:
            return DomainProof(ProofState.NOT_PROVED, error.message, host)
        if document is not None:
            return _decision(host, document.owners_in(chain, registry), owner)
    return _no_document(hosts)


def _no_document(hosts: Sequence[str]) -> DomainProof:
    return DomainProof(ProofState.NOT_PROVED, f"no document is published at {_urls(hosts)}")


def _decision(host: str, owners: tuple[str, ...], owner: str) -> DomainProof:
    if owner in owners:
        return DomainProof(ProofState.PROVED, f"{host} lists the owner", host, owners)
    return DomainProof(ProofState.NOT_PROVED, f"{host} does not list the owner", host, owners)


def _read(host: str, status: int, body: bytes) -> DomainOwners | None:
    if not status or status in _ABSENT:
        return None
    if status in _RETRY_STATUSES or status >= 500:
        raise _unreachable(host, f"responds with status {status}")
    if status != _OK:
        raise _invalid(host, f"has status {status}, expected 200")
    try:
        return DomainOwners.parse(body)
    except ValidationError as error:
        raise _invalid(host, f"is invalid: {error.message}") from error


def _is_no_name(error: BaseException | None) -> bool:
    """Return whether the resolver is certain that the host does not exist or has no address."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__
    return error is not None and error.errno in _NO_NAME_ERRORS


def _explanation(error: NoResponseError) -> str:
    if error.refusal:
        return f"was not queried: {error.refusal}"
    if isinstance(error.__cause__, aiohttp.ClientSSLError):
        return "does not have a valid TLS certificate"
    return "does not respond"


def _urls(hosts: Sequence[str]) -> str:
    return " or ".join(f"https://{host}{PROOF_PATH}" for host in hosts)


def _unreachable(host: str, problem: str) -> UnreachableError:
    return UnreachableError("domain_unreachable", f"{host} {problem}")


def _invalid(host: str, problem: str) -> ValidationError:
    return ValidationError("proof_invalid", f"the response of {host} {problem}")


class _Cache:
    """A cache of responses with one file per host. Cached responses are validated again."""

    def __init__(self, folder: Path | None, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now

    def get(self, host: str) -> tuple[int, bytes] | None:
        """Return the cached status and body, or None if the entry is too old or in the future."""
        if self._folder is None:
            return None
        try:
            entry = json.loads(read_private(self._folder / f"{host}.json"))
            age_s, status, body = self._now() - entry["at_s"], entry["status"], entry["body"]
            return (status, body.encode()) if 0 <= age_s < _LIFETIMES_S[status] else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, host: str, status: int, body: bytes) -> None:
        """Cache a host's document, or its absence. If the folder is read-only, do nothing."""
        if self._folder is None:
            return
        entry = {"at_s": self._now(), "status": status, "body": body.decode()}
        if status in _ABSENT:
            entry["body"] = ""
        with suppress(OSError):
            write_private(self._folder / f"{host}.json", json.dumps(entry))
