"""The server of the explorer in an event loop."""

import socket
from contextlib import AbstractAsyncContextManager

from nexus_tools.explorer.app import Explorer
from nexus_tools.index.api import serve_api


def serve_explorer(
    explorer: Explorer, listener: socket.socket
) -> AbstractAsyncContextManager[None]:
    """Serve the explorer on a listening socket during the context, and end its streams after it."""
    return serve_api(explorer, listener)
