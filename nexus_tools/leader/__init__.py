"""The daemon: carries invocations from the chain to tools, and what comes back to the chain."""

from nexus_tools.leader.address_guard import AddressGuard, AddressRefused
from nexus_tools.leader.leader import Leader
from nexus_tools.leader.settings import ENVIRONMENT_PREFIX, LeaderSettings

__all__ = ["ENVIRONMENT_PREFIX", "AddressGuard", "AddressRefused", "Leader", "LeaderSettings"]
