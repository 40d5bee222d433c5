"""The list of leaders, and the page of a leader."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from nexus_tools.contracts import LeaderState
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import UnreachableError
from nexus_tools.explorer.charts import Series, day_chart
from nexus_tools.explorer.context import Page, PageContext
from nexus_tools.explorer.formatting import number
from nexus_tools.index import DayStats, LeaderSort, read_subject_days
from nexus_tools.index.api import PageParameters
from nexus_tools.sui.types.address import Address

_WORKERS = 20


class LeaderListParameters(PageParameters, frozen=True, kw_only=True):
    """The parameters of the list."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 30
    state: LeaderState | None = None
    sort: LeaderSort | None = None


async def list_leaders(context: PageContext) -> Page:
    """Show the leaders and their records."""
    parameters = context.parameters(LeaderListParameters)
    pager = context.pager("leaders", parameters)
    page = context.index.leaders(
        parameters.state,
        sort=parameters.sort or LeaderSort.REPUTATION,
        limit=parameters.limit,
        after=pager.after,
    )
    values = {
        "leaders": page.items,
        "links": pager.links(page.next),
        "parameters": parameters,
        "states": list(LeaderState),
        "sorts": list(LeaderSort),
    }
    return Page("leaders.html", "Leaders", values)


async def show_leader(context: PageContext) -> Page:
    """Show a leader: its collateral, workers, windows, fees and reputation."""
    leader_id = Address.parse_whole(context.path["id"])
    detail = context.index.leader(leader_id)
    if detail is None:
        raise context.not_found("leader", str(leader_id))
    days = read_subject_days(context.connection, leader_id, 30, context.now_ms)
    on_chain = await _on_chain(context, leader_id)
    workers = () if on_chain is None else on_chain.workers.entries
    values = {
        "detail": detail,
        "leader": detail.leader,
        "on_chain": on_chain,
        "slash": None if on_chain is None else on_chain.collateral.pending_slash(context.now_ms),
        "workers": await _balances(context, workers[:_WORKERS]),
        "more_workers": max(0, len(workers) - _WORKERS),
        "invocations": context.index.invocations_closed_by(leader_id, limit=10).items,
        "days": days,
        "chart": day_chart(
            "Windows per day",
            days,
            context.now_ms,
            [Series("used", _used), Series("missed", _missed)],
            number,
        ),
    }
    return Page("leader.html", f"Leader {detail.leader.name}", values)


async def _on_chain(context: PageContext, leader_id: Address) -> Leader | None:
    """Return the object of a leader, or None if the node does not respond."""
    try:
        return await context.chain.decoded(leader_id, Leader)
    except UnreachableError:
        return None


async def _balances(
    context: PageContext, workers: Sequence[Address]
) -> list[tuple[Address, int | None]]:
    """Return the workers with their balances in MIST, or None if the node does not respond."""
    chain = context.chain
    reads = [chain.balance(worker) for worker in workers]
    try:
        balances = await asyncio.gather(*reads)
    except UnreachableError:
        return [(worker, None) for worker in workers]
    return list(zip(workers, balances, strict=True))


def _used(day: DayStats) -> int:
    return day.performance.closed - _missed(day)


def _missed(day: DayStats) -> int:
    return day.performance.outcomes.get("missed", 0)
