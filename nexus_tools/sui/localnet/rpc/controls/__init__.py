"""Plain HTTP next to gRPC: the faucet, epochs, snapshots, traces and health."""

from nexus_tools.sui.localnet.rpc.controls.routes import reads_body, serve_control

__all__ = ["reads_body", "serve_control"]
