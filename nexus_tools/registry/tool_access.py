"""What a tool server knows of the chain: whom its tools accept, and what they are called for.

Events say that something changed, and it is read anew; between them it is read now and then, in
case an event was missed. While the node is away, what was read last holds. A key is accepted until
it is removed on chain; one that is not known yet is looked for before it is refused.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from time import time

from nexus_tools.contracts import Deployment, event_filter, parse_event, tool_id
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool, ToolKeyChanged, ToolTakenOver
from nexus_tools.errors import NexusError, UsageError, ValidationError
from nexus_tools.sui.client import EventRecord, SuiClient, follow_events
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import (
    Call,
    NotAuthorizedError,
    NotReadyError,
    SignatureMode,
    Signatures,
)

READ_AGAIN_S = 60.0
"""How often everything is read though nothing is known to have changed."""

PAUSE_S = 0.5
"""How long one reading is after another at least, whatever happens and whoever asks."""

PATIENCE_S = 5.0
"""How long a request waits for the reading that may find its key."""

MAX_WAITING = 256
"""How many requests wait for it; further ones are told to come again."""

MAX_LEADERS = 1_024
"""How many leaders are known of tools that accept any."""

MAX_INVOCATIONS = 10_000
"""How many invocations are known by their events; others are read when they are called for."""

MAX_PENDING = 1_000
"""Of how many answers it is looked up what became of them, where no event was heard."""

_log = get_logger("nexus_tools.registry.tool_access")


@dataclass(frozen=True, slots=True)
class _Open:
    """An invocation that no leader has closed."""

    tool: Address
    leaders: tuple[Address, ...]
    expires_at_ms: int
    signers: Collection[bytes]
    """The keys of which one has to sign the answer; with none, nobody has to."""


class ServedTools:
    """The tools of a server, by their FQNs, as they are on chain; registered or not.

    The server does about signatures what `signatures` says, but for what the chain says: see
    `following`.
    """

    def __init__(
        self,
        client: SuiClient,
        deployment: Deployment,
        fqns: Sequence[ToolFqn | str],
        signatures: Signatures,
    ) -> None:
        registry = deployment.tool_registry
        self._client = client
        self._deployment = deployment
        self._signatures = signatures
        parsed = [ToolFqn.parse(str(fqn)) for fqn in fqns]
        self._ids = {str(fqn): tool_id(registry, fqn) for fqn in parsed}
        self._tools: dict[str, Tool] = {}
        self._signers: dict[str, frozenset[bytes]] = {}
        self._leaders: dict[Address, Leader] = {}
        self._invocations: OrderedDict[Address, _Open] = OrderedDict()
        self._wanted = asyncio.Event()
        self._is_changed = False
        self._waiting: list[tuple[str, asyncio.Future[NexusError | None]]] = []

    # --- What a server asks

    @property
    def signatures(self) -> Signatures:
        """What the server does, with the leaders that each tool accepts now.

        Where it requires signatures, it takes calls for open invocations alone.
        """
        is_required = self._signatures.mode == SignatureMode.REQUIRED
        return replace(
            self._signatures,
            leaders={fqn: partial(self._keys, fqn) for fqn in self._ids},
            look_again=self._look_again,
            authorize=self._authorize if is_required else None,
            is_believed=lambda fqn: self._can_sign(self._signers.get(fqn, ())),
        )

    def _can_sign(self, signers: Collection[bytes]) -> bool:
        """Whether the server signs with one of these; where there are none, nobody has to."""
        key = self._signatures.key
        return not signers or (key is not None and key.public_key in signers)

    def _keys(self, fqn: str, signer: str) -> tuple[bytes, ...] | None:
        """The keys of a leader that the tool accepts.

        One that wants no new invocations still has to close those that name it; one whose
        collateral is not whole can close none.
        """
        tool, address = self._tools.get(fqn), _address(signer)
        leader = None if address is None else self._leaders.get(address)
        if tool is None or leader is None or not tool.accepts(leader.id):
            return None
        keys: tuple[bytes, ...] = leader.keys.keys
        return keys if leader.collateral.is_whole else None

    async def _look_again(self, signer: str) -> None:
        """Wait for the next reading, in which the signer may be found, or its key.

        Anybody can ask for it with a name that nobody has: all who wait have the same reading.
        Raises `NotReadyError` if the node is away or slow, or too many wait: the chain said nothing
        about this key, so the caller comes again.
        """
        if len(self._waiting) >= MAX_WAITING:
            raise NotReadyError("the server looks for too many keys at the same time")
        looked = asyncio.get_running_loop().create_future()
        self._waiting.append((signer, looked))
        self._wanted.set()
        try:
            async with asyncio.timeout(PATIENCE_S):
                error = await looked
        except TimeoutError as error:
            raise NotReadyError("the server reads the chain too slowly") from error
        if error is not None:
            raise _away() from error

    async def _authorize(self, fqn: str, call: Call) -> None:
        """Refuse a call unless an open invocation of the tool names the leader.

        Raises `NotAuthorizedError`, or `NotReadyError` while the node does not know it.
        """
        invocation, leader = _address(call.invocation or ""), _address(call.leader or "")
        if invocation is None or leader is None:
            raise NotAuthorizedError("the call names no invocation on chain")
        found = self._invocations.get(invocation)
        if found is None or not self._can_sign(found.signers):
            found = await self._read_invocation(invocation)
        if found.tool != self._ids[fqn] or leader not in found.leaders:
            raise NotAuthorizedError(f"{invocation} does not name this tool and this leader")
        # The chain decides; it is asked only where its clock would have to be behind.
        if found.expires_at_ms <= time() * 1_000 and found.expires_at_ms <= await self._now_ms():
            raise NotAuthorizedError(f"no leader can close {invocation} any more")
        if not self._can_sign(found.signers):
            raise NotReadyError(f"{invocation} was requested when the tool had other keys")

    async def _now_ms(self) -> int:
        try:
            return await self._client.now_ms()
        except NexusError as error:
            raise _away() from error

    async def _read_invocation(self, invocation: Address) -> _Open:
        try:
            value = await self._client.object(invocation)
            found = None if value is None else self._deployment.decode(value, Invocation)
        except ValidationError as error:
            raise NotAuthorizedError(f"{invocation} is no invocation") from error
        except NexusError as error:
            raise _away() from error
        if found is None:
            raise NotReadyError(f"the node of the server has no invocation {invocation} yet")
        if found.is_closed:
            raise NotAuthorizedError(f"{invocation} is closed")
        return _Open(found.tool, found.leaders, found.expires_at_ms, found.signers)

    # --- What the chain says

    async def _read(self, *, everything: bool) -> None:
        """Read the tools and the leaders that they list, and those that somebody waits for.

        With `everything`, all others that are known, too. Raises `UnreachableError`.
        """
        waiting, self._waiting = self._waiting, []
        failed: NexusError | None = None
        try:
            await self._read_tools()
            await self._read_leaders([signer for signer, _ in waiting], everything=everything)
            if everything:
                await self._read_closed()
        except NexusError as error:
            failed = error
            raise
        finally:
            for _, looked in waiting:
                if not looked.done():
                    looked.set_result(failed)

    async def _read_tools(self) -> None:
        found = await self._client.objects(list(self._ids.values()))
        self._tools = {
            fqn: self._deployment.decode(value, Tool)
            for fqn, value in zip(self._ids, found, strict=True)
            if value is not None
        }
        for fqn, tool in self._tools.items():
            self._know_signers(fqn, frozenset(tool.keys.keys))

    def _know_signers(self, fqn: str, signers: frozenset[bytes]) -> None:
        """The keys of a tool are these; if ours is none, no leader can use what we sign.

        Answers that are open were given when it was one, or in the moment until we heard: an
        honest leader that had its answer in that moment fails the invocation, and is not to blame.
        A thief gains what is open then, and no leader can bring about that a tool loses its key.
        """
        self._signers[fqn] = signers
        if not self._can_sign(signers):
            found = self._invocations.items()
            given = [str(each) for each, it in found if it.tool == self._ids[fqn]]
            self._signatures.answers.excuse(given)

    async def _read_leaders(self, asked: Sequence[str], *, everything: bool) -> None:
        tools = self._tools.values()
        known = self._leaders
        listed = [leader for tool in tools for leader in tool.leaders.entries]
        others = [*map(_address, asked), *(known if everything else ())]
        wanted = [each for each in others if each and any(tool.accepts(each) for tool in tools)]
        ids = list(dict.fromkeys((*listed, *wanted)))
        read: dict[Address, Leader] = {}
        for address, value in zip(ids, await self._client.objects(ids), strict=True):
            with suppress(ValidationError):  # strangers name what is no leader
                if value is not None:
                    read[address] = self._deployment.decode(value, Leader)
        kept = {} if everything else {each: known[each] for each in known if each not in ids}
        self._leaders = dict([*read.items(), *kept.items()][: len(listed) + MAX_LEADERS])

    async def _read_closed(self) -> None:
        """See what became of answers while nobody listened. Of a deleted invocation none knows."""
        pending = map(_address, self._signatures.answers.pending(MAX_PENDING))
        for value in await self._client.objects([each for each in pending if each]):
            with suppress(ValidationError):  # where no chain is asked, leaders name what they like
                found = value and self._deployment.decode(value, Invocation)
                if found and found.is_closed:
                    self._close(found.id, found.state)

    def _close(self, invocation: Address, state: object) -> None:
        """An invocation was closed, as its state or an event says."""
        self._invocations.pop(invocation, None)
        answers = self._signatures.answers
        match state:
            case State.Settled() | InvocationSettled():
                answers.settled(str(invocation))
            case State.Failed(reason=reason) | InvocationFailed(reason=reason):
                answers.unpaid(str(invocation), reason)
            case State.Expired() | InvocationExpired():
                answers.unpaid(str(invocation), "expired")

    def _check_signatures(self) -> None:
        """Raise `signatures_needed` if a tool has a price and anybody could call it."""
        priced = [fqn for fqn, tool in self._tools.items() if tool.price_mist]
        if priced and self._signatures.mode != SignatureMode.REQUIRED:
            raise UsageError(
                "signatures_needed",
                f"{', '.join(priced)} asks for a price, and anybody could call it",
                hint="serve it with --signatures required, or set its price to 0",
            )

    def _check_keys(self) -> None:
        """Say of which tools the key is not on chain: Leaders would refuse what it signs."""
        for fqn, signers in self._signers.items():
            if not self._can_sign(signers):
                hint = "add the key to the tool on chain, or serve it with one that is there"
                _log.error("key_not_on_chain", tool=fqn, hint=hint)

    # --- Following it

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """The time in which the chain is followed, once it was read.

        Raises `signatures_needed` or `UnreachableError`.
        """
        await self._read(everything=True)
        self._check_signatures()
        self._check_keys()
        tasks = [asyncio.create_task(self._read_on()), asyncio.create_task(self._listen())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read_on(self) -> None:
        while True:
            everything = False
            try:
                async with asyncio.timeout(READ_AGAIN_S):
                    await self._wanted.wait()
            except TimeoutError:
                everything = True
            self._wanted.clear()
            everything, self._is_changed = everything or self._is_changed, False
            try:
                await self._read(everything=everything)
                if everything:
                    self._check_keys()
                    self._check_signatures()
            except UsageError as error:
                _log.error(error.code, error=error.message, hint=error.hint)
            except NexusError as error:
                _log.warning("tools_not_read", code=error.code, error=error.message)
                if everything:
                    self._change()
            await asyncio.sleep(PAUSE_S)

    async def _listen(self) -> None:
        kinds = event_filter(self._deployment)
        while True:
            try:
                async with aclosing(follow_events(self._client, kinds)) as items:
                    is_first = True
                    async for item in items:
                        if is_first:  # until now nobody listened
                            is_first = False
                            self._change()
                        if isinstance(item, EventRecord):
                            self._hear(parse_event(self._deployment, item.event))
            except NexusError as error:
                _log.warning("listening_interrupted", code=error.code, error=error.message)
                await asyncio.sleep(PAUSE_S)

    def _hear(self, event: object) -> None:
        names = ("tool", "leader", "object")
        subject = next(filter(None, (getattr(event, name, None) for name in names)), None)
        if subject not in self._leaders and subject not in self._ids.values():
            return
        match event:
            case InvocationRequested():
                signers = event.signers
                opened = _Open(event.tool, event.leaders, event.expires_at_ms, signers)
                self._invocations[event.invocation] = opened
                if len(self._invocations) > MAX_INVOCATIONS:
                    self._invocations.popitem(last=False)
            case InvocationSettled() | InvocationFailed() | InvocationExpired():
                self._close(event.invocation, event)
            case ToolKeyChanged(fqn=fqn, key=key, valid=is_valid):
                # At once, and not when it is read: events of closed invocations come behind it.
                others = self._signers.get(fqn, frozenset()) - {key}
                self._know_signers(fqn, others | {key} if is_valid else others)
                self._change()
            case ToolTakenOver(fqn=fqn):
                self._know_signers(fqn, frozenset())
                self._change()
            case _:
                self._change()

    def _change(self) -> None:
        self._is_changed = True
        self._wanted.set()


def _away() -> NotReadyError:
    return NotReadyError("the server does not reach the chain")


def _address(text: str) -> Address | None:
    """An id in the one spelling that names it; None for all else."""
    with suppress(ValidationError):
        address = Address.parse(text)
        return address if str(address) == text else None
    return None
