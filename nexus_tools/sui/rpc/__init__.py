"""The messages and procedures of Sui's gRPC interface, for both client and server."""

from nexus_tools.sui.rpc.messages import (
    SUI_PACKAGE,
    Message,
    Messages,
    Procedure,
    load_messages,
)

__all__ = ["SUI_PACKAGE", "Message", "Messages", "Procedure", "load_messages"]
