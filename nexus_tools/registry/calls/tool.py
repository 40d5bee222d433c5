"""Calls of the module `tool`: registration and the verbs of a tool's life."""

from nexus_tools.registry.calls.call import ObjectInput, ascii_text, call, changed, read, text
from nexus_tools.registry.objects.tool import Definition
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import CLOCK, Address
from nexus_tools.sui.bcs import boolean
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result

# --- Registration


def define(builder: TransactionBuilder, deployment: Deployment, definition: Definition) -> Result:
    """Gives a `Definition`."""
    return call(
        builder,
        deployment,
        "tool::define",
        ascii_text(builder, definition.fqn),
        ascii_text(builder, definition.tool_type),
        ascii_text(builder, definition.url),
        text(builder, definition.description),
        builder.byte_vector(definition.input_schema),
        builder.byte_vector(definition.output_schema),
        builder.u64(definition.timeout_ms),
    )


def register(
    builder: TransactionBuilder,
    deployment: Deployment,
    collateral: ObjectInput,
    *,
    definition: Argument,
    price_mist: int,
) -> Result:
    """Register the first version of a name; gives the tool, to be shared, and its `OwnerCap`."""
    return call(
        builder,
        deployment,
        "tool::register",
        changed(builder, deployment.tool_registry),
        changed(builder, collateral),
        definition,
        builder.u64(price_mist),
        builder.object(CLOCK, mutable=False),
    )


def register_version(
    builder: TransactionBuilder,
    deployment: Deployment,
    cap: ObjectInput,
    collateral: ObjectInput,
    *,
    definition: Argument,
    price_mist: int,
) -> Result:
    """Register a further version of a name; gives the tool, to be shared."""
    return call(
        builder,
        deployment,
        "tool::register_version",
        changed(builder, deployment.tool_registry),
        read(builder, cap),
        changed(builder, collateral),
        definition,
        builder.u64(price_mist),
        builder.object(CLOCK, mutable=False),
    )


def share(builder: TransactionBuilder, deployment: Deployment, tool: Argument) -> Result:
    """Make a new tool available to everyone, in the transaction that registers it."""
    return call(builder, deployment, "tool::share", tool)


def unregister(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, cap: ObjectInput
) -> Result:
    """Start the timer after which the collateral can be claimed."""
    return call(
        builder,
        deployment,
        "tool::unregister",
        *_owned(builder, deployment, tool, cap),
        builder.object(CLOCK, mutable=False),
    )


def cancel_unregister(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, cap: ObjectInput
) -> Result:
    """Stop the timer."""
    arguments = _owned(builder, deployment, tool, cap)
    return call(builder, deployment, "tool::cancel_unregister", *arguments)


def claim_collateral(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, cap: ObjectInput
) -> Result:
    """End the bond; gives a coin with what is left of the collateral."""
    return call(
        builder,
        deployment,
        "tool::claim_collateral",
        *_owned(builder, deployment, tool, cap),
        builder.object(CLOCK, mutable=False),
    )


def re_register(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    collateral: ObjectInput,
) -> Result:
    """Bring a claimed tool back under the settings of today."""
    return call(
        builder,
        deployment,
        "tool::re_register",
        *_owned(builder, deployment, tool, cap),
        changed(builder, collateral),
        builder.object(CLOCK, mutable=False),
    )


def top_up(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    collateral: ObjectInput,
) -> Result:
    """Make a slashed bond whole again."""
    arguments = *_owned(builder, deployment, tool, cap), changed(builder, collateral)
    return call(builder, deployment, "tool::top_up", *arguments)


# --- Updates


def update_url(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    url: str,
    *,
    operator: bool = False,
) -> Result:
    """Set the URL; `cap` is an `OperatorCap` if `operator` says so, else the `OwnerCap`."""
    arguments = *_owned(builder, deployment, tool, cap), ascii_text(builder, url)
    types = (deployment.type("tool", "OperatorCap" if operator else "OwnerCap"),)
    return call(builder, deployment, "tool::update_url", *arguments, types=types)


def update_timeout(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    timeout_ms: int,
    *,
    operator: bool = False,
) -> Result:
    """Set the timeout of invocations to come; `cap` as for `update_url`."""
    arguments = *_owned(builder, deployment, tool, cap), builder.u64(timeout_ms)
    types = (deployment.type("tool", "OperatorCap" if operator else "OwnerCap"),)
    return call(builder, deployment, "tool::update_timeout", *arguments, types=types)


def update_price(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    price_mist: int,
    *,
    operator: bool = False,
) -> Result:
    """Set the price of invocations to come; `cap` as for `update_url`."""
    arguments = *_owned(builder, deployment, tool, cap), builder.u64(price_mist)
    types = (deployment.type("tool", "OperatorCap" if operator else "OwnerCap"),)
    return call(builder, deployment, "tool::update_price", *arguments, types=types)


def update_description(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    description: str,
) -> Result:
    """Set the description."""
    arguments = *_owned(builder, deployment, tool, cap), text(builder, description)
    return call(builder, deployment, "tool::update_description", *arguments)


def update_payout(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    payout: Address,
) -> Result:
    """Set who is paid for invocations to come."""
    arguments = *_owned(builder, deployment, tool, cap), builder.address(payout)
    return call(builder, deployment, "tool::update_payout", *arguments)


# --- Operators


def issue_operator_cap(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, cap: ObjectInput
) -> Result:
    """Gives a new `OperatorCap` of the tool."""
    arguments = _owned(builder, deployment, tool, cap)
    return call(builder, deployment, "tool::issue_operator_cap", *arguments)


def revoke_operator_cap(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    cap: ObjectInput,
    operator_cap: Address,
) -> Result:
    """Take the right from the operator with this cap."""
    arguments = *_owned(builder, deployment, tool, cap), builder.address(operator_cap)
    return call(builder, deployment, "tool::revoke_operator_cap", *arguments)


def burn_operator_cap(
    builder: TransactionBuilder, deployment: Deployment, operator_cap: ObjectInput
) -> Result:
    """Delete an operator cap."""
    return call(builder, deployment, "tool::burn_operator_cap", changed(builder, operator_cap))


# --- Admin


def slash(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    amount_mist: int,
    reason: str,
) -> Result:
    """Take of the collateral; gives a coin with what was taken."""
    return call(
        builder,
        deployment,
        "tool::slash",
        *_owned(builder, deployment, tool, deployment.require_admin_cap()),
        builder.u64(amount_mist),
        text(builder, reason),
    )


def verify(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, *, verified: bool
) -> Result:
    """Say whether the admin vouches for the tool."""
    arguments = (
        *_owned(builder, deployment, tool, deployment.require_admin_cap()),
        builder.pure(boolean, verified),
    )
    return call(builder, deployment, "tool::verify", *arguments)


# --- Views


def is_active(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """Whether the tool takes new invocations; gives a `bool`."""
    return call(builder, deployment, "tool::is_active", read(builder, tool))


def fqn(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """The FQN; gives an ASCII string."""
    return call(builder, deployment, "tool::fqn", read(builder, tool))


def timeout_ms(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """How long the tool may take; gives a `u64`."""
    return call(builder, deployment, "tool::timeout_ms", read(builder, tool))


def price_mist(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """The price of one invocation; gives a `u64`."""
    return call(builder, deployment, "tool::price_mist", read(builder, tool))


def payout(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """Who is paid for an invocation; gives an `address`."""
    return call(builder, deployment, "tool::payout", read(builder, tool))


def is_verified(builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput) -> Result:
    """Whether the admin vouches for the tool; gives a `bool`."""
    return call(builder, deployment, "tool::is_verified", read(builder, tool))


def _owned(
    builder: TransactionBuilder, deployment: Deployment, tool: ObjectInput, cap: ObjectInput
) -> tuple[Argument, Argument, Argument]:
    """What all verbs begin with: the tool, the cap, and the registry, which they only read."""
    registry = read(builder, deployment.tool_registry)
    return changed(builder, tool), read(builder, cap), registry
