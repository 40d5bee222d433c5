"""Calls of the module `invocation`."""

from nexus_tools.registry.calls.call import ObjectInput, ascii_text, call, changed, read, text
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import CLOCK
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result


def request(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    *,
    inputs: Argument,
    max_outcome_bytes: int,
    funds: ObjectInput,
) -> Result:
    """Request a call; gives the `ID` of the invocation, which is shared."""
    return call(
        builder,
        deployment,
        "invocation::request",
        read(builder, deployment.leader_registry),
        read(builder, tool),
        inputs,
        builder.u64(max_outcome_bytes),
        changed(builder, funds),
        builder.object(CLOCK, mutable=False),
    )


def settle(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: ObjectInput,
    cap: ObjectInput,
    *,
    variant: str,
    ports: Argument,
) -> Result:
    """Record the outcome and pay the tool; gives a coin with the leader's fee."""
    return call(
        builder,
        deployment,
        "invocation::settle",
        changed(builder, invocation),
        read(builder, cap),
        read(builder, deployment.leader_registry),
        ascii_text(builder, variant),
        ports,
        builder.object(CLOCK, mutable=False),
    )


def fail(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: ObjectInput,
    cap: ObjectInput,
    *,
    reason: str,
    detail: str,
) -> Result:
    """Record why there is no outcome; gives a coin with the leader's fee."""
    return call(
        builder,
        deployment,
        "invocation::fail",
        changed(builder, invocation),
        read(builder, cap),
        read(builder, deployment.leader_registry),
        ascii_text(builder, reason),
        text(builder, detail),
        builder.object(CLOCK, mutable=False),
    )


def expire(builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput) -> Result:
    """Record that no leader closed the invocation in time."""
    return call(
        builder,
        deployment,
        "invocation::expire",
        changed(builder, invocation),
        read(builder, deployment.leader_registry),
        builder.object(CLOCK, mutable=False),
    )


def delete(builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput) -> Result:
    """Delete a closed invocation; gives a coin with what was not spent."""
    arguments = changed(builder, invocation), read(builder, deployment.leader_registry)
    return call(builder, deployment, "invocation::delete", *arguments)


# --- Views


def quote(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: ObjectInput,
    input_bytes: int | Argument,
    max_outcome_bytes: int,
) -> Result:
    """What an invocation costs at most; gives a `u64` in MIST."""
    return call(
        builder,
        deployment,
        "invocation::quote",
        read(builder, deployment.leader_registry),
        read(builder, tool),
        builder.u64(input_bytes) if isinstance(input_bytes, int) else input_bytes,
        builder.u64(max_outcome_bytes),
    )


def expires_at_ms(
    builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput
) -> Result:
    """When the last window ends; gives a `u64`."""
    return call(builder, deployment, "invocation::expires_at_ms", read(builder, invocation))


def is_closed(
    builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput
) -> Result:
    """Whether the invocation is settled, failed or expired; gives a `bool`."""
    return call(builder, deployment, "invocation::is_closed", read(builder, invocation))


def tool(builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput) -> Result:
    """The tool that was called; gives an `ID`."""
    return call(builder, deployment, "invocation::tool", read(builder, invocation))


def requester(
    builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput
) -> Result:
    """Who requested the call; gives an `address`."""
    return call(builder, deployment, "invocation::requester", read(builder, invocation))


def leaders(builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput) -> Result:
    """The leaders responsible; gives a `vector<ID>`."""
    return call(builder, deployment, "invocation::leaders", read(builder, invocation))


def funds_mist(
    builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput
) -> Result:
    """What was prepaid and not spent; gives a `u64`."""
    return call(builder, deployment, "invocation::funds_mist", read(builder, invocation))


def variant(builder: TransactionBuilder, deployment: Deployment, invocation: ObjectInput) -> Result:
    """The variant of the outcome; gives an ASCII string."""
    return call(builder, deployment, "invocation::variant", read(builder, invocation))
