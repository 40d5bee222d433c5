"""Invocations: requesting them, waiting for their outcomes, and closing them."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from nexus_tools.contracts import (
    PackageClient,
    Sent,
    event_filter,
    parse_event,
    ports_of,
)
from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import (
    NexusError,
    NotFoundError,
    NotNowError,
    UsageError,
    ValidationError,
)
from nexus_tools.registry.invocations.answer_validation import invalid_answers
from nexus_tools.registry.invocations.commands import add_outcome, add_request, quote_mist
from nexus_tools.registry.invocations.history import (
    History,
    Step,
    read_closings,
    read_history,
    unknown_invocation,
)
from nexus_tools.registry.leaders.leader_registry import LeaderName, LeaderRegistry
from nexus_tools.registry.leaders.records import MAX_NAMED, draw_leaders
from nexus_tools.registry.tools.registration import how_to_revive
from nexus_tools.sui.client import (
    WENT_BACK,
    EventFilter,
    EventRecord,
    follow_events,
    past_events,
)
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome, outcome_bytes

Closing = InvocationSettled | InvocationFailed | InvocationExpired
"""An event that closes an invocation."""

DEFAULT_OUTCOME_BYTES = 4_096
"""How large an outcome may be if nobody says so."""

LEAST_OUTCOME_BYTES = outcome_bytes(Answer("x", {}))
"""What the smallest answer takes: a variant of one letter, without ports."""

# How long after the last window a node may take to tell that the invocation was closed in it.
_GRACE_S = 10.0


def outcome_of(invocation: Invocation) -> Outcome:
    """What a closed invocation came to, with the places of values outside the chain.

    Raises `not_closed`, or `json_invalid` for what an on-chain tool wrote.
    The detail of a failure is in its event alone: see `Invocations.outcome`.
    """
    match invocation.state:
        case State.Settled(variant, ports):
            return Answer(variant, ports.with_places())
        case State.Failed(reason):
            return Failure(FailureReason(reason), "")
        case State.Expired():
            return Failure(FailureReason.EXPIRED, "no leader closed the invocation in time")
        case State.Requested():
            raise NotNowError("not_closed", f"the invocation {invocation.id} is not closed yet")


class InvocationFailedError(NexusError):
    """An invocation came to a failure; `failure` has the reason and a detail for people."""

    def __init__(self, invocation: Address, failure: Failure) -> None:
        self.invocation = invocation
        self.failure = failure
        detail = f": {one_line(failure.detail)}" if failure.detail else ""
        super().__init__(
            "invocation_failed",
            f"the invocation failed, {failure.reason}{detail}",
            details={"invocation": str(invocation), "reason": failure.reason.value},
        )


@checks_arguments
class Invocations(PackageClient):
    """The invocations of a deployment, for those who request them; anyone may `expire` one."""

    async def quote(
        self, tool: Tool, inputs: Mapping[str, Any], max_outcome_bytes: int = DEFAULT_OUTCOME_BYTES
    ) -> int:
        """What an invocation costs at most, in MIST."""
        settings = await self._leaders.settings()
        return await self._quote(settings, tool, ports_of(inputs), max_outcome_bytes)

    async def _quote(
        self, settings: LeaderSettings, tool: Tool, inputs: Ports, max_outcome_bytes: int
    ) -> int:
        gas_price = await self.client.gas_price()
        return quote_mist(settings, tool, inputs.size(), max_outcome_bytes, gas_price)

    async def leaders_for(
        self, tool: Tool, among: Sequence[LeaderName] = ()
    ) -> tuple[Address, ...]:
        """One or two leaders that an invocation of a tool can name.

        The first ones of `among`, a list of one's own with ids or names, that the tool accepts and
        that are active; without it, drawn from all such leaders by their records. Raises
        `tool_not_active` or `no_leader`, and as `LeaderRegistry.ids`.
        """
        if not tool.is_active:
            raise NotNowError(
                "tool_not_active",
                f"{tool.fqn} is {tool.state}: it takes no invocation",
                hint=f"its owner has to {how_to_revive(tool, as_owner=False)}",
            )
        if among or not tool.open:
            ids = await self._leaders.ids(among) if among else tool.leaders.entries
            found = await self._leaders.find_all(ids, Leader)
        else:
            found = [*await self._leaders.list()]
        possible = [each for each in found if each and each.is_active and tool.accepts(each.id)]
        if among:
            chosen = tuple(each.id for each in possible[:MAX_NAMED])
        elif len(possible) <= 1:
            chosen = tuple(each.id for each in possible)
        else:
            chosen = await draw_leaders(self, possible)
        if not chosen:
            raise NotNowError(
                "no_leader",
                f"no active leader that {tool.fqn} accepts"
                + (" is among those that are named" if among else " is there"),
                hint=f"`nexus-tools leader list --for {tool.fqn}` shows whom it accepts:"
                " one of them has to be active",
            )
        return chosen

    async def request(
        self,
        tool: Tool,
        inputs: Mapping[str, Any],
        *,
        leaders: Sequence[LeaderName] = (),
        max_outcome_bytes: int | None = None,
        max_cost_mist: int | None = None,
    ) -> tuple[Sent, Address]:
        """Request an invocation and prepay it; gives its id.

        `inputs` are JSON values by port name; whether they fit the tool's schema is checked by the
        leader. `leaders` is a list of one's own, as `leaders_for` takes it. The outcome may have
        `DEFAULT_OUTCOME_BYTES`, or as many as the tool asks for, if nothing else is said. The
        requester consents to the tool as it is given here. Raises `tool_not_active`, `no_leader`,
        `too_expensive`, `inputs_too_large`, `outcome_limit_too_large`, `outcome_limit_too_small`
        or, if something was changed at the same moment, `tool_changed`,
        `settings_changed` or `wrong_payment`.
        """
        named = await self.leaders_for(tool, leaders)
        if max_outcome_bytes is None:
            max_outcome_bytes = max(DEFAULT_OUTCOME_BYTES, tool.min_outcome_bytes)
        settings, ports = await self._leaders.settings(), ports_of(inputs)
        if max_outcome_bytes < LEAST_OUTCOME_BYTES:
            raise ValidationError(
                "outcome_limit_too_small",
                f"no answer fits into {max_outcome_bytes} bytes",
                hint=f"an answer of one letter, without ports, takes {LEAST_OUTCOME_BYTES}",
            )
        cost_mist = await self._quote(settings, tool, ports, max_outcome_bytes)
        if max_cost_mist is not None and cost_mist > max_cost_mist:
            raise NotNowError(
                "too_expensive",
                f"the invocation costs {sui(cost_mist)}, and may cost {sui(max_cost_mist)}",
                hint="raise the limit, or ask for a smaller outcome",
            )
        builder = TransactionBuilder()
        add_request(
            builder,
            self.deployment,
            settings,
            tool,
            named,
            inputs=ports,
            max_outcome_bytes=max_outcome_bytes,
            payment_mist=cost_mist,
        )
        sent = await self.send(builder)
        return sent, self.emitted(sent, InvocationRequested).invocation

    async def outcome(self, invocation: Address) -> Outcome:
        """What a closed invocation came to, with the detail of a failure.

        Raises `invocation_unknown`, `not_closed`, or `output_invalid` for an answer that breaks the
        tool's output schema: see `OutputInvalidError`.
        """
        value = await self.client.object(invocation)
        if value is None:
            raise unknown_invocation(invocation)
        found = self.deployment.decode(value, Invocation)
        for error in (await invalid_answers(self, [found])).values():
            raise error
        outcome = outcome_of(found)
        if isinstance(outcome, Answer) or outcome.reason is FailureReason.EXPIRED:
            return outcome
        failed = await self._closing(value)
        detail = failed.detail if isinstance(failed, InvocationFailed) else ""
        return Failure(outcome.reason, detail)

    async def closing(self, invocation: Address) -> Closing | None:
        """The event that closed an invocation, which tells of the fee and of what came back.

        None while it is open, and where the node has forgotten the transaction. Raises
        `invocation_unknown`.
        """
        value = await self.client.object(invocation)
        if value is None:
            raise unknown_invocation(invocation)
        return await self._closing(value)

    async def _closing(self, value: Object) -> Closing | None:
        # A closed invocation never changes again: what closed it was the last to touch it.
        closing = await self.client.transaction(value.previous_transaction)
        for event in closing.events if closing else ():
            parsed = parse_event(self.deployment, event)
            if isinstance(parsed, Closing) and parsed.invocation == value.id:
                return parsed
        return None

    async def get(self, invocation: Address) -> Invocation:
        """An invocation as it is now. Raises `invocation_unknown`."""
        found = self.decoded(await self.client.object(invocation), Invocation)
        if found is None:
            raise unknown_invocation(invocation)
        return found

    async def history(self, invocation: Address) -> History:
        """What happened to an invocation, also to a deleted one. Raises `invocation_unknown`."""
        return await read_history(self, invocation)

    async def closings(self, requester: Address, last: int) -> tuple[Step, ...]:
        """How the `last` invocations of an address that are closed were, the newest first."""
        return await read_closings(self, requester, last)

    async def mine(self, requester: Address | None = None) -> tuple[Invocation, ...]:
        """The invocations of an address that are not deleted, the oldest first.

        Without one, the wallet's. They are found by the events of their requests, so a node tells
        of those that it keeps events of.
        """
        address = requester or self.client.address
        asked = past_events(self.client, event_filter(self.deployment, InvocationRequested))
        requested = [parse_event(self.deployment, record.event) async for record in asked]
        ids = [
            each.invocation
            for each in requested
            if isinstance(each, InvocationRequested) and each.requester == address
        ]
        found = await self.find_all(ids, Invocation)
        return tuple(invocation for invocation in found if invocation is not None)

    async def wait(self, invocation: Address) -> Outcome:
        """What an invocation came to, once it is closed.

        Raises `invocation_unknown`, `output_invalid` as `outcome` does, or `not_closed` when no
        leader can close it any more: then `delete` brings back what was prepaid.
        """
        found = await self.get(invocation)
        left_ms = found.expires_at_ms - await self.client.now_ms()
        try:
            async with asyncio.timeout(max(0, left_ms) / 1_000 + _GRACE_S):
                await self.closed(invocation)
                return await self.outcome(invocation)
        except TimeoutError as error:
            raise NotNowError(
                "not_closed",
                f"no leader closed the invocation {invocation} in time: is one running?",
                hint=f"`nexus-tools tool outcome {invocation} --delete` takes the refund",
                details={"invocation": str(invocation)},
            ) from error

    async def closed(self, invocation: Address) -> Invocation:
        """The invocation once it is closed, however long that takes.

        Bound it with `asyncio.timeout`. Raises `invocation_unknown`.
        """
        kinds = event_filter(
            self.deployment, InvocationSettled, InvocationFailed, InvocationExpired
        )
        while True:
            try:
                return await self._closed(invocation, kinds)
            except NotFoundError as error:
                if error.code != WENT_BACK:
                    raise  # else it is looked for on the chain as it is now

    async def _closed(self, invocation: Address, kinds: EventFilter) -> Invocation:
        looked = False
        async with aclosing(follow_events(self.client, kinds)) as items:
            async for item in items:
                if looked and not self._is_closing(item, invocation):
                    continue
                looked = True  # what happens after this look is followed
                found = await self.get(invocation)
                if found.is_closed:
                    return found
        raise AssertionError("events are followed without end")

    def _is_closing(self, item: object, invocation: Address) -> bool:
        if not isinstance(item, EventRecord):
            return False
        closed = parse_event(self.deployment, item.event)
        return getattr(closed, "invocation", None) == invocation

    async def expire(self, invocation: Address) -> Sent:
        """Close an invocation that no leader closed in time. Raises `closed` or `not_expired`."""
        found = await self.get(invocation)
        return await self.call(calls.expire, invocation, possible_at_ms=found.expires_at_ms)

    async def delete(self, *invocations: Address) -> Sent:
        """Delete invocations for their storage rebate; what nobody closed in time expires first.

        What was prepaid and not spent has come back when they were closed. Raises
        `nothing_to_delete`, `invocation_unknown`, `not_requester` or `not_expired`.
        """
        if not invocations:
            raise UsageError(
                "nothing_to_delete", "no invocation was named", hint="name at least one"
            )
        builder, package = TransactionBuilder(), self.deployment.package
        found = await self.find_all(invocations, Invocation)
        for place, each in zip(invocations, found, strict=True):
            if each is None:
                raise unknown_invocation(place)
            if not each.is_closed:
                calls.expire(builder, package, place)
            calls.delete(builder, package, place)
        pending = [each.expires_at_ms for each in found if each and not each.is_closed]
        return await self.send(builder, possible_at_ms=max(pending, default=None))

    async def close(
        self,
        leader: Address,
        outcomes: Mapping[Address, Outcome],
        *,
        budget: int | None = None,
    ) -> Sent:
        """As a worker of this leader, close invocations in one transaction.

        Those that are closed already or that nobody can close any more are passed over, without an
        event. With a `budget` in MIST it is not simulated first.

        Raises `nothing_to_close`, `not_responsible`, `not_worker`, `leader_suspended`, `too_early`,
        `outcome_too_large`, `not_signed`, `wrong_key` or `wrong_signature`.
        """
        if not outcomes:
            raise UsageError(
                "nothing_to_close", "no invocation was named", hint="name at least one"
            )
        builder = TransactionBuilder()
        for invocation, outcome in outcomes.items():
            add_outcome(builder, self.deployment, invocation, leader, outcome)
        return await self.send(builder, budget=budget)

    @property
    def _leaders(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)


def _nothing_named(code: str) -> UsageError:
    return UsageError(code, "no invocation is named", hint="name at least one")
