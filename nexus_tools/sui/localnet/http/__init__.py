"""An HTTP server for an application. One port serves both HTTP/1.1 and HTTP/2.

Only the two connection classes handle the wire format. This package does not depend on the node or
its RPC. Start reading with `exchange.py`, then `connection.py`.
"""

from nexus_tools.sui.localnet.http.exchange import (
    Application,
    Body,
    ClientGoneError,
    Exchange,
    Headers,
    RequestHead,
)
from nexus_tools.sui.localnet.http.memory_budget import Budget, OverloadedError
from nexus_tools.sui.localnet.http.server import HttpServer

__all__ = [
    "Application",
    "Body",
    "Budget",
    "ClientGoneError",
    "Exchange",
    "Headers",
    "HttpServer",
    "OverloadedError",
    "RequestHead",
]
