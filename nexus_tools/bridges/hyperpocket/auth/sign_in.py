"""The sign-in of a user at a terminal."""

from collections.abc import Callable

from anyio import to_thread

from nexus_tools.bridges.credentials import DEFAULT_LABEL, CredentialKey
from nexus_tools.bridges.hyperpocket.auth.device_flow import (
    DeviceAuthorization,
    authorize_device,
    wait_for_token,
)
from nexus_tools.bridges.hyperpocket.auth.device_flow_provider import DeviceFlowProvider


async def sign_in(
    provider: DeviceFlowProvider,
    announce: Callable[[DeviceAuthorization], None],
    *,
    scopes: frozenset[str] = frozenset(),
    profile: str = DEFAULT_LABEL,
    thread_id: str = DEFAULT_LABEL,
) -> CredentialKey:
    """Run the device flow and store its token. `announce` shows the URL and code to the user.

    Raises:
        NotAllowedError: with code `sign_in_refused`.
        UnreachableError: with code `auth_unreachable`.
        ValidationError: with code `auth_response_invalid` or `credential_invalid`.
    """
    key = CredentialKey(provider.provider, profile, thread_id)
    server, clock = provider.server, provider.clock
    authorization = await authorize_device(server, scopes | provider.scopes, clock.now())
    announce(authorization)
    credential = await wait_for_token(server, authorization, clock)
    await to_thread.run_sync(provider.store.put, key, credential)
    return key
