"""Whether the domain in a tool's name says that the tool's owner may use it.

A question goes to a host that a stranger chose: it passes the Leader's address guard, follows no
redirect, has one deadline for all hosts, and is asked for one tool at a time, since whoever runs
the host learns that somebody looks at the tool. What a host said is kept for a day.
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
"""That a host has no document is kept shorter: its owner may be about to publish one."""

_PORT = 443
_OK = 200
_ABSENT = (404, 410)
_LIFETIMES_S = {_OK: DOCUMENT_LIFETIME_S} | dict.fromkeys(_ABSENT, ABSENCE_LIFETIME_S)
_LATER = (408, 425, 429)
_NO_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class ProofState(StrEnum):
    """What is known; all but `PROVED` say nothing good, and only a document says something bad."""

    PROVED = "proved"
    NOT_PROVED = "not_proved"
    UNPROVABLE = "unprovable"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether the domain lists the owner, and why not.

    `host` decided, where one did; `owners` are those whom its document lists for the registry, None
    without a document.
    """

    state: ProofState
    reason: str
    host: str | None = None
    owners: tuple[str, ...] | None = None

    @property
    def is_denied(self) -> bool:
        """Whether the domain published who may own its names, and the owner is none of them."""
        return self.state is ProofState.NOT_PROVED and self.owners is not None


class DomainProofs:
    """Asks domains, and keeps what they said in a folder, if there is one.

    `now` is the time in s since 1970.
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
        self._kept = _Kept(folder, now)
        self._port = port

    async def prove(
        self, domain: str, owner: str, chain: str, registry: str, *, fresh: bool = False
    ) -> Proof:
        """Whether `domain`, as FQNs write it, lists an owner in a registry of a chain.

        `fresh` asks hosts whose word is kept, too.
        """
        try:
            hosts = proof_hosts(domain)
        except ValidationError as error:
            return Proof(ProofState.UNPROVABLE, error.message)
        return await self._decided(hosts, owner, (chain, registry), fresh=fresh)

    async def _decided(
        self, hosts: Sequence[str], owner: str, place: tuple[str, str], *, fresh: bool
    ) -> Proof:
        """The word of the nearest host that has a document.

        A host that cannot be asked decides, too, for whoever keeps it silent would let its parent
        speak in its place: only one that is not there, or says that it has nothing, is passed over.
        """
        host = hosts[0]
        try:
            async with asyncio.timeout(DEADLINE_S):
                for host in hosts:
                    found = await self._document(host, fresh=fresh)
                    if found is not None:
                        return _judged(host, found.owners_in(*place), owner)
        except TimeoutError:
            reason = f"{host} did not respond within {DEADLINE_S} s"
            return Proof(ProofState.UNREACHABLE, reason, host)
        except UnreachableError as error:
            return Proof(ProofState.UNREACHABLE, error.message, host)
        except NexusError as error:
            return Proof(ProofState.NOT_PROVED, error.message, host)
        return Proof(ProofState.NOT_PROVED, f"nothing is published at {_all(hosts)}")

    async def _document(self, host: str, *, fresh: bool) -> DomainOwners | None:
        """What a host has published, or None. Raises `domain_unreachable` or `proof_invalid`."""
        known = None if fresh else self._kept.get(host)
        status, body = known or await self._ask(host)
        found = _read(host, status, body)
        if known is None and status:
            self._kept.put(host, status, body)
        return found

    async def _ask(self, host: str) -> tuple[int, bytes]:
        """Status and body of the host's response; a status of 0 where no such host is."""
        url = f"https://{host}:{self._port}{PROOF_PATH}"
        try:
            response = await exchange(self._client, "GET", url, max_response_bytes=MAX_PROOF_BYTES)
        except NoResponseError as error:
            if _is_no_name(error):
                return 0, b""
            raise _unreachable(host, _in_words(error)) from error
        except ResponseTooLargeError as error:
            raise _invalid(host, f"has more than {MAX_PROOF_BYTES} bytes") from error
        except ResponseMalformedError as error:
            raise _invalid(host, "came compressed or is no HTTP") from error
        return response.status, response.body


@asynccontextmanager
async def asking_domains(folder: Path | None = None) -> AsyncIterator[DomainProofs]:
    """The time in which domains on the internet can be asked; answers are kept in a folder."""
    with closing(SystemResolver()) as resolve:

        async def resolve_absolute(host: str) -> Sequence[str]:
            # With a dot at the end, or the search domains of this machine would speak for others.
            return await resolve(f"{host}.")

        guard = AddressGuard(ports=frozenset((_PORT,)))
        async with guarded_client(guard, resolve_absolute, max_connections=1) as client:
            yield DomainProofs(client, folder)


def _judged(host: str, owners: tuple[str, ...], owner: str) -> Proof:
    if owner in owners:
        return Proof(ProofState.PROVED, f"{host} lists the owner", host, owners)
    return Proof(ProofState.NOT_PROVED, f"{host} does not list the owner", host, owners)


def _read(host: str, status: int, body: bytes) -> DomainOwners | None:
    if not status or status in _ABSENT:
        return None
    if status in _LATER or status >= 500:
        raise _unreachable(host, f"responds with status {status}")
    if status != _OK:
        raise _invalid(host, f"came with status {status}, and nothing else is followed")
    try:
        return DomainOwners.parse(body)
    except ValidationError as error:
        raise _invalid(host, f"is refused: {error.message}") from error


def _is_no_name(error: BaseException | None) -> bool:
    """Whether the resolver knows for certain that there is no such host, or no address of it."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__
    return error is not None and error.errno in _NO_NAME


def _in_words(error: NoResponseError) -> str:
    if error.refusal:
        return f"is not asked: {error.refusal}"
    if isinstance(error.__cause__, aiohttp.ClientSSLError):
        return "has no TLS certificate that is accepted"
    return "does not respond"


def _all(hosts: Sequence[str]) -> str:
    return " or ".join(f"https://{host}{PROOF_PATH}" for host in hosts)


def _unreachable(host: str, problem: str) -> UnreachableError:
    return UnreachableError("domain_unreachable", f"{host} {problem}")


def _invalid(host: str, problem: str) -> ValidationError:
    return ValidationError("proof_invalid", f"the document of {host} {problem}")


class _Kept:
    """What hosts said, a file each: read as strictly as from the host, for whatever is asked."""

    def __init__(self, folder: Path | None, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now

    def get(self, host: str) -> tuple[int, bytes] | None:
        """Status and body, unless they are too old or from a time that has not come."""
        if self._folder is None:
            return None
        try:
            kept = json.loads(read_private(self._folder / f"{host}.json"))
            age_s, status, body = self._now() - kept["at_s"], kept["status"], kept["body"]
            return (status, body.encode()) if 0 <= age_s < _LIFETIMES_S[status] else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, host: str, status: int, body: bytes) -> None:
        """Keep what decided or said that there is nothing; a folder that takes nothing is none."""
        if self._folder is None:
            return
        kept = {"at_s": self._now(), "status": status, "body": body.decode()}
        if status in _ABSENT:
            kept["body"] = ""
        with suppress(OSError):
            write_private(self._folder / f"{host}.json", json.dumps(kept))
