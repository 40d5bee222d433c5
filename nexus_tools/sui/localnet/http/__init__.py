"""Carry requests to an application, and its responses back: HTTP/1.1 and HTTP/2 on one port.

Only the two connections know frames. Nothing here knows a node, or what is served.
"""

from nexus_tools.sui.localnet.http.exchange import (
    Application,
    Body,
    ClientGoneError,
    Exchange,
    Head,
    Headers,
)
from nexus_tools.sui.localnet.http.memory_budget import Budget, OverloadedError
from nexus_tools.sui.localnet.http.server import HttpServer

__all__ = [
    "Application",
    "Body",
    "Budget",
    "ClientGoneError",
    "Exchange",
    "Head",
    "Headers",
    "HttpServer",
    "OverloadedError",
]
