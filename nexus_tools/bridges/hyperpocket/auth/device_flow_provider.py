"""The auth provider of the device flow: until the user signs in, tools return instructions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from anyio import CancelScope, Lock, to_thread

from nexus_tools.bridges.credentials import Credential, CredentialKey, CredentialStore
from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.auth.device_flow import (
    DeviceAuthorization,
    authorize_device,
    wait_for_token,
)
from nexus_tools.bridges.hyperpocket.auth.provider import AuthRequest, AuthRequired, find
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import AuthorizationServer
from nexus_tools.bridges.hyperpocket.background_tasks import BackgroundTasks
from nexus_tools.errors import NexusError, NotAllowedError
from nexus_tools.sui.support.logs import get_logger

MAX_SIGN_INS = 100
"""The maximum number of pending sign-ins per provider, because callers can start many."""

# A token is refreshed shortly before it expires, so that it remains valid during the call.
_LEEWAY_S = 60.0

# Errors that callers may see. An error of the store is reported only to the operator.
_SERVERS_ERRORS = {"auth_unreachable", "auth_response_invalid", "sign_in_refused"}

_log = get_logger("nexus_tools.bridges")


@dataclass(frozen=True, slots=True)
class _SignIn:
    authorization: DeviceAuthorization
    task: asyncio.Task[None]


class DeviceFlowProvider:
    """A provider of OAuth 2.0 tokens, which it obtains by the device flow and refreshes.

    `provider` is the name under which tokens are stored. `scopes` are requested in addition to the
    scopes of the tools. While the provider is `running`, it waits in the background for sign-ins
    that calls have started.
    """

    def __init__(
        self,
        store: CredentialStore,
        provider: str,
        server: AuthorizationServer,
        *,
        names: tuple[str, ...] = (),
        scopes: frozenset[str] = frozenset(),
        clock: Clock | None = None,
    ) -> None:
        self.store = store
        self.provider = provider
        self.server = server
        self.names = names
        self.scopes = scopes
        self.clock = clock or Clock()
        self._locks: dict[CredentialKey, Lock] = {}
        self._sign_ins: dict[CredentialKey, _SignIn] = {}
        self._background: BackgroundTasks | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Wait for sign-ins inside this context. A nested entry has no effect."""
        if self._background is not None:
            yield
            return
        try:
            async with BackgroundTasks().running() as self._background:
                yield
        finally:
            self._background = None
            self._sign_ins.clear()
            self._locks.clear()

    async def authorize(self, request: AuthRequest) -> Credential | AuthRequired:
        """Return the stored token, refreshed if necessary, or sign-in instructions."""
        keys = request.keys(self.provider)
        if len(self._locks) > MAX_SIGN_INS:
            self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
        async with self._locks.setdefault(keys[0], Lock()):
            try:
                return await self._stored_credential(request) or await self._start_sign_in(request)
            except NexusError as error:
                if error.code not in _SERVERS_ERRORS:
                    raise
                return AuthRequired(error.message)

    async def _stored_credential(self, request: AuthRequest) -> Credential | None:
        for key in request.keys(self.provider):
            credential = await to_thread.run_sync(self.store.get, key)
            if credential is None or credential.lacks(request.auth.scopes):
                continue
            if not credential.is_expired(self.clock.now() + _LEEWAY_S):
                return credential
            if credential.refresh_token:
                return await self._refresh(key, credential)
        return None

    async def _refresh(self, key: CredentialKey, credential: Credential) -> Credential | None:
        # Many servers accept a refresh token only once, so the new token must be stored.
        with CancelScope(shield=True):
            try:
                new_credential = await self.server.refresh(credential, self.clock.now())
            except NotAllowedError:
                return None
            await to_thread.run_sync(self.store.put, key, new_credential)
        return new_credential

    async def _start_sign_in(self, request: AuthRequest) -> AuthRequired:
        keys = request.keys(self.provider)
        key, stored = keys[0], await find(self.store, keys)
        granted = stored.scopes if stored else None
        scopes = request.auth.scopes | self.scopes | (granted or frozenset())
        pending = self._sign_ins.get(key)
        if pending and scopes <= pending.authorization.scopes:
            return _sign_in_at(pending.authorization, self.provider)
        if self._background is None:
            return AuthRequired(f"not signed in at {self.provider}")
        if pending is None and len(self._sign_ins) >= MAX_SIGN_INS:
            return AuthRequired(f"too many sign-ins are pending at {self.provider}")
        authorization = await authorize_device(self.server, scopes, self.clock.now())
        if pending:
            pending.task.cancel()
        task = self._background.start(self._wait(key, authorization))
        self._sign_ins[key] = _SignIn(authorization, task)
        return _sign_in_at(authorization, self.provider)

    async def _wait(self, key: CredentialKey, authorization: DeviceAuthorization) -> None:
        try:
            credential = await wait_for_token(self.server, authorization, self.clock)
            await to_thread.run_sync(self.store.put, key, credential)
            _log.info("signed_in", provider=self.provider)
        except (NexusError, OSError) as error:
            _log.warning("sign_in_failed", provider=self.provider, reason=str(error))
        finally:
            sign_in = self._sign_ins.get(key)
            if sign_in and sign_in.authorization is authorization:
                del self._sign_ins[key]


def _sign_in_at(authorization: DeviceAuthorization, provider: str) -> AuthRequired:
    reason = f"Sign in at {provider} with the code {authorization.user_code}, and call again."
    return AuthRequired(reason, authorization.url, authorization.user_code)
