"""Invocations: requesting them, waiting for their outcomes, and closing them."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from nexus_tools.client import (
    WENT_BACK,
    EventFilter,
    EventRecord,
    follow_events,
    past_events,
)
from nexus_tools.errors import NexusError, NotFoundError, NotNowError
from nexus_tools.package import (
    Deployment,
    PackageClient,
    Sent,
    event_filter,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.package.move import invocation as calls
from nexus_tools.package.move.invocation import (
    Invocation,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
    State,
)
from nexus_tools.package.move.leader_registry import LeaderRegistry, LeaderSettings
from nexus_tools.package.move.tool import Tool
from nexus_tools.package.move.value import Ports
from nexus_tools.registry.invocation_history import (
    History,
    Step,
    read_closings,
    read_history,
    unknown_invocation,
)
from nexus_tools.registry.registration import REVIVAL
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome
from nexus_tools.units import sui

DEFAULT_OUTCOME_BYTES = 4_096
"""How large an outcome may be if nobody says so."""

# How long after the last window a node may take to tell that the invocation was closed in it.
_GRACE_S = 10.0


def quote_mist(
    settings: LeaderSettings, tool: Tool, input_bytes: int, max_outcome_bytes: int
) -> int:
    """What an invocation costs at most, in MIST, as `invocation::quote` says.

    `input_bytes` are `Ports.size()`; what the outcome does not use is part of the refund.
    """
    return (
        tool.price_mist
        + settings.settle_fee_mist
        + settings.fee_per_input_byte_mist * input_bytes
        + settings.fee_per_outcome_byte_mist * max_outcome_bytes
    )


def add_request(
    builder: TransactionBuilder,
    deployment: Deployment,
    tool: Tool,
    inputs: Ports,
    *,
    max_outcome_bytes: int,
    payment_mist: int,
) -> None:
    """The commands that request one invocation, paid from the gas coin."""
    payment = builder.split_coins(builder.gas, [payment_mist])[0]
    ports = make_ports(builder, deployment.package, inputs)
    leaders = deployment.leader_registry
    calls.request(builder, deployment.package, leaders, tool.id, ports, max_outcome_bytes, payment)


def add_outcome(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    cap: Address,
    outcome: Outcome,
) -> None:
    """The commands by which a leader closes one invocation; its fee goes to the gas coin.

    Any number fit into one transaction, which then succeeds or fails as a whole.
    """
    closed = deployment.package, invocation, cap, deployment.leader_registry
    if isinstance(outcome, Failure):
        fee = calls.fail(builder, *closed, outcome.reason, outcome.detail)
    else:
        ports = make_ports(builder, deployment.package, ports_of(outcome.ports))
        fee = calls.settle(builder, *closed, outcome.variant, ports)
    builder.merge_coins(builder.gas, [fee])


def outcome_bytes(outcome: Outcome) -> int:
    """The bytes of an outcome that count against `max_outcome_bytes`."""
    if isinstance(outcome, Failure):
        return len(outcome.detail.encode())
    return len(outcome.variant) + ports_of(outcome.ports).size()


def outcome_of(invocation: Invocation) -> Outcome:
    """What a closed invocation came to. Raises `not_closed`."""
    match invocation.state:
        case State.Settled(variant, ports):
            return Answer(variant, ports.as_json())
        case State.Failed(reason, detail):
            return Failure(FailureReason(reason), detail)
        case State.Expired():
            return Failure(FailureReason.EXPIRED, "no leader closed the invocation in time")
        case State.Requested():
            raise NotNowError("not_closed", f"the invocation {invocation.id} is not closed yet")


class InvocationFailedError(NexusError):
    """An invocation came to a failure; `failure` has the reason and a detail for people."""

    def __init__(self, invocation: Address, failure: Failure) -> None:
        self.invocation = invocation
        self.failure = failure
        detail = f": {failure.detail}" if failure.detail else ""
        super().__init__(
            "invocation_failed",
            f"the invocation failed, {failure.reason}{detail}",
            details={"invocation": str(invocation), "reason": failure.reason.value},
        )


class Invocations(PackageClient):
    """The invocations of a deployment, for those who request them; anyone may `expire` one."""

    async def quote(
        self, tool: Tool, inputs: Mapping[str, Any], max_outcome_bytes: int = DEFAULT_OUTCOME_BYTES
    ) -> int:
        """What an invocation costs at most, in MIST."""
        settings = (await self._leaders()).settings
        return quote_mist(settings, tool, ports_of(inputs).size(), max_outcome_bytes)

    async def request(
        self,
        tool: Tool,
        inputs: Mapping[str, Any],
        *,
        max_outcome_bytes: int = DEFAULT_OUTCOME_BYTES,
        max_cost_mist: int | None = None,
    ) -> tuple[Sent, Address]:
        """Request an invocation and prepay it; gives its id.

        `inputs` are JSON values by port name; whether they fit the tool's schema is checked by the
        leader. Raises `tool_not_active`, `no_leader`, `too_expensive`, `inputs_too_large`,
        `outcome_limit_too_large` or, if a price was raised at the same moment, `wrong_payment`.
        """
        if not tool.is_active:
            raise NotNowError(
                "tool_not_active",
                f"{tool.fqn} is {tool.state}: it takes no invocation",
                hint=f"its owner has to {REVIVAL[tool.state]}",
            )
        leaders = await self._leaders()
        if not leaders.active:
            raise NotNowError(
                "no_leader",
                "no leader is active",
                hint="try again later; `nexus-tools leader run` and `Nexus.leader` run one",
            )
        ports = ports_of(inputs)
        cost_mist = quote_mist(leaders.settings, tool, ports.size(), max_outcome_bytes)
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
            tool,
            ports,
            max_outcome_bytes=max_outcome_bytes,
            payment_mist=cost_mist,
        )
        sent = await self.send(builder)
        return sent, self.emitted(sent, InvocationRequested).invocation

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

        Raises `invocation_unknown`, or `not_closed` when no leader can close it any more: then
        `take_refund` brings back what was prepaid.
        """
        found = await self.get(invocation)
        left_ms = found.expires_at_ms - await self.client.now_ms()
        try:
            async with asyncio.timeout(max(0, left_ms) / 1_000 + _GRACE_S):
                return outcome_of(await self.closed(invocation))
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

    async def take_refund(self, invocation: Address) -> Sent:
        """Delete an invocation for its refund; one that no leader closed expires first.

        Raises `invocation_unknown`, `not_requester` or `not_expired`.
        """
        found = await self.get(invocation)
        builder = TransactionBuilder()
        if not found.is_closed:
            calls.expire(builder, self.deployment.package, invocation)
        self._add_deletion(builder, invocation)
        return await self.send(builder, possible_at_ms=found.expires_at_ms)

    async def delete(self, *invocations: Address) -> Sent:
        """Delete closed invocations and take their refunds, into the gas coin.

        Raises `not_requester` or `not_closed`.
        """
        builder = TransactionBuilder()
        self._add_deletion(builder, *invocations)
        return await self.send(builder)

    def _add_deletion(self, builder: TransactionBuilder, *invocations: Address) -> None:
        package = self.deployment.package
        coins = [calls.delete(builder, package, each) for each in invocations]
        builder.merge_coins(builder.gas, coins)

    async def close(
        self,
        cap: Address,
        outcomes: Mapping[Address, Outcome],
        *,
        budget: int | None = None,
    ) -> Sent:
        """As the leader with this cap, close invocations in one transaction.

        With a `budget` in MIST it is not simulated first.

        Raises `closed`, `not_responsible`, `leader_suspended`, `too_early`, `too_late` or
        `outcome_too_large`.
        """
        builder = TransactionBuilder()
        for invocation, outcome in outcomes.items():
            add_outcome(builder, self.deployment, invocation, cap, outcome)
        return await self.send(builder, budget=budget)

    async def _leaders(self) -> LeaderRegistry:
        return await self.read(self.deployment.leader_registry, LeaderRegistry)
