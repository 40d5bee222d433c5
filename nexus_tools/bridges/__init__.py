"""Borrow a tool: Unstract, SOS-Toolkit, NORA, Hyperpocket and MCP tools as they are.

Each system is imported when its bridge is first asked for.
"""

from typing import TYPE_CHECKING

from nexus_tools.bridges.base import Bridge, BridgedTool, Discovery, Host, Refusal
from nexus_tools.bridges.naming import Naming
from nexus_tools.bridges.sandbox import (
    NAMES_PORT,
    Confinement,
    ProcessLimits,
    hide_environment,
)
from nexus_tools.late_imports import late_names

if TYPE_CHECKING:
    from nexus_tools.bridges.credentials import (
        Credential,
        CredentialKey,
        CredentialKind,
        CredentialStore,
    )
    from nexus_tools.bridges.hyperpocket import (
        AuthProvider,
        DeviceAuthorization,
        DeviceFlowProvider,
        HyperpocketBridge,
        auth_providers,
        sign_in,
    )
    from nexus_tools.bridges.mcp import McpBridge, Patience, Pins
    from nexus_tools.bridges.nora import NoraBridge
    from nexus_tools.bridges.outcome_size import outcome_room
    from nexus_tools.bridges.recognition import discover
    from nexus_tools.bridges.sos import SosBridge
    from nexus_tools.bridges.unstract import UnstractBridge

__all__ = [
    "NAMES_PORT",
    "AuthProvider",
    "Bridge",
    "BridgedTool",
    "Confinement",
    "Credential",
    "CredentialKey",
    "CredentialKind",
    "CredentialStore",
    "DeviceAuthorization",
    "DeviceFlowProvider",
    "Discovery",
    "Host",
    "HyperpocketBridge",
    "McpBridge",
    "Naming",
    "NoraBridge",
    "Patience",
    "Pins",
    "ProcessLimits",
    "Refusal",
    "SosBridge",
    "UnstractBridge",
    "auth_providers",
    "discover",
    "hide_environment",
    "outcome_room",
    "sign_in",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "credentials": ("Credential", "CredentialKey", "CredentialKind", "CredentialStore"),
        "hyperpocket": (
            "AuthProvider",
            "DeviceAuthorization",
            "DeviceFlowProvider",
            "HyperpocketBridge",
            "auth_providers",
            "sign_in",
        ),
        "mcp": ("McpBridge", "Patience", "Pins"),
        "nora": ("NoraBridge",),
        "outcome_size": ("outcome_room",),
        "recognition": ("discover",),
        "sos": ("SosBridge",),
        "unstract": ("UnstractBridge",),
    },
)
