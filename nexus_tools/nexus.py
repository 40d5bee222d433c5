"""The main entry point: the tools, leaders and workflows of one deployment, for one key."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nexus_tools.contracts import Deployment, check_compatibility
from nexus_tools.contracts.move_bindings.leader import Leader as RegisteredLeader
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import UsageError, WrongStateError
from nexus_tools.registry import (
    InvocationFailedError,
    Invocations,
    LeaderRef,
    LeaderRegistry,
    ToolRegistry,
)
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.network_selection import KeySelector, NetworkLike, resolve_network_and_key
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.client import Cursor, EventRecord, SuiClient, follow_events, request_sui
from nexus_tools.sui.keystore import KeyPair, Signer
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.tool import Answer, Failure, InterfaceValidator, ToolFqn

if TYPE_CHECKING:
    from nexus_tools.contracts import LockDeployment, RegistryEvent
    from nexus_tools.index import Index
    from nexus_tools.leader import Fetch, Leader
    from nexus_tools.registry import Executions, ExecutionState, Questions, Schedules, Workflows
    from nexus_tools.registry.domain_proof import DomainProof

_ENOUGH_MIST = 1_000_000_000
"""The minimum balance to publish or to run a leader. Lower balances are funded by the faucet."""


@dataclass(frozen=True, slots=True)
class PackageEvent:
    """A package event, with its position on chain and its time in ms since 1970."""

    event: "RegistryEvent"
    transaction: Digest
    checkpoint: int
    timestamp_ms: int | None
    cursor: Cursor
    """The cursor to pass as `after`, to continue after this event."""


@validate_arguments
class Nexus:
    """The tools, workflows, schedules, invocations and leaders of one deployment, for one key.

    Methods raise a `NexusError`, whose message states the problem and whose hint states a remedy.
    """

    def __init__(self, client: SuiClient, deployment: Deployment, *, dry_run: bool = False) -> None:
        self.client = client
        self.deployment = deployment
        self._dry_run = dry_run
        self.tools = ToolRegistry(client, deployment, dry_run=dry_run)
        self.invocations = Invocations(client, deployment, dry_run=dry_run)
        self.leaders = LeaderRegistry(client, deployment, dry_run=dry_run)

    # Import the workflow services late, because their import takes longer than all others.

    @cached_property
    def workflows(self) -> "Workflows":
        """The published workflows."""
        from nexus_tools.registry import Workflows  # noqa: PLC0415

        return Workflows(self.client, self.deployment, dry_run=self._dry_run)

    @cached_property
    def executions(self) -> "Executions":
        """The executions of workflows."""
        from nexus_tools.registry import Executions  # noqa: PLC0415

        return Executions(self.client, self.deployment, dry_run=self._dry_run)

    @cached_property
    def schedules(self) -> "Schedules":
        """The schedules that start executions."""
        from nexus_tools.registry import Schedules  # noqa: PLC0415

        return Schedules(self.client, self.deployment, dry_run=self._dry_run)

    @cached_property
    def questions(self) -> "Questions":
        """The questions that workflows ask."""
        from nexus_tools.registry import Questions  # noqa: PLC0415

        return Questions(self.client, self.deployment, dry_run=self._dry_run)

    def index(self, path: Path | None = None, *, intent_model: str | None = None) -> "Index":
        """Open the index that `nexus-tools index run` builds, for reading and for searches.

        `intent_model` is the model that `index run` uses. Raises the errors of `Index.open`.
        """
        from nexus_tools.index import Index  # noqa: PLC0415

        return Index.open(self.deployment, path, intent_model=intent_model)

    # --- Opening

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        where: NetworkLike = None,
        key: KeySelector = None,
        *,
        deployment: Deployment | None = None,
    ) -> AsyncIterator[Self]:
        """Open the published deployment on a network. Without a key, the client is read-only.

        Networks, keys and deployments are looked up by name as on the command line. If `where` is a
        pysui configuration, its active profile is the network and its active key is the default.
        Raises `network_unknown`, `account_unknown`, `package_not_published` or
        `package_incompatible`.
        """
        network, signer = resolve_network_and_key(where, key)
        async with SuiClient(network, signer) as client:
            if deployment is None:
                chain_id = await client.chain_id()
                deployment = Settings.load().find_deployment(network.name, chain_id)
            await check_compatibility(client, deployment, cache_directory())
            yield cls(client, deployment)

    @classmethod
    @asynccontextmanager
    async def publish(
        cls, where: NetworkLike = None, key: KeySelector = None, *, lock: bool = True
    ) -> AsyncIterator[Self]:
        """Publish a new deployment with the key and open the deployment.

        If the network has a faucet, the key is funded first. With the upgrade lock, the key can
        propose an upgrade, which takes effect 14 days later at the earliest. Without `lock`, the
        key receives the `UpgradeCap`. If you name the network, `connect` can find the deployment.
        """
        from nexus_tools.contracts import Publisher  # noqa: PLC0415

        network, signer = resolve_network_and_key(where, key)
        if signer is None:
            raise UsageError("key_missing", "publishing the packages requires a key")
        async with SuiClient(network, signer) as client:
            await _fund(client)
            settings = Settings.load() if where is None or isinstance(where, str) else None
            locks = await _locks(client, settings) if lock else None
            published = await Publisher(client).publish(locks)
            assert published.deployment is not None  # a dry run would return None
            if settings is not None:
                settings.remember(published.deployment, network.name)
            yield cls(client, published.deployment)

    # --- Invocations

    async def invoke(
        self,
        fqn: ToolFqn | str,
        inputs: Mapping[str, Any],
        *,
        leaders: Sequence[LeaderRef] = (),
        max_outcome_bytes: int | None = None,
        max_cost_mist: int | None = None,
    ) -> Answer:
        """Request an invocation of a tool, wait for the tool's answer, and return it.

        The invocation names the first one or two usable leaders of `leaders` (IDs or names). By
        default it names the leaders that `Invocations.choose_leaders` draws. Inputs are validated
        against the tool's schema before anything is paid. The invocation is deleted afterwards. If
        no leader closes it in time, it expires with a full refund. If you cancel this call,
        `Invocations.owned_by` still returns the invocation.

        If answers must be signed, the chain verifies the signature but does not store it, so
        `Answer.signature` is None. An answer that violates the tool's output schema stays on chain,
        and is also in `OutputInvalidError.answer`. Raises `InvocationFailedError`,
        `OutputInvalidError`, `input_invalid`, `tool_unknown`, `not_closed` if no leader responds,
        and the errors of `Invocations.request`.
        """
        tool = await self.tools.get(fqn)
        InterfaceValidator(tool.definition.parse()).check_input(dict(inputs))
        _, invocation = await self.invocations.request(
            tool,
            inputs,
            leaders=leaders,
            max_outcome_bytes=max_outcome_bytes,
            max_cost_mist=max_cost_mist,
        )
        try:
            outcome = await self.invocations.wait(invocation)
        except WrongStateError:
            await self.invocations.delete(invocation)
            raise
        await self.invocations.delete(invocation)
        if isinstance(outcome, Failure):
            raise InvocationFailedError(invocation, outcome)
        return outcome

    # --- Workflows

    async def run(
        self,
        workflow: ToolFqn | str,
        inputs: Mapping[str, Any],
        **terms: Any,
    ) -> "ExecutionState":
        """Start an execution of a workflow, wait for its end, and return its final state.

        `terms` are the keyword arguments of `Executions.start`. The results are stored on chain
        until `executions.clean` removes them. To limit the time, use `asyncio.timeout`. If you
        cancel this call, `Executions.list` still returns the execution. Raises `workflow_unknown`
        and the errors of `Executions.start`.
        """
        published = await self.workflows.get(workflow)
        started = await self.executions.start(published, inputs, **terms)
        return await self.executions.wait(started.execution)

    # --- Names

    async def domain_proof(
        self, tool: Tool | ToolFqn | str, *, fresh: bool = False
    ) -> "DomainProof":
        """Query over HTTPS whether the domain in a tool's name lists the tool's owner.

        The domain's host sees the query. Its response is cached in the user's cache folder for a
        day. `fresh` bypasses the cache. Raises `tool_unknown`.
        """
        registered = tool if isinstance(tool, Tool) else await self.tools.get(tool)
        owner = await self.tools.owner(registered)
        return await self.check_domain(ToolFqn.parse(registered.fqn).domain, owner, fresh=fresh)

    async def check_domain(
        self, domain: str, owner: Address, *, fresh: bool = False
    ) -> "DomainProof":
        """Query whether a domain, in the order of FQNs, lists an owner for this registry.

        Responses are cached, and `fresh` bypasses the cache, as in `domain_proof`.
        """
        # Import this module late, because it imports an HTTP client.
        from nexus_tools.registry.domain_proof import open_domain_prover  # noqa: PLC0415

        registry = self.deployment.chain_id, str(self.deployment.tool_registry)
        async with open_domain_prover(Settings.load().cache_directory / "domains") as proofs:
            return await proofs.prove(domain, str(owner), *registry, fresh=fresh)

    # --- Events

    async def events(
        self, *kinds: "type[RegistryEvent]", after: Cursor | None = None, timestamps: bool = False
    ) -> AsyncGenerator[PackageEvent, None]:
        """Yield events in order and without end, from now on or after the cursor `after`.

        Without `kinds`, events of all kinds are included. After an outage of the node, no event is
        missing or repeated. If you leave the iterator early, close it with `contextlib.aclosing`.
        Raises `chain_rolled_back` if the chain was rolled back to a point before a yielded event or
        the cursor, for example by a localnet revert.
        """
        from nexus_tools.contracts import event_filter, parse_event  # noqa: PLC0415

        kinds_filter = event_filter(self.deployment, *kinds)
        items = follow_events(self.client, kinds_filter, after, timestamps=timestamps)
        async with aclosing(items):
            async for item in items:
                event = isinstance(item, EventRecord) and parse_event(self.deployment, item.event)
                if isinstance(item, EventRecord) and event:
                    place = item.transaction_digest, item.checkpoint, item.timestamp_ms, item.cursor
                    yield PackageEvent(event, *place)

    # --- Leaders

    @asynccontextmanager
    async def leader(
        self,
        name: str,
        key: Signer | None = None,
        journal: Path | str | None = None,
        *,
        allow_loopback: bool = False,
        storages: "Mapping[str, Fetch | str] | None" = None,
        **config: Any,
    ) -> "AsyncIterator[Leader]":
        """Run a leader until the block ends.

        The key must own the leader called `name` or be one of its workers. If no such leader
        exists, a new one is registered. If the key is the owner's, the leader is activated, and
        deactivated at the end unless it was active before. Without a key, a new key is created if a
        faucet can fund it. `journal` is a SQLite file or `postgresql://…`. Without it, the state is
        lost after the block. `storages` maps storage names to a function, or to a URL with `{key}`,
        that returns off-chain inputs. `config` holds further fields of `LeaderConfig`.

        Raises `key_missing`, `collateral_inactive`, `argument_invalid`, `config_invalid`, and the
        errors of `LeaderRegistry.register` and `Leader.run`.
        """
        # Import the Leader late, because it imports an HTTP client and pydantic.
        from nexus_tools.leader import (  # noqa: PLC0415
            LOOPBACK,
            Leader,
            LeaderConfig,
            split_storages,
        )

        if allow_loopback:
            config |= {"allow_http": True, "allowed_networks": LOOPBACK}
        async with AsyncExitStack() as stack:
            if journal is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nexus-leader-"))
                journal = Path(folder) / "journal.sqlite"
            urls, functions = split_storages(storages or {})
            settings = LeaderConfig.load({}, journal=journal, storages=urls, **config)
            signer = key or _new_key(self.client.network)
            client = await stack.enter_async_context(SuiClient(self.client.network, signer))
            await _fund(client)
            leaders = LeaderRegistry(client, self.deployment)
            leader_id = await stack.enter_async_context(_active_leader(leaders, name))
            identity = (client, [signer], self.deployment, leader_id)
            leader = Leader(settings, *identity, storages=functions)
            await stack.enter_async_context(_running(leader))
            yield leader


async def _locks(client: SuiClient, settings: Settings | None) -> "LockDeployment":
    """Return the network's `upgrade_lock` from the settings, or publish a new package."""
    from nexus_tools.contracts import Publisher  # noqa: PLC0415

    name, chain_id = client.network.name, await client.chain_id()
    locks = None if settings is None else settings.find_locks(name, chain_id)
    if locks is None:
        _, locks = await Publisher(client).publish_lock()
        assert locks is not None  # a dry run would return None
        if settings is not None:
            settings.remember_locks(locks, name)
    return locks


async def _fund(client: SuiClient) -> None:
    """Request SUI from the network's faucet if it exists and the key's balance is low."""
    needs_funds = client.network.faucet_url and await client.balance(client.address) < _ENOUGH_MIST
    if needs_funds:
        await request_sui(client.network, client.address)


def _new_key(network: Network) -> KeyPair:
    if network.faucet_url is None:
        raise UsageError(
            "key_missing",
            f"a leader needs its own key, and {network.name} has no faucet to fund a new one",
            hint="Pass a funded key as `key=`.",
        )
    return KeyPair.new()


@asynccontextmanager
async def _active_leader(leaders: LeaderRegistry, name: str) -> AsyncIterator[Address]:
    """Activate the key's leader called `name` until the block ends, and register it if needed."""
    leader, key = await _find_leader(leaders, name), leaders.client.address
    if leader is None:
        _, leader_id = await leaders.register(name, activate=True)
        must_deactivate = True
    else:
        leader_id = leader.id
        must_deactivate = leader.owner.owner == key and not leader.accepting
        if must_deactivate:
            await leaders.activate(leader_id)
    try:
        yield leader_id
    finally:
        if must_deactivate and (await leaders.get(leader_id)).accepting:
            await leaders.deactivate(leader_id)


async def _find_leader(leaders: LeaderRegistry, name: str) -> RegisteredLeader | None:
    """Return the leader called `name` that the key owns or is a worker of, or None."""
    key = leaders.client.address
    for leader in (*await leaders.owned_by(key), *await leaders.worked_by(key)):
        if leader.name == name:
            return leader
    return None


@asynccontextmanager
async def _running(leader: "Leader") -> AsyncIterator[None]:
    """Run a leader until the block ends. Raises the error that stops the leader."""
    running = asyncio.create_task(leader.run())
    ready = asyncio.create_task(leader.ready.wait())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    try:
        if not running.done():
            yield
    finally:
        leader.stop()
        await running
