"""A client of an OAuth 2.0 authorization server: its endpoints, and the forms posted to them."""

import json
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx
from anyio import fail_after

from nexus_tools.bridges.credentials import Credential, CredentialKind
from nexus_tools.errors import NotAllowedError, UnreachableError, ValidationError

TIMEOUT_S = 10.0
MAX_RESPONSE_BYTES = 64 * 2**10

_MAX_ERROR = 60


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """An authorization server and its client ID. Endpoints use https or a loopback address."""

    client_id: str
    token_endpoint: str
    device_authorization_endpoint: str
    client_secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        for url in (self.token_endpoint, self.device_authorization_endpoint):
            check_endpoint(url)

    async def post(self, endpoint: str, form: dict[str, str]) -> dict[str, Any]:
        """Post a form as this client, and return the JSON object of the response or error.

        Raises:
            UnreachableError: with code `auth_unreachable`.
            ValidationError: with code `auth_response_invalid`.
        """
        # Some servers require the client credentials in the body (RFC 6749, section 2.3.1).
        client = {"client_id": self.client_id}
        if self.client_secret:
            client["client_secret"] = self.client_secret
        try:
            with fail_after(TIMEOUT_S):
                content = await _post(endpoint, client | form)
        except (httpx.HTTPError, TimeoutError) as error:
            host = urlsplit(endpoint).hostname
            message = f"the authorization server {host} does not respond: {type(error).__name__}"
            raise UnreachableError("auth_unreachable", message) from error
        return _document(content)

    async def refresh(self, credential: Credential, now: float) -> Credential:
        """Return a new token for an expired one (RFC 6749, section 6).

        Raises:
            NotAllowedError: with code `sign_in_refused` if the server rejects the refresh token.
        """
        form = {"grant_type": "refresh_token", "refresh_token": credential.refresh_token}
        response = await self.post(self.token_endpoint, form)
        error = error_of(response)
        if error:
            raise NotAllowedError("sign_in_refused", f"the token could not be refreshed: {error}")
        return credential_from_response(response, now, credential.scopes, credential.refresh_token)


def check_endpoint(url: str) -> None:
    """Raise an error unless secrets may be sent to the URL.

    The URL must be https, or http on a loopback address. RFC 8252, section 8.3, has the same
    exception.

    Raises:
        ValidationError: with code `auth_provider_invalid`.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("https", "http" if _is_loopback(host) else "https"):
        message = f"{url[:200]!r} is not an https URL"
        hint = "Use https. Plain http is allowed only for a server on this machine."
        raise ValidationError("auth_provider_invalid", message, hint=hint)


def error_of(response: dict[str, Any]) -> str:
    """Return the error code of a response (RFC 6749, section 5.2), or "" if it succeeded."""
    error = response.get("error")
    if error is None:
        return ""
    text = error if isinstance(error, str) else ""
    is_code = len(text) <= _MAX_ERROR and text.replace("_", "").isalnum()
    return text if is_code else "unknown_error"


def credential_from_response(
    response: dict[str, Any],
    now: float,
    scopes: frozenset[str] | None,
    refresh_token: str = "",
) -> Credential:
    """Return the credential of a token response (RFC 6749, section 5.1).

    If the response lacks scopes or a refresh token, `scopes` and `refresh_token` are used.

    Raises:
        ValidationError: with code `auth_response_invalid`.
    """
    token, lifetime, scope = (response.get(key) for key in ("access_token", "expires_in", "scope"))
    new_refresh_token = response.get("refresh_token")
    if not isinstance(token, str) or not token:
        raise invalid_response_error("access_token is missing")
    return Credential(
        CredentialKind.OAUTH2,
        token,
        refresh_token=new_refresh_token
        if isinstance(new_refresh_token, str) and new_refresh_token
        else refresh_token,
        expires_at=None if lifetime is None else now + seconds(lifetime, "expires_in"),
        # Some servers separate scopes by commas.
        scopes=frozenset(scope.replace(",", " ").split()) if isinstance(scope, str) else scopes,
    )


def seconds(value: object, name: str) -> float:
    """Return a response field in seconds. Some servers encode numbers as strings."""
    try:
        number = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < 2**40:
        raise invalid_response_error(f"{name} is not a number of seconds")
    return number


def invalid_response_error(problem: str) -> ValidationError:
    """Return the error for a response that violates the RFCs, without quoting the response."""
    message = f"the response of the authorization server is not valid: {problem}"
    return ValidationError("auth_response_invalid", message)


async def _post(endpoint: str, form: dict[str, str]) -> bytes:
    content = b""
    # Do not use the proxies and certificates of the operator's environment.
    async with (
        httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client,
        client.stream(
            "POST",
            endpoint,
            data=form,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        ) as response,
    ):
        if response.headers.get("content-encoding", "identity") != "identity":
            raise invalid_response_error("the body is compressed")
        async for part in response.aiter_raw():
            content += part
            if len(content) > MAX_RESPONSE_BYTES:
                raise invalid_response_error(f"the body is larger than {MAX_RESPONSE_BYTES} bytes")
    return content


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        # The cause would quote the response, which may contain a token.
        raise invalid_response_error("expected a JSON object") from None
    return document


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
