"""What a client leaves open in a transaction, worked out from the state of the network."""

from nexus_tools.localnet.rpc.resolution.completeness import is_complete
from nexus_tools.localnet.rpc.resolution.transaction import resolve_transaction

__all__ = ["is_complete", "resolve_transaction"]
