"""The parser of the operator's configuration of auth providers."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from nexus_tools.bridges.credentials import CredentialKey, CredentialStore
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.auth.device_flow_provider import DeviceFlowProvider
from nexus_tools.bridges.hyperpocket.auth.provider import (
    ApiKeyProvider,
    AuthProvider,
    TokenProvider,
)
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import AuthorizationServer
from nexus_tools.errors import ValidationError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
ENDPOINTS = ("client_id", "token_endpoint", "device_authorization_endpoint")

Make = Callable[[str, Mapping[str, Any], CredentialStore, Clock], AuthProvider]


def auth_providers(
    document: Mapping[str, Any], store: CredentialStore, clock: Clock | None = None
) -> dict[str, AuthProvider]:
    """Return the providers that a document configures, by name.

    The document maps a provider (`github`), or a provider with a handler (`github/github-oauth2`),
    to an object. `kind` is `token`, `api_key`, or `device_flow`. `env` is the name, or the list of
    names, of the environment variables that tools read. A device flow requires `client_id`,
    `token_endpoint`, and `device_authorization_endpoint`, and may have `client_secret` and
    `scopes`.

    Raises:
        ValidationError: with code `auth_provider_invalid`.
    """
    clock = clock or Clock()
    return {name: _provider(name, entry, store, clock) for name, entry in document.items()}


def _provider(name: str, entry: Any, store: CredentialStore, clock: Clock) -> AuthProvider:
    if not isinstance(entry, Mapping):
        raise _invalid(name, "expected a table")
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise _invalid(name, f"kind must be one of {', '.join(KINDS)}")
    make, fields = KINDS[kind]
    unknown = sorted(entry.keys() - {"kind", "env", *fields})
    if unknown:
        raise _invalid(name, f"unknown keys for kind {kind}: {', '.join(unknown)[:200]}")
    try:
        CredentialKey(name)
        return make(name, entry, store, clock)
    except ValidationError as error:
        raise _invalid(name, error.message) from error


def _token(
    name: str, entry: Mapping[str, Any], store: CredentialStore, clock: Clock
) -> AuthProvider:
    return TokenProvider(store, (name,), _names(name, entry), clock)


def _api_key(name: str, entry: Mapping[str, Any], store: CredentialStore, _: Clock) -> AuthProvider:
    return ApiKeyProvider(store, (name,), _names(name, entry))


def _device_flow(
    name: str, entry: Mapping[str, Any], store: CredentialStore, clock: Clock
) -> AuthProvider:
    client_id, token_endpoint, device_endpoint = (_text(name, entry, key) for key in ENDPOINTS)
    secret = _text(name, entry, "client_secret") if "client_secret" in entry else ""
    return DeviceFlowProvider(
        store,
        name,
        AuthorizationServer(client_id, token_endpoint, device_endpoint, secret),
        names=_names(name, entry),
        scopes=frozenset(_texts(name, entry, "scopes")),
        clock=clock,
    )


def _names(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = _texts(name, entry, "env")
    invalid = [variable for variable in names if not NAME.fullmatch(variable)]
    if invalid:
        raise _invalid(name, f"{invalid[0][:80]!r} is not a valid name of an environment variable")
    return names


def _texts(name: str, entry: Mapping[str, Any], field: str) -> tuple[str, ...]:
    value = entry.get(field, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise _invalid(name, f"{field} must be a string or a list of strings")
    return tuple(texts)


def _text(name: str, entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value:
        raise _invalid(name, f"{field} is missing")
    return value


def _invalid(name: object, problem: str) -> ValidationError:
    message = f"the auth provider {str(name)[:80]!r} is not valid: {problem}"
    return ValidationError("auth_provider_invalid", message)


KINDS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "token": (_token, ()),
    "api_key": (_api_key, ()),
    "device_flow": (_device_flow, (*ENDPOINTS, "client_secret", "scopes")),
}
