"""A tool server's cache of the on-chain state of its tools, their leaders and open invocations.

Each event triggers a new read, and a periodic read covers missed events. While the node is
unreachable, the last state stays valid. A leader's key is accepted until a read finds that it was
removed on chain. Before the server rejects an unknown key, it reads the chain again.
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
    SignaturePolicy,
)

REREAD_INTERVAL_S = 60.0
"""The time between complete reads, unless an event triggers an earlier read."""

MIN_READ_INTERVAL_S = 0.5
"""The minimum pause between two reads, which limits the load on the node."""

PROOF_GRACE_S = 5.0
"""The maximum time for which a request with an unknown key waits for the next read."""

MAX_WAITING_REQUESTS = 256
"""The maximum number of requests that wait for a read. Further requests are rejected."""

MAX_LEADERS = 1_024
"""The maximum number of cached leaders for tools that accept any leader."""

MAX_INVOCATIONS = 10_000
"""The maximum number of invocations cached from events. Other invocations are read on demand."""

MAX_PENDING_ANSWERS = 1_000
"""The maximum number of pending answers that a complete read checks, if events were missed."""

_log = get_logger("nexus_tools.registry.tool_access")


@dataclass(frozen=True, slots=True)
class _OpenCall:
    """An invocation that no leader has closed."""

    tool: Address
    leaders: tuple[Address, ...]
    expires_at_ms: int
    signers: Collection[bytes]
    """The public keys, one of which must sign the answer, or empty without a signature."""


class ToolAccess:
    """The on-chain state of a server's tools by FQN. The tools may be unregistered.

    The parameter `signatures` is the server's configuration. The property `signatures` adds the
    on-chain keys. The state is valid only inside the context of `following`.
    """

    def __init__(
        self,
        client: SuiClient,
        deployment: Deployment,
        fqns: Sequence[ToolFqn | str],
        signatures: SignaturePolicy,
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
        self._invocations: OrderedDict[Address, _OpenCall] = OrderedDict()
        self._read_requested = asyncio.Event()
        self._is_changed = False
        self._waiting: list[tuple[str, asyncio.Future[NexusError | None]]] = []

    # --- Queries of the server

    @property
    def signatures(self) -> SignaturePolicy:
        """The server's configuration, with the leaders that each tool currently accepts.

        If signatures are required, the server accepts only calls for open invocations.
        """
        is_required = self._signatures.mode == SignatureMode.REQUIRED
        return replace(
            self._signatures,
            leaders={fqn: partial(self._keys, fqn) for fqn in self._ids},
            refresh_keys=self._wait_for_read,
            authorize=self._authorize if is_required else None,
            is_key_trusted=lambda fqn: self._can_sign(self._signers.get(fqn, ())),
        )

    def _can_sign(self, signers: Collection[bytes]) -> bool:
        """Return whether the server has one of these keys, or the list of keys is empty."""
        key = self._signatures.key
        return not signers or (key is not None and key.public_key in signers)

    def _keys(self, fqn: str, signer: str) -> tuple[bytes, ...] | None:
        """Return the keys of a leader that the tool accepts, or None.

        An inactive leader is accepted, because it must still close the invocations that name it. A
        leader with incomplete collateral is not accepted, because it cannot close invocations.
        """
        tool, address = self._tools.get(fqn), _address(signer)
        leader = None if address is None else self._leaders.get(address)
        if tool is None or leader is None or not tool.accepts(leader.id):
            return None
        keys: tuple[bytes, ...] = leader.keys.keys
        return keys if leader.collateral.is_sufficient else None

    async def _wait_for_read(self, signer: str) -> None:
        """Wait for the next read, which may find the signer or its key.

        Anyone can trigger a read with an unknown signer, so all waiting requests share one read.
        Raises `NotReadyError` if the node is unreachable or slow, or if too many requests wait. The
        caller should then retry, because the key may be valid.
        """
        if len(self._waiting) >= MAX_WAITING_REQUESTS:
            raise NotReadyError("too many requests wait for keys to be read from the chain")
        result = asyncio.get_running_loop().create_future()
        self._waiting.append((signer, result))
        self._read_requested.set()
        try:
            async with asyncio.timeout(PROOF_GRACE_S):
                error = await result
        except TimeoutError as error:
            raise NotReadyError("the server reads the chain too slowly") from error
        if error is not None:
            raise _unreachable() from error

    async def _authorize(self, fqn: str, call: Call) -> None:
        """Raise an error unless an open invocation of the tool names the leader.

        Raises `NotAuthorizedError`, or `NotReadyError` while the node does not have the invocation.
        """
        invocation, leader = _address(call.invocation or ""), _address(call.leader or "")
        if invocation is None or leader is None:
            raise NotAuthorizedError("the call does not name an on-chain invocation")
        opened = self._invocations.get(invocation)
        if opened is None or not self._can_sign(opened.signers):
            opened = await self._read_invocation(invocation)
        if opened.tool != self._ids[fqn] or leader not in opened.leaders:
            raise NotAuthorizedError(f"{invocation} does not name this tool and this leader")
        # The chain's clock decides, but query it only if the local time is after the deadline.
        if opened.expires_at_ms <= time() * 1_000 and opened.expires_at_ms <= await self._now_ms():
            raise NotAuthorizedError(f"the deadline of {invocation} has passed")
        if not self._can_sign(opened.signers):
            raise NotReadyError(f"{invocation} was requested when the tool had other keys")

    async def _now_ms(self) -> int:
        try:
            return await self._client.now_ms()
        except NexusError as error:
            raise _unreachable() from error

    async def _read_invocation(self, invocation: Address) -> _OpenCall:
        try:
            value = await self._client.object(invocation)
            current = None if value is None else self._deployment.decode(value, Invocation)
        except ValidationError as error:
            raise NotAuthorizedError(f"{invocation} is not an invocation") from error
        except NexusError as error:
            raise _unreachable() from error
        if current is None:
            raise NotReadyError(f"the server's node does not have the invocation {invocation} yet")
        if current.is_closed:
            raise NotAuthorizedError(f"{invocation} is closed")
        return _OpenCall(current.tool, current.leaders, current.expires_at_ms, current.signers)

    # --- Reading the chain

    async def _read(self, *, everything: bool) -> None:
        """Read the tools, the leaders that they list, and the signers of waiting requests.

        With `everything`, also read all other known leaders. Raises `UnreachableError`.
        """
        waiting, self._waiting = self._waiting, []
        failure: NexusError | None = None
        try:
            await self._read_tools()
            await self._read_leaders([signer for signer, _ in waiting], everything=everything)
            if everything:
                await self._read_closed()
        except NexusError as error:
            failure = error
            raise
        finally:
            for _, result in waiting:
                if not result.done():
                    result.set_result(failure)

    async def _read_tools(self) -> None:
        objects = await self._client.objects(list(self._ids.values()))
        self._tools = {
            fqn: self._deployment.decode(value, Tool)
            for fqn, value in zip(self._ids, objects, strict=True)
            if value is not None
        }
        for fqn, tool in self._tools.items():
            self._set_signers(fqn, frozenset(tool.keys.keys))

    def _set_signers(self, fqn: str, signers: frozenset[bytes]) -> None:
        """Set the keys of a tool. If they do not include the server's key, excuse pending answers.

        The server signed its pending answers with a key that was valid until now. The chain no
        longer accepts these signatures, so leaders must fail the invocations and are not to blame.
        An attacker can gain only the pending answers. A leader cannot remove a tool's key.
        """
        self._signers[fqn] = signers
        if not self._can_sign(signers):
            opened = self._invocations.items()
            excused = [str(key) for key, entry in opened if entry.tool == self._ids[fqn]]
            self._signatures.answers.excuse(excused)

    async def _read_leaders(self, signers: Sequence[str], *, everything: bool) -> None:
        tools = self._tools.values()
        previous = self._leaders
        listed = [leader for tool in tools for leader in tool.leaders.entries]
        candidates = [*map(_address, signers), *(previous if everything else ())]
        accepted = [id_ for id_ in candidates if id_ and any(tool.accepts(id_) for tool in tools)]
        ids = list(dict.fromkeys((*listed, *accepted)))
        current: dict[Address, Leader] = {}
        for leader_id, value in zip(ids, await self._client.objects(ids), strict=True):
            with suppress(ValidationError):  # the untrusted ID may not be a leader
                if value is not None:
                    current[leader_id] = self._deployment.decode(value, Leader)
        others = () if everything else previous
        retained = {leader_id: previous[leader_id] for leader_id in others if leader_id not in ids}
        self._leaders = dict([*current.items(), *retained.items()][: len(listed) + MAX_LEADERS])

    async def _read_closed(self) -> None:
        """Read the outcomes of pending answers, because their events may have been missed.

        The outcome of a deleted invocation stays unknown.
        """
        pending = map(_address, self._signatures.answers.pending(MAX_PENDING_ANSWERS))
        for value in await self._client.objects([address for address in pending if address]):
            with suppress(ValidationError):  # the untrusted ID may not be an invocation
                current = value and self._deployment.decode(value, Invocation)
                if current and current.is_closed:
                    self._close(current.id, current.state)

    def _close(self, invocation: Address, state: object) -> None:
        """Record the closing of an invocation. `state` is its on-chain state or a closing event."""
        self._invocations.pop(invocation, None)
        answers = self._signatures.answers
        match state:
            case State.Settled() | InvocationSettled():
                answers.mark_settled(str(invocation))
            case State.Failed(reason=reason) | InvocationFailed(reason=reason):
                answers.mark_unpaid(str(invocation), reason)
            case State.Expired() | InvocationExpired():
                answers.mark_unpaid(str(invocation), "expired")

    def _check_signatures(self) -> None:
        """Raise `signatures_needed` if a tool has a price and anyone could call it."""
        priced = [fqn for fqn, tool in self._tools.items() if tool.price_mist]
        if priced and self._signatures.mode != SignatureMode.REQUIRED:
            raise UsageError(
                "signatures_needed",
                f"{', '.join(priced)} has a price, but the server accepts unsigned calls",
                hint="Serve it with --signatures required, or set its price to 0.",
            )

    def _check_keys(self) -> None:
        """Log each tool without the server's on-chain key, because leaders reject its answers."""
        for fqn, signers in self._signers.items():
            if not self._can_sign(signers):
                hint = (
                    "Add the key to the tool on chain, or serve it with one of its on-chain keys."
                )
                _log.error("key_not_on_chain", tool=fqn, hint=hint)

    # --- Following the chain

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Read the chain once, and follow its events until the context exits.

        Raises `signatures_needed` or `UnreachableError`.
        """
        await self._read(everything=True)
        self._check_signatures()
        self._check_keys()
        tasks = [asyncio.create_task(self._read_forever()), asyncio.create_task(self._listen())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read_forever(self) -> None:
        while True:
            everything = False
            try:
                async with asyncio.timeout(REREAD_INTERVAL_S):
                    await self._read_requested.wait()
            except TimeoutError:
                everything = True
            self._read_requested.clear()
            everything, self._is_changed = everything or self._is_changed, False
            try:
                await self._read(everything=everything)
                if everything:
                    self._check_keys()
                    self._check_signatures()
            except UsageError as error:
                _log.error(error.code, error=error.message, hint=error.hint)
            except NexusError as error:
                _log.warning("tool_read_failed", code=error.code, error=error.message)
                if everything:
                    self._request_full_read()
            await asyncio.sleep(MIN_READ_INTERVAL_S)

    async def _listen(self) -> None:
        kinds = event_filter(self._deployment)
        while True:
            try:
                async with aclosing(follow_events(self._client, kinds)) as items:
                    is_first = True
                    async for item in items:
                        if is_first:  # events before the subscription were missed
                            is_first = False
                            self._request_full_read()
                        if isinstance(item, EventRecord):
                            self._handle_event(parse_event(self._deployment, item.event))
            except NexusError as error:
                _log.warning("event_stream_interrupted", code=error.code, error=error.message)
                await asyncio.sleep(MIN_READ_INTERVAL_S)

    def _handle_event(self, event: object) -> None:
        names = ("tool", "leader", "object")
        subject = next(filter(None, (getattr(event, name, None) for name in names)), None)
        if subject not in self._leaders and subject not in self._ids.values():
            return
        match event:
            case InvocationRequested():
                signers = event.signers
                opened = _OpenCall(event.tool, event.leaders, event.expires_at_ms, signers)
                self._invocations[event.invocation] = opened
                if len(self._invocations) > MAX_INVOCATIONS:
                    self._invocations.popitem(last=False)
            case InvocationSettled() | InvocationFailed() | InvocationExpired():
                self._close(event.invocation, event)
            case ToolKeyChanged(fqn=fqn, key=key, added=is_added):
                # Apply the change at once, because events of closed invocations may follow it.
                other_signers = self._signers.get(fqn, frozenset()) - {key}
                self._set_signers(fqn, other_signers | {key} if is_added else other_signers)
                self._request_full_read()
            case ToolTakenOver(fqn=fqn):
                self._set_signers(fqn, frozenset())
                self._request_full_read()
            case _:
                self._request_full_read()

    def _request_full_read(self) -> None:
        self._is_changed = True
        self._read_requested.set()


def _unreachable() -> NotReadyError:
    return NotReadyError("the server cannot reach the chain")


def _address(text: str) -> Address | None:
    """Return the address if the text is the canonical spelling of an address, else None."""
    with suppress(ValidationError):
        address = Address.parse(text)
        return address if str(address) == text else None
    return None
