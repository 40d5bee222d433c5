"""The creation of a schedule: its checks, which run before any payment, and its transaction."""

from nexus_tools.contracts import Deployment, make_ports, ports_of
from nexus_tools.contracts.move_bindings.workflows import schedule as calls
from nexus_tools.contracts.move_bindings.workflows import timing as timings
from nexus_tools.contracts.move_bindings.workflows.schedule import StandingOrder
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.registry.executions.terms import Terms as Consented
from nexus_tools.registry.schedules.costs import trigger_cost_mist
from nexus_tools.registry.schedules.overview import next_planned_time
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.support.units import format_sui_argument, sui, utc
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.transaction import Argument
from nexus_tools.sui.types.type_tag import parse_struct_tag


def make_order(
    terms: Consented,
    timing: Timing,
    *,
    max_steps: int,
    duration_ms: int,
    funds_per_execution_mist: int,
    keeper_fee_mist: int,
    overlaps: bool,
    max_failures: int,
    max_executions: int | None,
) -> StandingOrder:
    """Return the standing order to which the owner consents, as the chain will store it.

    Only `terms.entry_bytes` and `terms.version` differ, because the chain sets these fields.
    """
    values = tuple(ports_of(inputs) for inputs in terms.values.values())
    return StandingOrder(
        timing=timing,
        group=terms.group,
        vertices=tuple(terms.values),
        values=values,
        values_bytes=sum(ports.size() for ports in values),
        terms=Terms(
            leaders=terms.leaders,
            settings=terms.settings,
            max_prices_mist=tuple(terms.max_prices_mist),
            max_timeout_ms=terms.max_timeout_ms,
            max_outcome_bytes=terms.max_outcome_bytes,
            max_steps=max_steps,
            deadline_ms=duration_ms,
            entry_bytes=0,
            version=0,
        ),
        funds_per_execution_mist=funds_per_execution_mist,
        keeper_fee_mist=keeper_fee_mist,
        overlaps=overlaps,
        max_failures=max_failures,
        max_executions=max_executions,
    )


async def check_future_times(client: SuiClient, timing: Timing) -> None:
    """Raise `no_future_time` if no planned time is in the future."""
    now_ms = await client.now_ms()
    if next_planned_time(timing, now_ms) is None:
        raise UsageError(
            "no_future_time",
            f"expected a planned time after the current time, {utc(now_ms)}",
            hint="Pass a last time that is in the future and not before the first one.",
        )


async def check_funds(
    client: SuiClient,
    workflow: PublishedWorkflow,
    order: StandingOrder,
    funds_mist: int,
    start_mist: int,
) -> None:
    """Raise `funds_too_small` if the first execution cannot start or cannot request its runs."""
    if order.funds_per_execution_mist < start_mist:
        needed = f"the first runs of an execution cost up to {sui(start_mist)}"
        raise _too_small(
            needed, f"each execution has {sui(order.funds_per_execution_mist)}", start_mist
        )
    needed_mist = trigger_cost_mist(order, workflow, await client.gas_price())
    if funds_mist < needed_mist:
        needed = f"starting an execution costs up to {sui(needed_mist)}"
        raise _too_small(needed, f"the schedule has {sui(funds_mist)}", needed_mist)


def _too_small(needed: str, available: str, needed_mist: int) -> WrongStateError:
    return WrongStateError(
        "funds_too_small",
        f"{needed}, but {available}",
        hint=f"Pass {format_sui_argument(needed_mist)} SUI or more. The unused part is refunded.",
        details={"needed_mist": needed_mist},
    )


def creation(
    deployment: Deployment, workflow: PublishedWorkflow, order: StandingOrder, funds_mist: int
) -> TransactionBuilder:
    """Return the transaction that creates a schedule."""
    builder, package, terms = TransactionBuilder(), deployment.workflows, order.terms
    schedule = calls.create(
        builder,
        package,
        deployment.leader_registry,
        terms.settings.revision,
        workflow.id,
        order.group,
        terms.leaders[0],
        terms.max_prices_mist,
        terms.max_timeout_ms,
        terms.max_outcome_bytes,
        terms.max_steps,
        terms.deadline_ms,
        _timing(deployment, builder, order.timing),
        order.funds_per_execution_mist,
        order.keeper_fee_mist,
        order.overlaps,
        order.max_failures,
        order.max_executions,
        builder.split_coins(builder.gas, [funds_mist])[0],
    )
    for vertex, values in zip(order.vertices, order.values, strict=True):
        ports = make_ports(builder, deployment.package, values)
        calls.set_entry_values(builder, package, schedule, vertex, ports)
    for backup in terms.leaders[1:]:
        calls.set_backup(builder, package, schedule, backup)
    calls.share(builder, package, schedule)
    return builder


def _timing(deployment: Deployment, builder: TransactionBuilder, timing: Timing) -> Argument:
    package, late_ms = deployment.workflows, timing.max_late_ms
    match timing.plan:
        case Plan.Every(interval_ms, first_at_ms, until_ms):
            return timings.every(builder, package, interval_ms, first_at_ms, until_ms, late_ms)
        case Plan.At(times):
            return timings.at(builder, package, times, late_ms)
        case Plan.OnEvent(event, pause_ms, max_per_day):
            parse_struct_tag(event)
            return timings.on_event(builder, package, event, pause_ms, max_per_day)
