"""Calls of the module `fqn`."""

from nexus_tools.registry.calls.call import ascii_text, call
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Result


def is_valid(builder: TransactionBuilder, deployment: Deployment, fqn: str) -> Result:
    """Whether a text follows the grammar; gives a `bool`."""
    return call(builder, deployment, "fqn::is_valid", ascii_text(builder, fqn))


def unversioned(builder: TransactionBuilder, deployment: Deployment, fqn: str) -> Result:
    """What all versions of a tool have in common; gives an ASCII string."""
    return call(builder, deployment, "fqn::unversioned", ascii_text(builder, fqn))
