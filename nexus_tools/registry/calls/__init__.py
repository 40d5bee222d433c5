"""Calls of the Move package: one file for each module, one pure builder for each function.

Each puts one call into a transaction and gives its result. Objects are named by id or by the result
of an earlier command. Views that take or give references to parts of objects cannot be called from
a transaction and are left out.
"""

from nexus_tools.registry.calls import (
    fqn,
    invocation,
    leader_registry,
    tool,
    tool_registry,
    value,
)

__all__ = ["fqn", "invocation", "leader_registry", "tool", "tool_registry", "value"]
