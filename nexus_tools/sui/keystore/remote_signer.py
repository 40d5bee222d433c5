"""A signer that asks a server over HTTP, so that the key is not on this machine.

The protocol has two requests with JSON bodies:

    GET  {url}/address   {"address": "0x…"}
    POST {url}/sign      {"transaction": base64, "address": "0x…"} -> {"signature": base64}

`transaction` is the BCS bytes of a `TransactionData`, and `signature` is the serialized signature.
A client authenticates with `Authorization: Bearer TOKEN`, with a client certificate, or with both.
A refusal is `{"error": {"code": …, "message": …}}` with the status 401 for an unknown client, or
403 for a transaction that the policy of the server refuses. If the server does not have the key,
the status is 404 and the code is `address_unknown`.
"""

import asyncio
import json
import ssl
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nexus_tools.sui.errors import (
    NexusError,
    NotAllowedError,
    UnreachableError,
    UsageError,
    ValidationError,
)
from nexus_tools.sui.keystore.signing import SIGNING_TIMEOUT_S
from nexus_tools.sui.support.private_file import is_exposed
from nexus_tools.sui.support.text_file import read_text
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.types.address import Address

if TYPE_CHECKING:
    import httpx

MAX_RESPONSE_BYTES = 64 * 1024
_MAX_REASON = 200


@dataclass(frozen=True, slots=True)
class SignerCredentials:
    """The credentials of a client: a token or a file with the token, or PEM files for TLS.

    `ca` is a file with the authorities that may certify the server. The default is the public
    authorities. `token_file` is read for each request.
    """

    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    ca: Path | None = None

    def headers(self) -> dict[str, str]:
        """Return the header with the token. Raises `signer_token_invalid`."""
        token = self.token
        if self.token_file is not None:
            token = _first_line(self.token_file)
        if token is None:
            return {}
        if not token.isascii() or not token.isprintable() or not token or " " in token:
            raise _token_error("expected printable ASCII characters without spaces")
        return {"Authorization": f"Bearer {token}"}

    def tls(self) -> ssl.SSLContext:
        """Return the settings of TLS. Raises `signer_certificate_invalid`."""
        import httpx  # noqa: PLC0415 - only needed for remote signers

        try:
            if self.ca is None:
                context = httpx.create_ssl_context(trust_env=False)
            else:
                context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                # Without this function, OpenSSL asks for the passphrase of an encrypted key.
                context.load_cert_chain(self.certificate, self.key, password=lambda: b"")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            message = f"the certificate, key or CA file of the signer cannot be used: {reason}"
            hint = "Use PEM files, and a key without a passphrase."
            raise UsageError("signer_certificate_invalid", message, hint=hint) from None
        return context


@dataclass(eq=False)
class RemoteSigner:
    """A signer for `address`, whose key only the server at `url` has.

    The server can refuse transactions. Every signature is compared with `address`, so that neither
    the server nor an attacker can replace the key. The signer follows no redirects and ignores
    proxy variables. Each request has its own connection, so that the signer works in any event
    loop. Without TLS, the server must be on this machine. Raises `signer_url_invalid`.
    """

    url: str
    address: Address
    credentials: SignerCredentials = SignerCredentials()
    timeout_s: float = SIGNING_TIMEOUT_S
    unauthorized_hint: str = "Check the token or the client certificate of this signer."
    _tls: ssl.SSLContext | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the URL."""
        _check_url(self.url)
        self.url = self.url.rstrip("/")

    async def sign(self, transaction: bytes) -> bytes:
        """Return the server's signature, which `sign_transaction` verifies.

        Raises:
            NexusError: `signer_refused`, `signer_unauthorized`, `signer_address_wrong`,
                `signer_unreachable`, `signer_failed`, `signer_timeout`, `signer_response_invalid`,
                or the errors of `SignerCredentials`.
        """
        request = {"transaction": b64encode(transaction).decode(), "address": str(self.address)}
        document = await self._ask("POST", "/sign", request)
        with suppress(KeyError, TypeError, ValueError):
            return b64decode(document["signature"], validate=True)
        raise self._invalid("expected the field `signature` in base64")

    async def check_address(self) -> None:
        """Check that the server signs for `address`. Raises the errors of `sign`."""
        reported = await self.reported_address()
        if reported != self.address:
            raise self._wrong_address(f"it reports the address {reported}")

    async def reported_address(self) -> Address:
        """Return the address that the server reports. Raises the errors of `sign`."""
        document = await self._ask("GET", "/address")
        with suppress(KeyError, TypeError, AttributeError, ValidationError):
            return Address.parse_whole(document["address"])
        raise self._invalid("expected the field `address`")

    # --- Requests

    async def _ask(self, method: str, path: str, document: Any = None) -> Mapping[str, Any]:
        import httpx  # noqa: PLC0415 - only needed for remote signers

        headers = {"Accept-Encoding": "identity", **self.credentials.headers()}
        self._tls = self._tls or self.credentials.tls()
        options: dict[str, Any] = {"verify": self._tls, "trust_env": False}
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                httpx.AsyncClient(timeout=self.timeout_s, **options) as http,
                http.stream(method, self.url + path, json=document, headers=headers) as response,
            ):
                body = await self._read(response)
        except (TimeoutError, httpx.TimeoutException):
            message = f"the signer at {self.url} did not respond within {self.timeout_s:g} s"
            raise UnreachableError("signer_timeout", message, hint=_HINT) from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            message = f"cannot reach the signer at {self.url}: {self._clean(reason)}"
            raise UnreachableError("signer_unreachable", message, hint=_HINT) from None
        return self._parsed(response.status_code, body)

    async def _read(self, response: "httpx.Response") -> bytes:
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES:
                raise self._invalid(f"expected at most {MAX_RESPONSE_BYTES} bytes, got more")
        return bytes(body)

    def _parsed(self, status: int, body: bytes) -> Mapping[str, Any]:
        """Return the document of a response. Raise the error that the response means."""
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if status != HTTPStatus.OK:
            raise self._refusal(status, document)
        if not isinstance(document, dict):
            raise self._invalid("expected a JSON object")
        return document

    def _refusal(self, status: int, document: Any) -> NexusError:
        error = document.get("error") if isinstance(document, dict) else None
        error = error if isinstance(error, dict) else {}
        reason = self._clean(str(error.get("message") or f"HTTP {status}"))
        if status == HTTPStatus.UNAUTHORIZED:
            message = f"the signer at {self.url} does not accept the credentials: {reason}"
            return NotAllowedError("signer_unauthorized", message, hint=self.unauthorized_hint)
        if status == HTTPStatus.FORBIDDEN:
            message = f"the signer at {self.url} refuses to sign: {reason}"
            hint = "Nothing was sent. Check the policy and the log of the signer."
            return NotAllowedError("signer_refused", message, hint=hint)
        if status == HTTPStatus.NOT_FOUND and error.get("code") == "address_unknown":
            return self._wrong_address(reason)
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return self._invalid(f"HTTP {status} is a redirect, which is not followed")
        message = f"the signer at {self.url} failed: HTTP {status}: {reason}"
        return UnreachableError("signer_failed", message, hint=_HINT)

    def _clean(self, reason: str) -> str:
        """Return untrusted text on one line, without the token that a server may repeat."""
        with suppress(NexusError):
            token = self.credentials.headers().get("Authorization", "").removeprefix("Bearer ")
            reason = reason.replace(token, "…") if token else reason
        return one_line(reason, _MAX_REASON)

    def _invalid(self, reason: str) -> ValidationError:
        message = f"the signer at {self.url} sent an invalid response: {reason}"
        hint = "Check that the URL is the URL of a signer."
        return ValidationError("signer_response_invalid", message, hint=hint)

    def _wrong_address(self, reason: str) -> NotAllowedError:
        message = f"the signer at {self.url} does not sign for {self.address}: {reason}"
        hint = "Check the URL and the address of the signer. The server may have another key now."
        return NotAllowedError("signer_address_wrong", message, hint=hint)


_HINT = "Nothing was sent. Check that the signer is running, and try again."


def _check_url(url: str) -> None:
    """Raise `signer_url_invalid`. The message omits the URL, which may contain a password."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("https", "http"):
        reason = "expected https://HOST:PORT"
    elif "@" in parts.netloc or parts.query or parts.fragment:
        reason = "a password or a query is not allowed, because other users can see it"
    elif parts.scheme == "http" and not _is_loopback(host):
        reason = "http is allowed only for a server on this machine"
    else:
        return
    hint = "Use an https URL, and pass a token in a file or an environment variable."
    message = f"the URL of the signer is not valid: {reason}"
    raise UsageError("signer_url_invalid", message, hint=hint)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _first_line(path: Path) -> str:
    if is_exposed(path):
        raise _token_error(f"other users can read the file {path}")
    try:
        return read_text(path).partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "the file is not UTF-8 text"
        raise _token_error(f"the file {path} cannot be read: {reason}") from None


def _token_error(reason: str) -> UsageError:
    hint = "Write the token into the first line of a file with mode 0600."
    message = f"the token of the signer is not valid: {reason}"
    return UsageError("signer_token_invalid", message, hint=hint)
