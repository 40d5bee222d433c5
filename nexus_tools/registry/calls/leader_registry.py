"""Calls of the module `leader_registry`."""

from collections.abc import Sequence

from nexus_tools.registry.calls.call import ObjectInput, call, changed, read, text
from nexus_tools.registry.objects.leader_registry import LeaderSettings
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import ADDRESS, CLOCK, Address
from nexus_tools.sui.bcs import option, vector
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result

# --- Leaders


def register_leader(
    builder: TransactionBuilder, deployment: Deployment, bond: ObjectInput, name: str
) -> Result:
    """Register a leader, not active yet; gives its `LeaderCap`."""
    return call(
        builder,
        deployment,
        "leader_registry::register_leader",
        changed(builder, deployment.leader_registry),
        changed(builder, bond),
        text(builder, name),
    )


def activate(builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput) -> Result:
    """Make the leader responsible for new invocations."""
    arguments = _led(builder, deployment, cap)
    return call(builder, deployment, "leader_registry::activate", *arguments)


def deactivate(builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput) -> Result:
    """Spare the leader new invocations."""
    arguments = _led(builder, deployment, cap)
    return call(builder, deployment, "leader_registry::deactivate", *arguments)


def unregister(builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput) -> Result:
    """Deactivate the leader and start the timer after which the bond can be claimed."""
    arguments = *_led(builder, deployment, cap), builder.object(CLOCK, mutable=False)
    return call(builder, deployment, "leader_registry::unregister", *arguments)


def cancel_unregister(
    builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput
) -> Result:
    """Stop the timer; the leader stays inactive."""
    arguments = _led(builder, deployment, cap)
    return call(builder, deployment, "leader_registry::cancel_unregister", *arguments)


def claim_bond(builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput) -> Result:
    """End the leader, its cap included; gives a coin with what is left of the bond."""
    return call(
        builder,
        deployment,
        "leader_registry::claim_bond",
        changed(builder, deployment.leader_registry),
        changed(builder, cap),
        builder.object(CLOCK, mutable=False),
    )


def top_up(
    builder: TransactionBuilder,
    deployment: Deployment,
    cap: ObjectInput,
    collateral: ObjectInput,
) -> Result:
    """Make a slashed bond whole again; the leader stays inactive."""
    arguments = *_led(builder, deployment, cap), changed(builder, collateral)
    return call(builder, deployment, "leader_registry::top_up", *arguments)


# --- Admin


def configure(
    builder: TransactionBuilder, deployment: Deployment, settings: LeaderSettings
) -> Result:
    """Set everything that new leaders and new invocations have to keep to."""
    return call(
        builder,
        deployment,
        "leader_registry::configure",
        *_led(builder, deployment, deployment.require_admin_cap()),
        builder.u64(settings.bond_mist),
        builder.u64(settings.unregister_delay_ms),
        builder.u64(settings.settle_fee_mist),
        builder.u64(settings.fail_fee_mist),
        builder.u64(settings.fee_per_input_byte_mist),
        builder.u64(settings.fee_per_outcome_byte_mist),
        builder.u64(settings.grace_ms),
        builder.u64(settings.max_ports_bytes),
    )


def admit(
    builder: TransactionBuilder, deployment: Deployment, addresses: Sequence[Address] | None
) -> Result:
    """Admit only these addresses to register as leaders; with None, anyone."""
    arguments = (
        *_led(builder, deployment, deployment.require_admin_cap()),
        builder.pure(option(vector(ADDRESS)), addresses),
    )
    return call(builder, deployment, "leader_registry::admit", *arguments)


def slash(
    builder: TransactionBuilder,
    deployment: Deployment,
    leader: Address,
    amount_mist: int,
    reason: str,
) -> Result:
    """Take of a leader's bond and deactivate it; gives a coin with what was taken."""
    return call(
        builder,
        deployment,
        "leader_registry::slash",
        *_led(builder, deployment, deployment.require_admin_cap()),
        builder.address(leader),
        builder.u64(amount_mist),
        text(builder, reason),
    )


def migrate(builder: TransactionBuilder, deployment: Deployment) -> Result:
    """After an upgrade, let only the newest version of the package work."""
    arguments = _led(builder, deployment, deployment.require_admin_cap())
    return call(builder, deployment, "leader_registry::migrate", *arguments)


# --- Views


def responsible(builder: TransactionBuilder, deployment: Deployment, key: bytes) -> Result:
    """The leaders responsible for a key; gives a `vector<ID>`."""
    arguments = read(builder, deployment.leader_registry), builder.byte_vector(key)
    return call(builder, deployment, "leader_registry::responsible", *arguments)


def is_active(builder: TransactionBuilder, deployment: Deployment, leader: Address) -> Result:
    """Whether a leader becomes responsible for new invocations; gives a `bool`."""
    arguments = read(builder, deployment.leader_registry), builder.address(leader)
    return call(builder, deployment, "leader_registry::is_active", *arguments)


def _led(
    builder: TransactionBuilder, deployment: Deployment, cap: ObjectInput
) -> tuple[Argument, Argument]:
    """What all verbs begin with: the registry, which they change, and the cap."""
    return changed(builder, deployment.leader_registry), read(builder, cap)
