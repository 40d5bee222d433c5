"""The device authorization grant of OAuth 2.0 (RFC 8628): a person signs in elsewhere."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from nexus_tools.bridges.credentials import Credential
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import (
    AuthorizationServer,
    credential_of,
    error_of,
    response_invalid,
    seconds,
)
from nexus_tools.errors import NotAllowedError, UnreachableError

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"

# Section 3.2: the interval if the server names none; section 3.5: what slow_down adds to it.
_INTERVAL_S = 5.0
_SLOW_DOWN_S = 5.0
# A server does not get to occupy us for longer, whatever it says.
_MAX_INTERVAL_S = 60.0
_MAX_LIFETIME_S = 3_600.0

_MAX_URL = 2_048
_MAX_USER_CODE = 64


@dataclass(frozen=True, slots=True)
class DeviceAuthorization:
    """What a person is told, and what we wait with; times in seconds, `expires_at` since 1970."""

    device_code: str = field(repr=False)
    user_code: str
    url: str
    expires_at: float
    interval: float
    scopes: frozenset[str]


async def authorize_device(
    server: AuthorizationServer, scopes: frozenset[str], now: float
) -> DeviceAuthorization:
    """Ask for a code that a person can sign in with (section 3.1).

    Raises `NotAllowedError` (`sign_in_refused`), and as `AuthorizationServer.post` does.
    """
    form = {"scope": " ".join(sorted(scopes))} if scopes else {}
    response = await server.post(server.device_authorization_endpoint, form)
    error = error_of(response)
    if error:
        raise NotAllowedError("sign_in_refused", f"the sign-in could not be started: {error}")
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
    """Ask for the token until the person has decided or the code has expired (sections 3.4, 3.5).

    Raises `NotAllowedError` (`sign_in_refused`), also when the time is over.
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
            return credential_of(response, clock.now(), authorization.scopes)
        if error == "slow_down":
            interval += _SLOW_DOWN_S
        elif error != "authorization_pending":
            raise NotAllowedError("sign_in_refused", f"the sign-in was refused: {error}")
    raise NotAllowedError("sign_in_refused", "nobody has signed in in time: expired_token")


def _url(response: dict[str, Any]) -> str:
    """Where a person signs in; with the code in it, if the server gives such a one."""
    whole = response.get("verification_uri_complete")
    # An earlier draft called it `verification_url`, and a large server still does.
    plain = response.get("verification_uri", response.get("verification_url"))
    url = whole if isinstance(whole, str) and whole else plain
    if not isinstance(url, str) or len(url) > _MAX_URL or not url.isprintable():
        raise response_invalid("there is no verification_uri")
    if urlsplit(url).scheme not in ("http", "https"):
        raise response_invalid("verification_uri is no URL of the web")
    return url


def _text(response: dict[str, Any], name: str, limit: int) -> str:
    value = response.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= limit or not value.isprintable():
        raise response_invalid(f"there is no {name}")
    return value
