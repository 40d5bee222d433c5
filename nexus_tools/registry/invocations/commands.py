"""The maximum cost of invocations, and the commands that request and close them."""

from collections.abc import Sequence

from nexus_tools.contracts import Deployment, make_ports, ports_of
from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.contracts.move_bindings import signed_outcome
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows import inputs as run_inputs
from nexus_tools.errors import UsageError
from nexus_tools.registry.tools.on_chain_calls import RunAttempt, add_assembled_inputs
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, Outcome


def quote_mist(
    settings: LeaderSettings, tool: Tool, input_bytes: int, max_outcome_bytes: int, gas_price: int
) -> int:
    """Return the maximum cost of an invocation in MIST, as `invocation::quote` computes it.

    `input_bytes` is `Ports.size()` of the inputs, and `gas_price` is the reference gas price in
    MIST. The fee for the unused part of the outcome limit is refunded.
    """
    return (
        tool.charge_mist
        + settings.fee_gas_units * gas_price
        + settings.fee_storage_mist
        + settings.settle_margin_mist
        + settings.fee_per_input_byte_mist * input_bytes
        + settings.fee_per_outcome_byte_mist * max_outcome_bytes
    )


def add_request(
    builder: TransactionBuilder,
    deployment: Deployment,
    settings: LeaderSettings,
    tool: Tool,
    leaders: Sequence[Address],
    *,
    inputs: Ports,
    max_outcome_bytes: int,
    payment_mist: int,
) -> None:
    """Add the commands that request an invocation from one or two leaders, paid by the gas coin.

    The requester consents to the current revisions of `settings` and `tool`. If a revision has
    changed, the chain refuses the request.
    """
    payment = builder.split_coins(builder.gas, [payment_mist])[0]
    ports = make_ports(builder, deployment.package, inputs)
    registry, tool_seen = deployment.leader_registry, (tool.id, tool.revision)
    target = (builder, deployment.package, registry, settings.revision, *tool_seen)
    terms = (ports, max_outcome_bytes, payment)
    match leaders:
        case [leader]:
            calls.request(*target, leader, *terms)
        case [leader, backup]:
            calls.request_with_backup(*target, leader, backup, *terms)
        case _:
            raise UsageError(
                "leader_count_invalid",
                f"expected one or two leaders, got {len(leaders)}",
            )


def add_outcome(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    leader: Address,
    outcome: Outcome,
    *,
    attempt: RunAttempt | None = None,
) -> None:
    """Add the commands with which a worker of a leader closes one invocation.

    A transaction can close any number of invocations. The chain skips invocations that are already
    closed. A signed answer to an `attempt` needs the inputs of its run, so the commands first
    assemble these inputs.
    """
    closed = deployment.package, invocation, leader
    if isinstance(outcome, Failure):
        calls.fail(builder, *closed, outcome.reason, outcome.detail)
        return
    ports = make_ports(builder, deployment.package, ports_of(outcome.ports))
    if outcome.signature is None:
        calls.settle(builder, *closed, outcome.variant, ports)
        return
    signed = (outcome.signature.key, outcome.signature.signature)
    if attempt is None:
        signed_outcome.settle(builder, *closed, outcome.variant, ports, *signed)
        return
    inputs = add_assembled_inputs(builder, deployment, invocation, attempt)
    by_leader = (inputs, attempt.execution, invocation, leader)
    workflows = deployment.workflows
    run_inputs.settle(builder, workflows, *by_leader, outcome.variant, ports, *signed)
