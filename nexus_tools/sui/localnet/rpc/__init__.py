"""The server of a localnet node. One port serves Sui's gRPC interface, the faucet and controls.

`server` receives calls, and `services` executes them. `requests` and `resolution` parse requests.
`rendering` fills responses. Start reading with `server/application.py`, then `server/call.py`.
"""

from nexus_tools.sui.localnet.rpc.interface import Limits
from nexus_tools.sui.localnet.rpc.server import Server

__all__ = ["Limits", "Server"]
