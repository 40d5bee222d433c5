"""Sui's gRPC interface: its messages and procedures, for those who ask and those who answer."""

from nexus_tools.sui.rpc.messages import (
    SUI_PACKAGE,
    Message,
    Messages,
    Procedure,
    load_messages,
)

__all__ = ["SUI_PACKAGE", "Message", "Messages", "Procedure", "load_messages"]
