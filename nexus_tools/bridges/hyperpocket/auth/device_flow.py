"""The device authorization grant of OAuth 2.0 (RFC 8628): a user signs in on another device."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from nexus_tools.bridges.credentials import Credential
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import (
    AuthorizationServer,
    credential_from_response,
    error_of,
    invalid_response_error,
    seconds,
)
from nexus_tools.errors import NotAllowedError, UnreachableError

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"

# Section 3.2: the default interval. Section 3.5: the error slow_down adds 5 s to the interval.
_INTERVAL_S = 5.0
_SLOW_DOWN_S = 5.0
# Upper limits for the polling interval and the code lifetime that the server requests.
_MAX_INTERVAL_S = 60.0
_MAX_LIFETIME_S = 3_600.0

_MAX_URL = 2_048
_MAX_USER_CODE = 64


@dataclass(frozen=True, slots=True)
class DeviceAuthorization:
    """The codes of a pending sign-in.

    `interval` is in seconds, `expires_at` in seconds since 1970.
    """

    device_code: str = field(repr=False)
    user_code: str
    url: str
    expires_at: float
    interval: float
    scopes: frozenset[str]


async def authorize_device(
    server: AuthorizationServer, scopes: frozenset[str], now: float
) -> DeviceAuthorization:
    """Request a code with which a user can sign in (section 3.1).

    Raises:
        NotAllowedError: with code `sign_in_refused`. `AuthorizationServer.post` raises others.
    """
    form = {"scope": " ".join(sorted(scopes))} if scopes else {}
    response = await server.post(server.device_authorization_endpoint, form)
    error = error_of(response)
    if error:
        raise NotAllowedError(
            "sign_in_refused", f"the authorization server rejected the sign-in: {error}"
        )
    lifetime = min(seconds(response.get("expires_in"), "expires_in"), _MAX_LIFETIME_S)
    interval = seconds(response.get("interval", _INTERVAL_S), "interval")
    return DeviceAuthorization(
        device_code=_text(response, "device_code", _MAX_URL),
        user_code=_text(response, "user_code", _MAX_USER_CODE),
        url=_url(response),
        expires_at=now + lifetime,
        interval=min(max(interval, 1.0), _MAX_INTERVAL_S),
        scopes=scopes,
    )


async def wait_for_token(
    server: AuthorizationServer, authorization: DeviceAuthorization, clock: Clock
) -> Credential:
    """Poll for the token until the user decides or the code expires (sections 3.4, 3.5).

    Raises:
        NotAllowedError: with code `sign_in_refused`, also if the code expires.
    """
    form = {"grant_type": GRANT_TYPE, "device_code": authorization.device_code}
    interval = authorization.interval
    while clock.now() + interval <= authorization.expires_at:
        await clock.sleep(interval)
        try:
            response = await server.post(server.token_endpoint, form)
        except UnreachableError:
            interval = min(interval * 2, _MAX_INTERVAL_S)
            continue
        error = error_of(response)
        if not error:
            return credential_from_response(response, clock.now(), authorization.scopes)
        if error == "slow_down":
            interval += _SLOW_DOWN_S
        elif error != "authorization_pending":
            raise NotAllowedError("sign_in_refused", f"the sign-in was refused: {error}")
    raise NotAllowedError(
        "sign_in_refused", "the sign-in code expired before anyone signed in: expired_token"
    )


def _url(response: dict[str, Any]) -> str:
    """Return the sign-in URL, preferably the URL that already contains the user code."""
    complete_url = response.get("verification_uri_complete")
    # A draft of RFC 8628 named the field `verification_url`, and a large server still uses that
    # name.
    plain_url = response.get("verification_uri", response.get("verification_url"))
    url = complete_url if isinstance(complete_url, str) and complete_url else plain_url
    if not isinstance(url, str) or len(url) > _MAX_URL or not url.isprintable():
        raise invalid_response_error("verification_uri is missing or not valid")
    if urlsplit(url).scheme not in ("http", "https"):
        raise invalid_response_error("verification_uri is not an http or https URL")
    return url


def _text(response: dict[str, Any], name: str, limit: int) -> str:
    value = response.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= limit or not value.isprintable():
        raise invalid_response_error(f"{name} is missing or not valid")
    return value
