"""Borrow a tool of Hyperpocket: packaged tools, functions and `Tool` classes, with their auth."""

from nexus_tools.bridges.hyperpocket.auth import (
    AuthProvider,
    DeviceAuthorization,
    DeviceFlowProvider,
    auth_providers,
    sign_in,
)
from nexus_tools.bridges.hyperpocket.bridge import HyperpocketBridge

__all__ = [
    "AuthProvider",
    "DeviceAuthorization",
    "DeviceFlowProvider",
    "HyperpocketBridge",
    "auth_providers",
    "sign_in",
]
