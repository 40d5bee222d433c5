"""Calls of the module `tool_registry`."""

from nexus_tools.registry.calls.call import ascii_text, call, changed, read
from nexus_tools.registry.objects.tool_registry import ToolSettings
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Result


def configure(
    builder: TransactionBuilder, deployment: Deployment, settings: ToolSettings
) -> Result:
    """Admin: set everything that a new registration has to keep to."""
    return call(
        builder,
        deployment,
        "tool_registry::configure",
        changed(builder, deployment.tool_registry),
        read(builder, deployment.require_admin_cap()),
        builder.u64(settings.collateral_mist),
        builder.u64(settings.unregister_delay_ms),
        builder.u64(settings.min_timeout_ms),
        builder.u64(settings.max_timeout_ms),
        builder.u64(settings.max_schema_bytes),
    )


def migrate(builder: TransactionBuilder, deployment: Deployment) -> Result:
    """Admin: after an upgrade, let only the newest version of the package work."""
    return call(
        builder,
        deployment,
        "tool_registry::migrate",
        changed(builder, deployment.tool_registry),
        read(builder, deployment.require_admin_cap()),
    )


def tool_id(builder: TransactionBuilder, deployment: Deployment, fqn: str) -> Result:
    """The id of the tool with this FQN; gives an `ID`."""
    registry = read(builder, deployment.tool_registry)
    return call(builder, deployment, "tool_registry::tool_id", registry, ascii_text(builder, fqn))


def contains(builder: TransactionBuilder, deployment: Deployment, name: str) -> Result:
    """Whether an FQN or an unversioned name was ever registered; gives a `bool`."""
    registry = read(builder, deployment.tool_registry)
    return call(builder, deployment, "tool_registry::contains", registry, ascii_text(builder, name))


def length(builder: TransactionBuilder, deployment: Deployment) -> Result:
    """How many tools were ever registered; gives a `u64`."""
    registry = read(builder, deployment.tool_registry)
    return call(builder, deployment, "tool_registry::length", registry)


def fqn(builder: TransactionBuilder, deployment: Deployment, index: int) -> Result:
    """The FQN of the `index`th registration; gives an ASCII string."""
    registry = read(builder, deployment.tool_registry)
    return call(builder, deployment, "tool_registry::fqn", registry, builder.u64(index))
