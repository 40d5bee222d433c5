"""Pages of the executions that an address started."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, ExecutionStarted
from nexus_tools.registry.pages import Page, read_page
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.types.address import Address


@dataclass(frozen=True, slots=True)
class ListedExecution:
    """An execution in a list. `execution` is None if the execution was deleted."""

    start_event: ExecutionStarted
    execution: Execution | None

    @property
    def is_running(self) -> bool:
        """Whether the execution exists and has not ended."""
        return self.execution is not None and self.execution.ended_at_ms is None


async def read_started(
    package: PackageClient,
    starter: Address,
    limit: int,
    before: Cursor | None,
    *,
    running: bool,
    deleted: bool,
) -> Page[ListedExecution]:
    """Return a page of the executions that an address started, newest first."""

    async def read(records: Sequence[EventRecord]) -> list[ListedExecution | None]:
        events = [parse_event(package.deployment, record.event) for record in records]
        starts = [event for event in events if isinstance(event, ExecutionStarted)]
        ids = [start.execution for start in starts]
        executions = await package.find_all(ids, Execution)
        listed = dict(zip(ids, map(ListedExecution, starts, executions), strict=True))
        items = (listed.get(getattr(event, "execution", starter)) for event in events)
        return [item if item and _is_wanted(item) else None for item in items]

    def _is_wanted(item: ListedExecution) -> bool:
        # The keeper of a schedule starts an execution of the owner.
        is_own = item.start_event.owner == starter
        is_shown = item.is_running or not running
        return is_own and is_shown and (deleted or item.execution is not None)

    kinds = event_filter(package.deployment, ExecutionStarted).sent_by(starter)
    return await read_page(package, kinds, read, limit, before)
