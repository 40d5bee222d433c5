"""The wiring of a Leader: its components and their dependencies."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Protocol

from nexus_tools.http.address_guard import AddressGuard
from nexus_tools.http.guarded_client import Resolve, SystemResolver, guarded_client
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.workflow_cache import WorkflowCache
from nexus_tools.leader.closing.closer import Closer
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.file_descriptors import max_concurrent_calls
from nexus_tools.leader.dispatch.http_storage import http_storage
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.leader.dispatch.remote_values import Fetch, RemoteValues
from nexus_tools.leader.dispatch.request_signing import RequestSigning
from nexus_tools.leader.dispatch.tool_call import ToolCalls
from nexus_tools.leader.dispatch.validation_turns import ValidationTurns
from nexus_tools.leader.dispatcher import Dispatcher
from nexus_tools.leader.executions.attempts import Attempts
from nexus_tools.leader.executions.author_accounts import AuthorAccounts
from nexus_tools.leader.executions.execution_reader import ExecutionReader
from nexus_tools.leader.executions.execution_runner import ExecutionRunner
from nexus_tools.leader.executions.on_chain_calls import OnChainCalls
from nexus_tools.leader.executions.step_executor import StepExecutor
from nexus_tools.leader.executions.timed_calls import TimedCalls
from nexus_tools.leader.holder import Holder, HolderComponents, OpenInvocations
from nexus_tools.leader.intake.closure_log import ClosureLog
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.intake.relevance import Relevance
from nexus_tools.leader.intake.watcher import Watcher
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import Member
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.journal.store import extra_missing
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.schedules.schedule_runner import ScheduleRunner
from nexus_tools.leader.schedules.triggers import TriggerExecutor
from nexus_tools.leader.workload import Workload
from nexus_tools.registry import FunctionReader, RunInputResolver
from nexus_tools.tool import outcome_bytes

_ALL_NETWORKS = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))
_STORAGE_CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The objects that a Leader needs before it connects to its node."""

    config: LeaderConfig
    chain: Chain
    workers: Workers
    clock: ChainClock
    metrics: LeaderMetrics
    request_signing: RequestSigning
    resolve: Resolve | None
    storages: Mapping[str, Fetch]
    accounts: ExecutionAccounts


class Intake(Protocol):
    """The part of a Leader from which its workload gets invocations, as the holder or in a fleet.

    `started` is set after the start. `resumed` is the number of invocations that a former run left.
    """

    started: asyncio.Event
    resumed: int

    async def run(self) -> None:
        """Run until cancelled."""

    async def stop(self) -> None:
        """Stop adding invocations to the workload."""

    def problems(self) -> dict[str, str]:
        """Return the current problems by component."""


@dataclass(frozen=True, slots=True)
class Components:
    """The components that run after a Leader has connected to its node."""

    group: asyncio.TaskGroup
    journal: Journal
    closer: Closer
    workload: Workload
    intake: Intake


async def assemble(
    dependencies: Dependencies, journal: Journal, stack: AsyncExitStack
) -> Components:
    """Create all components without starting them. Closing `stack` closes the components."""
    config, metrics = dependencies.config, dependencies.metrics
    stack.push_async_callback(journal.close)
    closer = Closer(
        config,
        dependencies.chain,
        workers=dependencies.workers,
        journal=journal,
        clock=dependencies.clock,
        metrics=metrics,
        accounts=dependencies.accounts,
    )
    workflows = WorkflowCache(dependencies.chain)
    calls = await _calls(dependencies, stack, journal, workflows)
    dispatcher = _dispatcher(dependencies, journal, closer, calls)
    group = await stack.enter_async_context(asyncio.TaskGroup())
    workload = _workload(dependencies, stack, group, closer, dispatcher)

    def holder(invocations: OpenInvocations) -> Holder:
        return Holder(
            config,
            dependencies.chain,
            journal=journal,
            clock=dependencies.clock,
            closer=closer,
            invocations=invocations,
            accounts=dependencies.accounts,
            authors=calls.authors,
            build=lambda group: _holder_components(
                dependencies, group, journal, workflows, calls=calls, invocations=invocations
            ),
        )

    intake: Intake = holder(workload)
    if not isinstance(config.journal, Path):
        from nexus_tools.leader.fleet.fleet import fleet_of  # noqa: PLC0415 - an extra

        intake = fleet_of(
            config,
            journal,
            workload,
            chain=dependencies.chain,
            clock=dependencies.clock,
            workers=dependencies.workers,
            metrics=metrics.fleet,
            holder_of=holder,
        )
    return Components(group, journal, closer, workload, intake)


def _workload(
    dependencies: Dependencies,
    stack: AsyncExitStack,
    group: asyncio.TaskGroup,
    closer: Closer,
    dispatcher: Dispatcher,
) -> Workload:
    config, metrics = dependencies.config, dependencies.metrics
    closure_log = ClosureLog(metrics, dependencies.clock.now_ms, lines=config.max_closed_log_lines)
    stack.callback(closure_log.end_period)
    return Workload(
        group,
        dispatcher,
        closer.queue,
        closed=closure_log,
        metrics=metrics,
        capacity=config.max_pending,
    )


def _holder_components(
    dependencies: Dependencies,
    group: asyncio.TaskGroup,
    journal: Journal,
    workflows: WorkflowCache,
    *,
    calls: "_Calls",
    invocations: OpenInvocations,
) -> HolderComponents:
    """Create the components of the holder, whose tasks run in `group`."""
    executions = _executions(dependencies, group, journal, workflows, calls)
    schedules = _schedules(dependencies, group, journal, workflows)

    def is_tracked(subject: bytes) -> bool:
        return any(part.is_tracked(subject) for part in (invocations, executions, schedules))

    async def hand_on(page: EventPage) -> None:
        invocations.drop(page.closed)
        executions.observe(page)
        schedules.observe(page)
        await invocations.start(page.assigned)

    watcher = Watcher(
        dependencies.config,
        dependencies.chain,
        journal=journal,
        clock=dependencies.clock,
        metrics=dependencies.metrics,
        relevance=Relevance(dependencies.chain.leader, is_tracked, executions.has_executions),
        hand_on=hand_on,
    )
    return HolderComponents(executions, schedules, watcher)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The components that call tools."""

    attempts: Attempts
    tool_calls: ToolCalls
    on_chain_calls: OnChainCalls
    invoker: Invoker
    authors: AuthorAccounts


async def _calls(
    dependencies: Dependencies, stack: AsyncExitStack, journal: Journal, workflows: WorkflowCache
) -> _Calls:
    config, chain = dependencies.config, dependencies.chain
    guard = AddressGuard(config.allowed_networks, config.allowed_ports, config.allow_http)
    resolve = dependencies.resolve
    if resolve is None:
        resolve = system = SystemResolver()
        stack.callback(system.close)
    connections = 2 * max_concurrent_calls(config.max_concurrent)
    client = guarded_client(guard, resolve, max_connections=connections)
    await stack.enter_async_context(client)
    lifetime = config.meta_lifetime_ms / 1000
    now = asyncio.get_running_loop().time
    meta = MetaCheck(client, lifetime, now) if config.check_meta else None
    turns = ValidationTurns()
    basics = config, client, outcome_bytes, dependencies.metrics
    invoker = Invoker(
        *basics,
        request_signing=dependencies.request_signing,
        turns=turns,
        confirm=journal.confirm,
    )
    storages = await _storages(dependencies, stack, resolve)
    values = RemoteValues(storages, config, dependencies.metrics)
    tool_calls = ToolCalls(
        *(guard, config.max_request_bytes, meta, invoker.tool_health, values),
        turns=turns,
        is_signing=dependencies.request_signing.identity is not None,
    )
    attempts = Attempts(chain, workflows, RunInputResolver(chain.client, chain.deployment))
    trusted = chain.deployment.original_id
    authors = AuthorAccounts(journal, dependencies.clock, config.max_unpaid_tool_mist, trusted)
    on_chain_calls = OnChainCalls(
        chain,
        attempts,
        FunctionReader(chain.objects, chain.deployment),
        workers=dependencies.workers,
        sender=TransactionSender(chain.client, config.error_retry_delay_ms),
        metrics=dependencies.metrics,
        accounts=dependencies.accounts,
        authors=authors,
    )
    return _Calls(attempts, tool_calls, on_chain_calls, invoker, authors)


async def _storages(
    dependencies: Dependencies, stack: AsyncExitStack, resolve: Resolve
) -> Mapping[str, Fetch]:
    """Return the storages of `dependencies` and of its configuration, by name.

    The operator trusts the hosts of the configured storages, so their networks and ports are not
    restricted.
    """
    urls = dependencies.config.storages
    if not urls:
        return dependencies.storages
    guard = AddressGuard(_ALL_NETWORKS, http=True)
    client = guarded_client(guard, resolve, max_connections=_STORAGE_CONNECTIONS)
    await stack.enter_async_context(client)
    return {name: http_storage(client, url) for name, url in urls.items()} | {
        **dependencies.storages
    }


def _dispatcher(
    dependencies: Dependencies, journal: Journal, closer: Closer, calls: _Calls
) -> Dispatcher:
    return Dispatcher(
        dependencies.config,
        dependencies.chain,
        journal=journal,
        clock=dependencies.clock,
        workers=dependencies.workers,
        attempts=calls.attempts,
        on_chain_calls=calls.on_chain_calls,
        tool_calls=calls.tool_calls,
        invoker=calls.invoker,
        queue=closer.queue,
        metrics=dependencies.metrics,
        accounts=dependencies.accounts,
    )


def _executions(
    dependencies: Dependencies,
    group: asyncio.TaskGroup,
    journal: Journal,
    workflows: WorkflowCache,
    calls: _Calls,
) -> ExecutionRunner:
    chain, clock = dependencies.chain, dependencies.clock
    reader = ExecutionReader(chain, workflows)
    steps = StepExecutor(
        chain,
        workflows,
        reader,
        TimedCalls(chain, calls.attempts, calls.tool_calls, calls.on_chain_calls, clock),
        workers=dependencies.workers,
        sender=TransactionSender(chain.client, dependencies.config.error_retry_delay_ms),
        clock=clock,
        metrics=dependencies.metrics,
        accounts=dependencies.accounts,
    )
    return ExecutionRunner(
        dependencies.config,
        group,
        reader,
        steps,
        journal=journal,
        clock=clock,
        metrics=dependencies.metrics,
        leader=chain.leader,
    )


def _schedules(
    dependencies: Dependencies,
    group: asyncio.TaskGroup,
    journal: Journal,
    workflows: WorkflowCache,
) -> ScheduleRunner:
    config, chain, metrics = dependencies.config, dependencies.chain, dependencies.metrics
    sender = TransactionSender(chain.client, config.error_retry_delay_ms)
    triggers = TriggerExecutor(chain, workflows, dependencies.workers, sender, metrics)
    return ScheduleRunner(
        config,
        group,
        chain,
        triggers,
        journal=journal,
        clock=dependencies.clock,
        metrics=metrics,
    )


def journal_identity(chain: Chain) -> str:
    """Return the identity of the leader's journal: the chain, the package and the leader."""
    deployment = chain.deployment
    return " ".join(map(str, (deployment.chain_id, deployment.original_id, chain.leader)))


async def open_journal(location: Path | PostgresUrl, identity: str, member: Member) -> Journal:
    """Open or create the journal. If it is in PostgreSQL, join the processes that share it.

    Raises:
        UnreachableError: `journal_unreachable` or `worker_key_in_use`.
        NotAllowedError: `journal_denied`.
        UsageError: `journal_locked`, `journal_invalid`, `journal_format_unsupported`,
            `journal_identity_mismatch`, or `extra_not_installed`.
    """
    if isinstance(location, Path):
        return await Journal.open(location, identity)
    try:
        from nexus_tools.leader.fleet.fleet_journal import FleetJournal  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise extra_missing(error) from error
    return await FleetJournal.join(location, identity, member)
