"""The front door: tools, invocations, leaders, workflows, events of one deployment, for one key."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nexus_tools.contracts import (
    Deployment,
    LockDeployment,
    Publisher,
    RegistryEvent,
    check_compatibility,
    event_filter,
    parse_event,
)
from nexus_tools.contracts.move_bindings.leader import Leader as RegisteredLeader
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NotNowError, UsageError
from nexus_tools.registry import (
    Asks,
    Executions,
    ExecutionState,
    InvocationFailedError,
    Invocations,
    LeaderName,
    LeaderRegistry,
    Schedules,
    ToolRegistry,
    Workflows,
)
from nexus_tools.settings.directories import cache_directory
from nexus_tools.settings.network_selection import Where, Who, select_network
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.client import Cursor, EventRecord, SuiClient, follow_events, request_sui
from nexus_tools.sui.keystore import KeyPair, Signer
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.tool import Answer, Failure, InterfaceValidator, ToolFqn

if TYPE_CHECKING:
    from nexus_tools.leader import Fetch, Leader
    from nexus_tools.registry.domain_proof import Proof

Event = TypeVar("Event", bound=RegistryEvent)

_ENOUGH_MIST = 1_000_000_000
"""What a key should have before it publishes or leads; a faucet is asked for less."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the package where it stands on chain; the time is in ms since 1970."""

    event: RegistryEvent
    transaction: Digest
    checkpoint: int
    timestamp_ms: int | None
    cursor: Cursor
    """Where to go on behind it."""


@checks_arguments
class Nexus:
    """Tools, workflows, schedules, invocations, leaders of one deployment, in the name of one key.

    Every verb raises the `NexusError` that says what, where and what next.
    """

    def __init__(self, client: SuiClient, deployment: Deployment, *, dry_run: bool = False) -> None:
        self.client = client
        self.deployment = deployment
        self.tools = ToolRegistry(client, deployment, dry_run=dry_run)
        self.invocations = Invocations(client, deployment, dry_run=dry_run)
        self.leaders = LeaderRegistry(client, deployment, dry_run=dry_run)
        self.workflows = Workflows(client, deployment, dry_run=dry_run)
        self.executions = Executions(client, deployment, dry_run=dry_run)
        self.schedules = Schedules(client, deployment, dry_run=dry_run)
        self.asks = Asks(client, deployment, dry_run=dry_run)

    # --- Opening

    @classmethod
    @asynccontextmanager
    async def at(
        cls, where: Where = None, key: Who = None, *, deployment: Deployment | None = None
    ) -> AsyncIterator[Self]:
        """The package as it is published on a network; without a key, only to read.

        Networks, keys and deployments are found by name where the command line finds them. A
        pysui configuration brings its active profile and, if no other is given, its active key.
        Raises `network_unknown`, `account_unknown`, `package_not_published` and
        `package_incompatible`.
        """
        network, signer = select_network(where, key)
        async with SuiClient(network, signer) as client:
            if deployment is None:
                chain_id = await client.chain_id()
                deployment = Settings.load().find_deployment(network.name, chain_id)
            await check_compatibility(client, deployment, cache_directory())
            yield cls(client, deployment)

    @classmethod
    @asynccontextmanager
    async def publish(
        cls, where: Where = None, key: Who = None, *, lock: bool = True
    ) -> AsyncIterator[Self]:
        """A deployment of its own, published with the key, which is funded where there is a faucet.

        Its upgrades are locked: the key can propose one, which waits for 14 days. Without `lock` it
        gets the `UpgradeCap`. Where the network is given by name, `at` finds the deployment
        afterwards.
        """
        network, signer = select_network(where, key)
        if signer is None:
            raise UsageError("key_missing", "a key is needed that publishes the package")
        async with SuiClient(network, signer) as client:
            await _fund(client)
            known = Settings.load() if where is None or isinstance(where, str) else None
            locks = await _locks(client, known) if lock else None
            published = await Publisher(client).publish(locks)
            assert published.deployment is not None  # it is no dry run
            if known is not None:
                known.remember(published.deployment, network.name)
            yield cls(client, published.deployment)

    # --- Invocations

    async def invoke(
        self,
        fqn: ToolFqn | str,
        inputs: Mapping[str, Any],
        *,
        leaders: Sequence[LeaderName] = (),
        max_outcome_bytes: int | None = None,
        max_cost_mist: int | None = None,
    ) -> Answer:
        """Have a leader call a tool on chain, delete the invocation, and give the tool's answer.

        One or two leaders are named: the first ones of `leaders`, ids or names, that can be, or
        without it those that `Invocations.leaders_for` draws. Inputs that the tool's schema refuses
        are not paid for. What no leader closed in time expires: the refund is whole. Whoever
        cancels it leaves the invocation to `Invocations.mine`. Where answers have to be signed, the
        chain verified it and keeps no signature: that of the answer is None. An answer that breaks
        the tool's output schema stays on chain, and in `OutputInvalidError.answer`. Raises
        `InvocationFailedError`, `OutputInvalidError`, `input_invalid`, `tool_unknown`, `not_closed`
        if no leader works, and as `Invocations.request`.
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
        except NotNowError:
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
    ) -> ExecutionState:
        """Have leaders carry a workflow on chain, and give what it came to once it has ended.

        `terms` are those of `Executions.begin`, and it raises as that does. What it stored stays,
        for its results are there: `executions.clean` removes it. Bound it with `asyncio.timeout`;
        whoever cancels it leaves the execution to `Executions.list`. Raises `workflow_unknown`.
        """
        published = await self.workflows.get(workflow)
        begun = await self.executions.begin(published, inputs, **terms)
        return await self.executions.wait(begun.execution)

    # --- Names

    async def proof(self, tool: Tool | ToolFqn | str, *, fresh: bool = False) -> "Proof":
        """Whether the domain in a tool's name lists the tool's owner, asked over https.

        The host learns that somebody asks; what it said is kept for a day in the user's cache,
        unless a `fresh` word is wanted. Raises `tool_unknown`.
        """
        found = tool if isinstance(tool, Tool) else await self.tools.get(tool)
        owner = await self.tools.owner(found)
        return await self.ask_domain(ToolFqn.parse(found.fqn).domain, owner, fresh=fresh)

    async def ask_domain(self, domain: str, owner: Address, *, fresh: bool = False) -> "Proof":
        """Whether a domain, as FQNs write it, lists an owner for this registry; as `proof`."""
        # Late: it brings an HTTP client.
        from nexus_tools.registry.domain_proof import asking_domains  # noqa: PLC0415

        async with asking_domains(Settings.load().cache_directory / "domains") as proofs:
            return await proofs.prove(
                domain,
                str(owner),
                self.deployment.chain_id,
                str(self.deployment.tool_registry),
                fresh=fresh,
            )

    # --- Events

    async def events(
        self, *kinds: type[RegistryEvent], after: Cursor | None = None, timestamps: bool = False
    ) -> AsyncGenerator[Happened, None]:
        """What happens from now on, or happened `after` a cursor, in order and without end.

        Only these kinds, or all of the package. The node may be away for any time: nothing is lost
        and nothing comes twice. Close the iterator when you leave it early
        (`contextlib.aclosing`). Raises `chain_went_back` if the node was set back before what was
        given or the cursor, as a localnet is by a revert.
        """
        wanted = event_filter(self.deployment, *kinds)
        items = follow_events(self.client, wanted, after, timestamps=timestamps)
        async with aclosing(items):
            async for item in items:
                event = isinstance(item, EventRecord) and parse_event(self.deployment, item.event)
                if isinstance(item, EventRecord) and event:
                    yield Happened(
                        event,
                        item.transaction_digest,
                        item.checkpoint,
                        item.timestamp_ms,
                        item.cursor,
                    )

    # --- Leading

    @asynccontextmanager
    async def leader(
        self,
        name: str,
        key: Signer | None = None,
        journal: Path | None = None,
        *,
        allow_loopback: bool = False,
        storages: "Mapping[str, Fetch | str] | None" = None,
        **config: Any,
    ) -> "AsyncIterator[Leader]":
        """A leader at work until the block ends, under its name and with a key of its own.

        It is the one of that name that the key owns or works for; if there is none, one is
        registered. The owner's key makes it active, and inactive again in the end unless it was
        active before, so that no further invocation names it. Without a key one is made, where a
        faucet can fund it; without a journal (a SQLite file) it remembers nothing after the block.
        `storages` say where inputs are had that are not on chain: a function, or a URL with
        `{key}`, by the name of the storage. `config` are further fields of `LeaderConfig`. Raises
        `key_missing`, `not_in_force`, `argument_invalid`, `config_invalid`, and as
        `LeaderRegistry.register` and `Leader.run`.
        """
        # Late: the Leader brings an HTTP client and pydantic.
        from nexus_tools.leader import (  # noqa: PLC0415
            LOOPBACK,
            Leader,
            LeaderConfig,
            urls_and_functions,
        )

        if allow_loopback:
            config |= {"allow_http": True, "allowed_networks": LOOPBACK}
        async with AsyncExitStack() as stack:
            if journal is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nexus-leader-"))
                journal = Path(folder) / "journal.sqlite"
            urls, functions = urls_and_functions(storages or {})
            settings = LeaderConfig.load({}, journal=journal, storages=urls, **config)
            signer = key or _new_key(self.client.network)
            client = await stack.enter_async_context(SuiClient(self.client.network, signer))
            await _fund(client)
            leaders = LeaderRegistry(client, self.deployment)
            leader_id = await stack.enter_async_context(_active_leader(leaders, name))
            named = (client, [signer], self.deployment, leader_id)
            leader = Leader(settings, *named, storages=functions)
            await stack.enter_async_context(_running(leader))
            yield leader


async def _locks(client: SuiClient, known: Settings | None) -> LockDeployment:
    """The `upgrade_lock` of the network that the settings know, or a new one."""
    name, chain_id = client.network.name, await client.chain_id()
    locks = None if known is None else known.find_locks(name, chain_id)
    if locks is None:
        _, locks = await Publisher(client).publish_lock()
        assert locks is not None  # it is no dry run
        if known is not None:
            known.remember_locks(locks, name)
    return locks


async def _fund(client: SuiClient) -> None:
    """Ask the network's faucet, if it has one and the key has little."""
    poor = client.network.faucet_url and await client.balance(client.address) < _ENOUGH_MIST
    if poor:
        await request_sui(client.network, client.address)


def _new_key(network: Network) -> KeyPair:
    if network.faucet_url is None:
        raise UsageError(
            "key_missing",
            f"a leader needs a key of its own, and {network.name} has no faucet for a new one",
            hint="give `key=` one that has SUI",
        )
    return KeyPair.new()


@asynccontextmanager
async def _active_leader(leaders: LeaderRegistry, name: str) -> AsyncIterator[Address]:
    """The time in which the key's leader of that name, registered if need be, is active."""
    leader, key = await _find_leader(leaders, name), leaders.client.address
    if leader is None:
        _, leader_id = await leaders.register(name, activate=True)
        makes_active = True
    else:
        leader_id = leader.id
        makes_active = leader.owner.owner == key and not leader.accepting
        if makes_active:
            await leaders.activate(leader_id)
    try:
        yield leader_id
    finally:
        if makes_active and (await leaders.get(leader_id)).accepting:
            await leaders.deactivate(leader_id)


async def _find_leader(leaders: LeaderRegistry, name: str) -> RegisteredLeader | None:
    """The leader of that name that the key owns or works for."""
    key = leaders.client.address
    for leader in await leaders.list():
        if leader.name == name and key in (leader.owner.owner, *leader.workers.entries):
            return leader
    return None


@asynccontextmanager
async def _running(leader: "Leader") -> AsyncIterator[None]:
    """The time in which a leader works; raises what keeps it from that."""
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
