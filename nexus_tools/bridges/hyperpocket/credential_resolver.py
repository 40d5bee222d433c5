"""The lookup of the credentials that a tool needs, or of the reason why they are missing."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from nexus_tools.bridges.credentials import CredentialStore
from nexus_tools.bridges.hyperpocket.auth import (
    AuthProvider,
    AuthRequest,
    AuthRequired,
    TokenProvider,
)
from nexus_tools.bridges.hyperpocket.interface import ToolCall
from nexus_tools.bridges.hyperpocket.tool_auth import ToolAuth
from nexus_tools.errors import NexusError
from nexus_tools.sui.support.logs import get_logger

_log = get_logger("nexus_tools.bridges")


class CredentialResolver:
    """A lookup of credentials in the provider of the auth handler, the auth provider, or the store.

    `names` maps the name of a tool to the variables from which the tool reads credentials.
    """

    def __init__(
        self,
        store: CredentialStore | None,
        providers: Mapping[str, AuthProvider],
        names: Mapping[str, Sequence[str]],
    ) -> None:
        self._store = store
        self._providers = dict(providers)
        self._names = {tool: tuple(variables) for tool, variables in names.items()}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Wait for sign-ins inside this context."""
        async with AsyncExitStack() as stack:
            for provider in self._providers.values():
                await stack.enter_async_context(provider.running())
            yield

    def names(self, tool: str, auth: ToolAuth) -> tuple[str, ...]:
        """Return the environment variables from which a tool reads its credentials."""
        provider = self._provider(auth)
        return self._names.get(tool) or (provider.names if provider else ()) or auth.names

    async def environment(
        self, tool: str, auth: ToolAuth | None, call: ToolCall
    ) -> dict[str, str] | AuthRequired:
        """Return the credentials of a call by variable, or {} if `auth` is None."""
        if auth is None:
            return {}
        provider = self._provider(auth)
        if provider is None:
            return AuthRequired("the operator has not configured credentials")
        try:
            result = await provider.authorize(AuthRequest(auth, call.profile, call.thread_id))
        except NexusError as error:
            _log.error("credentials_unusable", provider=auth.provider, reason=str(error))
            return AuthRequired("the operator's credentials are currently unavailable")
        if isinstance(result, AuthRequired):
            return result
        names = self.names(tool, auth)
        values = result.environment(names)
        missing = [name for name in names if name not in values]
        if missing:
            return AuthRequired(f"the operator's credential lacks the fields {', '.join(missing)}")
        return values

    def _provider(self, auth: ToolAuth) -> AuthProvider | None:
        configured = self._providers.get(auth.qualified) or self._providers.get(auth.provider)
        if configured is not None or self._store is None:
            return configured
        return TokenProvider(self._store, (auth.qualified, auth.provider))


def auth_required_output(
    auth: ToolAuth, names: Sequence[str], required: AuthRequired
) -> dict[str, dict[str, object]]:
    """Return the output that asks the caller to provide credentials."""
    optional: dict[str, object] = {
        "handler": auth.handler,
        "scopes": sorted(auth.scopes),
        "url": required.url,
        "user_code": required.user_code,
    }
    ports: dict[str, object] = {
        "provider": auth.provider,
        "env": list(names),
        "reason": required.reason,
    }
    return {"auth_required": ports | {name: value for name, value in optional.items() if value}}
