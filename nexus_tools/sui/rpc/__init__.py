"""Sui's gRPC interface: its messages and procedures, for clients and servers."""

from nexus_tools.sui.rpc.messages import (
    SUI_PACKAGE,
    Message,
    Messages,
    Procedure,
    load_messages,
)

__all__ = ["SUI_PACKAGE", "Message", "Messages", "Procedure", "load_messages"]
