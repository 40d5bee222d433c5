"""What a client leaves open in a transaction, worked out from the state of the network."""

from nexus_tools.sui.localnet.rpc.resolution.payment import with_estimated_budget, with_payment
from nexus_tools.sui.localnet.rpc.resolution.transaction import is_complete, resolve_transaction

__all__ = ["is_complete", "resolve_transaction", "with_estimated_budget", "with_payment"]
