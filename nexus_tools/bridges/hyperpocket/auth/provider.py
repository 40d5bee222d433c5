"""The protocol of auth providers, and the providers that only look up stored credentials."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from anyio import to_thread

from nexus_tools.bridges.credentials import (
    DEFAULT_LABEL,
    Credential,
    CredentialKey,
    CredentialKind,
    CredentialStore,
)
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth


@dataclass(frozen=True, slots=True)
class AuthRequest:
    """A call's request for credentials: the tool's declaration, the profile, and the thread."""

    auth: ToolAuth
    profile: str = DEFAULT_LABEL
    thread_id: str = DEFAULT_LABEL

    def keys(self, *providers: str) -> list[CredentialKey]:
        """Return the keys to look up: first with the thread of the call, then with the default."""
        threads = dict.fromkeys([self.thread_id, DEFAULT_LABEL])
        return [
            CredentialKey(provider, self.profile, thread)
            for provider in dict.fromkeys(providers)
            for thread in threads
        ]


@dataclass(frozen=True, slots=True)
class AuthRequired:
    """The reason why credentials are missing, and the URL at which a user can provide them."""

    reason: str
    url: str = ""
    user_code: str = ""


class AuthProvider(Protocol):
    """A source of credentials, which never waits for a user.

    `names` lists the environment variables that its tools read. An empty tuple selects the default
    names.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The environment variables in which tools receive this provider's credentials."""
        ...

    async def authorize(self, request: AuthRequest) -> Credential | AuthRequired:
        """Return the credential for a call, or the reason why it is missing."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return a context in which the provider may work in the background.

        Contexts may be nested.
        """
        ...


@dataclass(frozen=True, slots=True)
class TokenProvider:
    """A provider that returns the operator's token for the first of `providers` that has a token.

    A token with known scopes must have the scopes that the tool requests.
    """

    store: CredentialStore
    providers: tuple[str, ...]
    names: tuple[str, ...] = ()
    clock: Clock = field(default_factory=Clock)

    async def authorize(self, request: AuthRequest) -> Credential | AuthRequired:
        """Return the stored token, or the reason why it cannot be used."""
        credential = await find(self.store, request.keys(*self.providers))
        if credential is None:
            return AuthRequired(f"the operator has not stored a credential for {self.providers[0]}")
        if credential.is_expired(self.clock.now()):
            return AuthRequired(f"the operator's credential for {self.providers[0]} has expired")
        missing_scopes = credential.lacks(request.auth.scopes)
        if missing_scopes:
            return AuthRequired(
                f"the operator's credential lacks the scopes {', '.join(sorted(missing_scopes))}"
            )
        return credential

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return an empty context, because the provider has no background work."""
        return nullcontext()


@dataclass(frozen=True, slots=True)
class ApiKeyProvider:
    """A provider of the operator's stored API keys, which have no scopes and do not expire."""

    store: CredentialStore
    providers: tuple[str, ...]
    names: tuple[str, ...] = ()

    async def authorize(self, request: AuthRequest) -> Credential | AuthRequired:
        """Return the stored key. Credentials of other kinds are ignored."""
        credential = await find(self.store, request.keys(*self.providers))
        if credential is None or credential.kind is not CredentialKind.API_KEY:
            return AuthRequired(f"the operator has not stored an API key for {self.providers[0]}")
        return credential

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return an empty context, because the provider has no background work."""
        return nullcontext()


async def find(store: CredentialStore, keys: list[CredentialKey]) -> Credential | None:
    """Return the credential of the first key that has one, or None."""
    for key in keys:
        credential = await to_thread.run_sync(store.get, key)
        if credential is not None:
            return credential
    return None
