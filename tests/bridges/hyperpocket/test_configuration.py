"""The operator's document of auth providers."""

import pytest

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialKind
from nexus_tools.bridges.hyperpocket.auth import (
    ApiKeyProvider,
    AuthRequest,
    AuthRequired,
    DeviceFlowProvider,
    TokenProvider,
    auth_providers,
)
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth
from nexus_tools.errors import ValidationError

DEVICE_FLOW = {
    "kind": "device_flow",
    "client_id": "client-1",
    "token_endpoint": "https://example.com/token",
    "device_authorization_endpoint": "https://example.com/device",
}
KEY = Credential(CredentialKind.API_KEY, "key-1234")
TOKEN = Credential(CredentialKind.TOKEN, "token-1234", scopes=frozenset({"read"}), expires_at=50.0)
VALYU = AuthRequest(ToolAuth("valyu", scopes=frozenset({"read"})))


def test_each_kind_creates_its_provider(store):
    document = {"a": {"kind": "token"}, "b": {"kind": "api_key"}, "c/handler": DEVICE_FLOW}
    providers = auth_providers(document, store)
    kinds = {name: type(provider) for name, provider in providers.items()}
    assert kinds == {"a": TokenProvider, "b": ApiKeyProvider, "c/handler": DeviceFlowProvider}


def test_provider_has_the_variable_names_of_its_tools(store):
    document = {"a": {"kind": "token", "env": "A_KEY"}, "b": DEVICE_FLOW | {"env": ["B", "C"]}}
    providers = auth_providers(document, store)
    assert [providers["a"].names, providers["b"].names] == [("A_KEY",), ("B", "C")]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("token", "expected a table"),
        ({}, "kind must be one of token, api_key, device_flow"),
        ({"kind": "saml"}, "kind must be one of"),
        ({"kind": "token", "client_id": "x"}, "unknown keys for kind token: client_id"),
        ({"kind": "token", "env": "A B"}, "not a valid name of an environment variable"),
        ({"kind": "token", "env": [7]}, "must be a string or a list"),
        (DEVICE_FLOW | {"client_id": ""}, "client_id is missing"),
        (DEVICE_FLOW | {"token_endpoint": "http://example.com"}, "is not an https URL"),
        (DEVICE_FLOW | {"scopes": {}}, "scopes must be a string or"),
    ],
    ids=str,
)
def test_invalid_entry_is_refused_with_its_name(store, entry, problem):
    with pytest.raises(ValidationError, match=problem) as caught:
        auth_providers({"github": entry}, store)
    assert caught.value.code == "auth_provider_invalid"
    assert "'github'" in caught.value.message


def test_invalid_provider_name_is_refused(store):
    with pytest.raises(ValidationError) as caught:
        auth_providers({"a b": {"kind": "token"}}, store)
    assert caught.value.code == "auth_provider_invalid"


async def test_token_provider_returns_the_stored_token(store, manual_clock):
    manual_clock.time = 49.0
    store.put(CredentialKey("valyu"), TOKEN)
    provider = auth_providers({"valyu": {"kind": "token"}}, store, manual_clock.clock)["valyu"]
    assert await provider.authorize(VALYU) == TOKEN


async def test_token_provider_rejects_an_expired_token(store, manual_clock):
    manual_clock.time = 50.0
    store.put(CredentialKey("valyu"), TOKEN)
    provider = auth_providers({"valyu": {"kind": "token"}}, store, manual_clock.clock)["valyu"]
    required = await provider.authorize(VALYU)
    assert required == AuthRequired("the operator's credential for valyu has expired")


async def test_token_provider_names_missing_scopes(store, manual_clock):
    manual_clock.time = 0.0
    store.put(CredentialKey("valyu"), TOKEN)
    provider = auth_providers({"valyu": {"kind": "token"}}, store, manual_clock.clock)["valyu"]
    request = AuthRequest(ToolAuth("valyu", scopes=frozenset({"read", "write", "admin"})))
    assert (await provider.authorize(request)).reason.endswith("lacks the scopes admin, write")


async def test_api_key_has_no_scopes(store):
    store.put(CredentialKey("valyu"), KEY)
    provider = auth_providers({"valyu": {"kind": "api_key"}}, store)["valyu"]
    assert await provider.authorize(VALYU) == KEY


async def test_token_is_not_an_api_key(store):
    store.put(CredentialKey("valyu"), TOKEN)
    provider = auth_providers({"valyu": {"kind": "api_key"}}, store)["valyu"]
    assert await provider.authorize(VALYU) == AuthRequired(
        "the operator has not stored an API key for valyu"
    )


async def test_thread_without_a_credential_uses_the_one_of_its_profile(store):
    store.put(CredentialKey("valyu", "work"), KEY)
    provider = auth_providers({"valyu": {"kind": "api_key"}}, store)["valyu"]
    assert await provider.authorize(AuthRequest(VALYU.auth, "work", "t-9")) == KEY
    assert isinstance(
        await provider.authorize(AuthRequest(VALYU.auth, "home", "t-9")), AuthRequired
    )
