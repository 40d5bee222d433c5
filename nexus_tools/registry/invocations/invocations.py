"""Invocations, with methods to request, await, close and delete them."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import Any

from nexus_tools.contracts import PackageClient, Sent, event_filter, parse_event, ports_of
from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import (
    NotFoundError,
    UsageError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.registry.invocations.answer_validation import validate_answers
from nexus_tools.registry.invocations.commands import add_outcome, add_request, quote_mist
from nexus_tools.registry.invocations.history import (
    InvocationHistory,
    Step,
    find_closing,
    invocation_unknown_error,
    read_closings,
    read_history,
)
from nexus_tools.registry.invocations.listing import read_invocations, read_pending_attempts
from nexus_tools.registry.invocations.outcomes import outcome_of
from nexus_tools.registry.leaders.leader_registry import LeaderRegistry
from nexus_tools.registry.leaders.listing import LeaderRef
from nexus_tools.registry.leaders.selection import LeaderChoice, LeaderSelection
from nexus_tools.registry.pages import PAGE_SIZE, Page
from nexus_tools.registry.tools.registration import reactivation_hint
from nexus_tools.sui.client import (
    CHAIN_ROLLED_BACK,
    Cursor,
    EventFilter,
    EventRecord,
    follow_events,
)
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.support.units import sui
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object
from nexus_tools.tool import Answer, Failure, FailureReason, Outcome, outcome_bytes

Closing = InvocationSettled | InvocationFailed | InvocationExpired
"""An event that closes an invocation."""

DEFAULT_MAX_OUTCOME_BYTES = 4_096
"""The default limit on the size of an outcome."""

MIN_OUTCOME_BYTES = outcome_bytes(Answer("x", {}))
"""The size in bytes of the smallest answer, with a variant of one letter and no ports."""

# The time after the deadline in which a node may still report that a leader closed the invocation.
_GRACE_S = 10.0


@validate_arguments
class Invocations(PackageClient):
    """The operations on invocations for requesters. Anyone may call `expire`."""

    async def quote(
        self,
        tool: Tool,
        inputs: Mapping[str, Any],
        max_outcome_bytes: int = DEFAULT_MAX_OUTCOME_BYTES,
    ) -> int:
        """Return the maximum cost of an invocation in MIST."""
        settings = await self._leaders.settings()
        return await self._quote(settings, tool, ports_of(inputs), max_outcome_bytes)

    async def _quote(
        self, settings: LeaderSettings, tool: Tool, inputs: Ports, max_outcome_bytes: int
    ) -> int:
        gas_price = await self.client.gas_price()
        return quote_mist(settings, tool, inputs.size(), max_outcome_bytes, gas_price)

    async def choose_leaders(self, tool: Tool, among: Sequence[LeaderRef] = ()) -> LeaderChoice:
        """Return one or two leaders that an invocation of a tool can name.

        A leader qualifies if it is active and the tool accepts it. If `among` lists IDs or names,
        the first qualified leaders in the list are returned. Otherwise, the candidates are up to 16
        random qualified leaders, and up to 4 that answered the wallet's newest requests. The method
        chooses among the candidates at random, weighted by their records. Closings that were read
        are used again for a minute. Raises `tool_not_active`, `no_leader`, and the errors of
        `LeaderRegistry.ids`.
        """
        if not tool.is_active:
            raise WrongStateError(
                "tool_not_active",
                f"{tool.fqn} is {tool.state} and does not accept invocations",
                hint=f"Ask its owner to {reactivation_hint(tool, as_owner=False)}.",
            )
        if among:
            named = await self._leaders.ids(among)
            choice = await self._selection.first_usable([*filter(tool.accepts, named)])
        else:
            accepted = None if tool.accepts_any_leader else tool.leaders.entries
            choice = await self._selection.draw(accepted)
        if not choice.leaders:
            raise WrongStateError(
                "no_leader",
                f"{tool.fqn} does not accept any active leader"
                + (" among the given leaders" if among else ""),
                hint=f"Run `nexus-tools leader list --tool {tool.fqn}` to see the accepted"
                " leaders.",
            )
        return choice

    async def request(
        self,
        tool: Tool,
        inputs: Mapping[str, Any],
        *,
        leaders: Sequence[LeaderRef] = (),
        max_outcome_bytes: int | None = None,
        max_cost_mist: int | None = None,
    ) -> tuple[Sent, Address]:
        """Request an invocation, prepay it, and return its ID.

        `inputs` maps port names to JSON values, which the leader validates against the tool's
        schema. `leaders` is the argument `among` of `choose_leaders`. The default of
        `max_outcome_bytes` is `DEFAULT_MAX_OUTCOME_BYTES`, or a larger minimum of the tool. The
        requester consents to the revision of `tool`.

        Raises `tool_not_active`, `no_leader`, `too_expensive`, `inputs_too_large`,
        `outcome_limit_too_large`, `outcome_limit_too_small` or, after a concurrent change,
        `tool_changed`, `settings_changed` or `wrong_payment`.
        """
        selected = (await self.choose_leaders(tool, leaders)).leaders
        if max_outcome_bytes is None:
            max_outcome_bytes = max(DEFAULT_MAX_OUTCOME_BYTES, tool.min_outcome_bytes)
        settings, ports = await self._leaders.settings(), ports_of(inputs)
        if max_outcome_bytes < MIN_OUTCOME_BYTES:
            raise ValidationError(
                "outcome_limit_too_small",
                f"the outcome limit of {max_outcome_bytes} bytes is too small for any answer",
                hint=f"The smallest possible answer takes {MIN_OUTCOME_BYTES} bytes: pass"
                f" --max-outcome-bytes {MIN_OUTCOME_BYTES} or more.",
            )
        cost_mist = await self._quote(settings, tool, ports, max_outcome_bytes)
        if max_cost_mist is not None and cost_mist > max_cost_mist:
            raise WrongStateError(
                "too_expensive",
                f"the invocation costs {sui(cost_mist)}, but the limit is {sui(max_cost_mist)}",
                hint="Ask the owner of the funds before you raise the limit, or request a smaller"
                " outcome.",
            )
        builder = TransactionBuilder()
        add_request(
            builder,
            self.deployment,
            settings,
            tool,
            selected,
            inputs=ports,
            max_outcome_bytes=max_outcome_bytes,
            payment_mist=cost_mist,
        )
        sent = await self.send(builder)
        return sent, self.emitted(sent, InvocationRequested).invocation

    async def outcome(self, invocation: Address) -> Outcome:
        """Return the outcome of a closed invocation, with the detail of a failure.

        Raises `invocation_unknown`, `not_closed`, or `OutputInvalidError` for an answer that
        violates the tool's output schema.
        """
        value = await self.client.object(invocation)
        if value is None:
            raise invocation_unknown_error(invocation)
        current = self.deployment.decode(value, Invocation)
        for error in (await validate_answers(self, [current])).values():
            raise error
        outcome = outcome_of(current)
        if isinstance(outcome, Answer) or outcome.reason is FailureReason.EXPIRED:
            return outcome
        closing = await self._closing(value)
        detail = closing.detail if isinstance(closing, InvocationFailed) else ""
        return Failure(outcome.reason, detail)

    async def closing_event(self, invocation: Address) -> Closing | None:
        """Return the event that closed an invocation, which contains the fee and the refund.

        The result is None while the invocation is open, or if the node has pruned the transaction.

        Raises `invocation_unknown`.
        """
        value = await self.client.object(invocation)
        if value is None:
            raise invocation_unknown_error(invocation)
        return await self._closing(value)

    async def _closing(self, value: Object) -> Closing | None:
        closing = await find_closing(self, value)
        return closing.event if closing and isinstance(closing.event, Closing) else None

    async def get(self, invocation: Address) -> Invocation:
        """Return the current state of an invocation. Raises `invocation_unknown`."""
        current = self.decode(await self.client.object(invocation), Invocation)
        if current is None:
            raise invocation_unknown_error(invocation)
        return current

    async def history(self, invocation: Address) -> InvocationHistory:
        """Return the events of an invocation, even of a deleted invocation.

        Raises `invocation_unknown`, or `history_missing` if the node has pruned some events.
        """
        return await read_history(self, invocation)

    async def recent_closings(self, requester: Address, last: int) -> tuple[Step, ...]:
        """Return the `last` closings among the newest requests of an address, newest first."""
        return await read_closings(self, requester, last)

    async def owned_by(
        self,
        requester: Address | None = None,
        *,
        closed: bool | None = None,
        limit: int = PAGE_SIZE,
        before: Cursor | None = None,
    ) -> Page[Invocation]:
        """Return a page of an address's invocations that are not deleted, newest first.

        The default is the address of the wallet. If `closed` is True or False, the page has only
        closed or only open invocations. Pass the field `next` of a page as `before` to read the
        next page. The page omits attempts of executions: see `pending_attempts`. It also omits
        invocations whose request events the node has pruned.
        """
        address = requester or self.client.address
        return await read_invocations(self, address, closed=closed, limit=limit, before=before)

    async def pending_attempts(self, owner: Address | None = None) -> tuple[Invocation, ...]:
        """Return the open invocations of the newest executions that an owner started.

        The default is the address of the wallet. The invocations are sorted, newest first.
        """
        return await read_pending_attempts(self, owner or self.client.address)

    async def wait(self, invocation: Address) -> Outcome:
        """Wait until an invocation is closed, and return its outcome.

        Raises `invocation_unknown`, `output_invalid` as `outcome` does, or `not_closed` when no
        leader can close the invocation any more. After `not_closed`, call `delete` to get the
        prepayment back.
        """
        current = await self.get(invocation)
        remaining_ms = current.expires_at_ms - await self.client.now_ms()
        try:
            async with asyncio.timeout(max(0, remaining_ms) / 1_000 + _GRACE_S):
                await self.wait_until_closed(invocation)
                return await self.outcome(invocation)
        except TimeoutError as error:
            start = ""
            if self.client.network.is_localnet:
                start = " Start a Leader on this localnet with `nexus-tools leader run`."
            raise WrongStateError(
                "not_closed",
                f"no leader closed the invocation {invocation} in time",
                hint=f"Run `nexus-tools leader list` to see which leaders miss invocations.{start}"
                f" Run `nexus-tools tool outcome {invocation} --delete` to get the refund.",
                details={"invocation": str(invocation)},
            ) from error

    async def wait_until_closed(self, invocation: Address) -> Invocation:
        """Wait until the invocation is closed, and return the closed invocation.

        To limit the wait, use `asyncio.timeout`. Raises `invocation_unknown`.
        """
        kinds = event_filter(
            self.deployment, InvocationSettled, InvocationFailed, InvocationExpired
        )
        while True:
            try:
                return await self._wait_until_closed(invocation, kinds)
            except NotFoundError as error:
                if error.code != CHAIN_ROLLED_BACK:
                    raise  # after a rollback, read the invocation again

    async def _wait_until_closed(self, invocation: Address, kinds: EventFilter) -> Invocation:
        has_read = False
        async with aclosing(follow_events(self.client, kinds)) as items:
            async for item in items:
                if has_read and not self._is_closing(item, invocation):
                    continue
                has_read = True  # later changes arrive as events
                current = await self.get(invocation)
                if current.is_closed:
                    return current
        raise AssertionError("events are followed without end")

    def _is_closing(self, item: object, invocation: Address) -> bool:
        if not isinstance(item, EventRecord):
            return False
        closed = parse_event(self.deployment, item.event)
        return getattr(closed, "invocation", None) == invocation

    async def expire(self, invocation: Address) -> Sent:
        """Expire an invocation that no leader closed in time.

        Raises `already_closed` or `not_expired`.
        """
        current = await self.get(invocation)
        return await self.call(calls.expire, invocation, possible_at_ms=current.expires_at_ms)

    async def delete(self, *invocations: Address) -> Sent:
        """Delete invocations for their storage rebate, and first expire the overdue invocations.

        The unused part of a prepayment was already refunded at the closing. Raises
        `nothing_to_delete`, `invocation_unknown`, `not_requester` or `not_expired`.
        """
        if not invocations:
            raise UsageError(
                "nothing_to_delete",
                "expected at least one invocation, got none",
                hint="Pass the ID of an invocation.",
            )
        builder, package = TransactionBuilder(), self.deployment.package
        objects = await self.find_all(invocations, Invocation)
        for invocation_id, current in zip(invocations, objects, strict=True):
            if current is None:
                raise invocation_unknown_error(invocation_id)
            if not current.is_closed:
                calls.expire(builder, package, invocation_id)
            calls.delete(builder, package, invocation_id)
        pending = [entry.expires_at_ms for entry in objects if entry and not entry.is_closed]
        return await self.send(builder, possible_at_ms=max(pending, default=None))

    async def close(
        self,
        leader: Address,
        outcomes: Mapping[Address, Outcome],
        *,
        budget: int | None = None,
    ) -> Sent:
        """Close invocations in one transaction, as a worker of this leader.

        If an invocation is already closed or past its deadline, the chain skips it without an
        event. If a `budget` in MIST is passed, the transaction is not simulated first.

        Raises `nothing_to_close`, `not_responsible`, `not_worker`, `leader_suspended`, `too_early`,
        `outcome_too_large`, `signature_or_call_required`, `wrong_key` or `invalid_signature`.
        """
        if not outcomes:
            raise UsageError(
                "nothing_to_close",
                "expected at least one invocation, got none",
                hint="Pass at least one outcome by its invocation's ID.",
            )
        builder = TransactionBuilder()
        for invocation, outcome in outcomes.items():
            add_outcome(builder, self.deployment, invocation, leader, outcome)
        return await self.send(builder, budget=budget)

    @cached_property
    def _selection(self) -> LeaderSelection:
        return LeaderSelection(self)

    @property
    def _leaders(self) -> LeaderRegistry:
        return LeaderRegistry(self.client, self.deployment, dry_run=self.dry_run)
