"""Where the credentials of a tool come from: what an auth provider is, and those that only look."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from anyio import to_thread

from nexus_tools.bridges.credentials import (
    DEFAULT,
    Credential,
    CredentialKey,
    CredentialKind,
    CredentialStore,
)
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth


@dataclass(frozen=True, slots=True)
class AuthRequest:
    """One call's wish for credentials: what the tool declares, and on whose behalf."""

    auth: ToolAuth
    profile: str = DEFAULT
    thread_id: str = DEFAULT

    def keys(self, *providers: str) -> list[CredentialKey]:
        """Where its credentials may be kept: those of its thread before those of any."""
        threads = dict.fromkeys([self.thread_id, DEFAULT])
        return [
            CredentialKey(provider, self.profile, thread)
            for provider in dict.fromkeys(providers)
            for thread in threads
        ]


@dataclass(frozen=True, slots=True)
class AuthRequired:
    """Why there are no credentials, and where a person can give them."""

    reason: str
    url: str = ""
    user_code: str = ""


class AuthProvider(Protocol):
    """Gives credentials, or says what is missing; it never waits for a person.

    `names` are the environment variables that its tools read, empty for those of the system.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The environment variables in which tools get what this provider gives."""
        ...

    async def authorise(self, request: AuthRequest) -> Credential | AuthRequired:
        """The credential for a call, or why there is none."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """The time in which it may work in the background; it can be entered inside itself."""
        ...


@dataclass(frozen=True, slots=True)
class TokenProvider:
    """Tokens that the operator has put into the store, under the first of `providers` that has one.

    A token whose scopes are known must have those that the tool asks for.
    """

    store: CredentialStore
    providers: tuple[str, ...]
    names: tuple[str, ...] = ()
    clock: Clock = field(default_factory=Clock)

    async def authorise(self, request: AuthRequest) -> Credential | AuthRequired:
        """The stored token, or why it does not do."""
        credential = await find(self.store, request.keys(*self.providers))
        if credential is None:
            return AuthRequired(f"the operator has no credential for {self.providers[0]}")
        if credential.is_expired(self.clock.now()):
            return AuthRequired(f"the operator's credential for {self.providers[0]} has expired")
        lacking = credential.lacks(request.auth.scopes)
        if lacking:
            return AuthRequired(f"the operator's credential lacks {', '.join(sorted(lacking))}")
        return credential

    def running(self) -> AbstractAsyncContextManager[None]:
        """It does nothing in the background."""
        return nullcontext()


@dataclass(frozen=True, slots=True)
class ApiKeyProvider:
    """API keys that the operator has put into the store; they have no scopes and do not expire."""

    store: CredentialStore
    providers: tuple[str, ...]
    names: tuple[str, ...] = ()

    async def authorise(self, request: AuthRequest) -> Credential | AuthRequired:
        """The stored key; a credential of another kind is none."""
        credential = await find(self.store, request.keys(*self.providers))
        if credential is None or credential.kind is not CredentialKind.API_KEY:
            return AuthRequired(f"the operator has no API key for {self.providers[0]}")
        return credential

    def running(self) -> AbstractAsyncContextManager[None]:
        """It does nothing in the background."""
        return nullcontext()


async def find(store: CredentialStore, keys: list[CredentialKey]) -> Credential | None:
    """The credential of the first key that has one."""
    for key in keys:
        credential = await to_thread.run_sync(store.get, key)
        if credential is not None:
            return credential
    return None
