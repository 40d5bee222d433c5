"""The server of a node: Sui's gRPC interface, the faucet and controls, on one port.

`server` receives calls, `services` executes them, `requests` and `resolution` parse requests, and
`rendering` fills responses. Start reading with `server/application.py`, then `server/call.py`.
"""

from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server import Server

__all__ = ["Limits", "Server"]
