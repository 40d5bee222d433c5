"""The bridge to Hyperpocket: packaged tools, functions, and `Tool` classes, with authentication.

Start reading at `bridge.py`. `auth` holds the auth providers, and `child` runs tools in Python.
"""

from nexus_tools.bridges.hyperpocket.auth import (
    AuthProvider,
    DeviceAuthorization,
    DeviceFlowProvider,
    auth_providers,
    providers_schema,
    sign_in,
)
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge

__all__ = [
    "AuthProvider",
    "DeviceAuthorization",
    "DeviceFlowProvider",
    "HyperpocketBridge",
    "auth_providers",
    "providers_schema",
    "sign_in",
]
