"""Auth providers for tools: some look up stored credentials, one asks users to sign in.

Start reading at `provider.py`.
"""

from nexus_tools.bridges.hyperpocket.auth.clock import Clock
from nexus_tools.bridges.hyperpocket.auth.configuration import auth_providers
from nexus_tools.bridges.hyperpocket.auth.configuration_schema import providers_schema
from nexus_tools.bridges.hyperpocket.auth.device_flow import DeviceAuthorization
from nexus_tools.bridges.hyperpocket.auth.device_flow_provider import DeviceFlowProvider
from nexus_tools.bridges.hyperpocket.auth.provider import (
    ApiKeyProvider,
    AuthProvider,
    AuthRequest,
    AuthRequired,
    TokenProvider,
)
from nexus_tools.bridges.hyperpocket.auth.sign_in import sign_in
from nexus_tools.bridges.hyperpocket.auth.token_endpoint import AuthorizationServer

__all__ = [
    "ApiKeyProvider",
    "AuthProvider",
    "AuthRequest",
    "AuthRequired",
    "AuthorizationServer",
    "Clock",
    "DeviceAuthorization",
    "DeviceFlowProvider",
    "TokenProvider",
    "auth_providers",
    "providers_schema",
    "sign_in",
]
