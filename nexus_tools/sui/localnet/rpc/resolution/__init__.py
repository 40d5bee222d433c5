"""The resolution of incomplete transaction messages with the network's current state.

Start reading with `transaction.py`.
"""

from nexus_tools.sui.localnet.rpc.resolution.payment import with_estimated_budget, with_payment
from nexus_tools.sui.localnet.rpc.resolution.transaction import is_complete, resolve_transaction

__all__ = ["is_complete", "resolve_transaction", "with_estimated_budget", "with_payment"]
