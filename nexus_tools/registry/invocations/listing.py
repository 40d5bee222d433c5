"""Lists of an account's invocations, at a cost that does not depend on the chain's history.

The requester of a single invocation signs its request, so a filter by sender finds the requests.
The requester of an attempt is the owner of the execution, but mostly a worker of a leader signs the
request. So attempts are found by the executions that the owner started.
"""

import asyncio
from collections.abc import Sequence

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings import run as move_run
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, ExecutionStarted
from nexus_tools.contracts.move_bindings.workflows.records import RunRecord
from nexus_tools.registry.pages import PAGE_SIZE, Page, read_page
from nexus_tools.sui.client import Cursor, EventFilter, EventRecord, newest_events
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import RunPhase


def requests_of(package: PackageClient, requester: Address) -> EventFilter:
    """Return a filter for the requests that an address signed."""
    return event_filter(package.deployment, InvocationRequested).sent_by(requester)


def parse_requests(
    package: PackageClient, records: Sequence[EventRecord]
) -> list[InvocationRequested | None]:
    """Return the requests of single invocations, and None for other events."""
    events = [parse_event(package.deployment, record.event) for record in records]
    return [
        event if isinstance(event, InvocationRequested) and event.attempt is None else None
        for event in events
    ]


async def read_invocations(
    package: PackageClient,
    requester: Address,
    *,
    closed: bool | None,
    limit: int,
    before: Cursor | None,
) -> Page[Invocation]:
    """Return a page of single invocations that are not deleted, newest first.

    `closed` selects only closed or only open invocations.
    """

    async def read(records: Sequence[EventRecord]) -> list[Invocation | None]:
        requests = parse_requests(package, records)
        ids = [request.invocation for request in requests if request is not None]
        found = iter(await package.find_all(ids, Invocation))
        invocations = [None if request is None else next(found) for request in requests]
        return [
            invocation
            if invocation is not None and closed in (None, invocation.is_closed)
            else None
            for invocation in invocations
        ]

    return await read_page(package, requests_of(package, requester), read, limit, before)


# --- Attempts


async def read_pending_attempts(
    package: PackageClient, owner: Address, executions: int = PAGE_SIZE
) -> tuple[Invocation, ...]:
    """Return the open attempts of the last executions that an owner started, newest first."""
    if package.deployment.workflows_id is None:
        return ()
    started = event_filter(package.deployment, ExecutionStarted).sent_by(owner)
    page = await newest_events(package.client, started, executions)
    events = [parse_event(package.deployment, record.event) for record in page.events]
    ids = [event.execution for event in events if isinstance(event, ExecutionStarted)]
    running = [
        execution
        for execution in await package.find_all(ids, Execution)
        if execution is not None and execution.progress.in_flight
    ]
    reads = [_read_runs_in_flight(package, execution) for execution in running]
    attempts = [invocation for found in await asyncio.gather(*reads) for invocation in found]
    pending = [
        invocation
        for invocation in await package.find_all(attempts, Invocation)
        if invocation is not None and not invocation.is_closed
    ]
    return tuple(sorted(pending, key=lambda found: found.requested_at_ms, reverse=True))


async def _read_runs_in_flight(package: PackageClient, execution: Execution) -> list[Address]:
    """Return the invocations of the runs that were requested and are not closed."""
    run_key = package.deployment.type_of(move_run.Run)
    fields = await package.client.dynamic_fields(execution.progress.records.id)
    records = [
        RunRecord.bcs.decode(field.value)
        for field in fields
        if field.key_type == run_key and field.value is not None
    ]
    return [record.invocation for record in records if record.phase == RunPhase.UNDER_WAY]
