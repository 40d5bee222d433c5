"""Invocations: requesting calls of tools and waiting for their outcomes, and closing them."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from nexus_tools.client import EventRecord, follow_events
from nexus_tools.errors import NotFoundError, NotNowError
from nexus_tools.registry.aborts import moment
from nexus_tools.registry.calls import invocation as calls
from nexus_tools.registry.calls.value import make_ports
from nexus_tools.registry.events import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
    event_filter,
    parse_event,
)
from nexus_tools.registry.objects import (
    INVOCATION,
    LEADER_REGISTRY,
    Invocation,
    LeaderRegistryObject,
    LeaderSettings,
    Ports,
    Tool,
    decode,
)
from nexus_tools.registry.package import Deployment
from nexus_tools.registry.package_client import PackageClient, Sent
from nexus_tools.registry.registration import REVIVAL
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.tool import Failure, Outcome

DEFAULT_OUTCOME_BYTES = 4_096
"""How large an outcome may be if nobody says so."""


def quote_mist(
    settings: LeaderSettings, tool: Tool, input_bytes: int, max_outcome_bytes: int
) -> int:
    """What an invocation costs at most, in MIST, as `invocation::quote` says.

    `input_bytes` are `Ports.size()`; what the outcome does not use is returned by `delete`.
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
    funds_mist: int,
) -> None:
    """The calls that request one invocation, paid from the gas coin."""
    funds = builder.split_coins(builder.gas, [funds_mist])[0]
    ports = make_ports(builder, deployment, inputs)
    calls.request(
        builder, deployment, tool.id, inputs=ports, max_outcome_bytes=max_outcome_bytes, funds=funds
    )


def add_outcome(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    cap: Address,
    outcome: Outcome | Failure,
) -> None:
    """The calls by which a leader closes one invocation; its fee goes to the gas coin.

    Any number fit into one transaction, which then succeeds or fails as a whole.
    """
    if isinstance(outcome, Failure):
        fee = calls.fail(
            builder, deployment, invocation, cap, reason=outcome.reason, detail=outcome.detail
        )
    else:
        ports = make_ports(builder, deployment, Ports.of(outcome.ports))
        fee = calls.settle(
            builder, deployment, invocation, cap, variant=outcome.variant, ports=ports
        )
    builder.merge_coins(builder.gas, [fee])


def outcome_bytes(outcome: Outcome | Failure) -> int:
    """The bytes of an outcome that count against `max_outcome_bytes`."""
    if isinstance(outcome, Failure):
        return len(outcome.detail.encode())
    return len(outcome.variant) + Ports.of(outcome.ports).size()


class Invocations(PackageClient):
    """The invocations of a deployment, for those who request them; anyone may `expire` one."""

    async def quote(
        self, tool: Tool, inputs: Mapping[str, Any], max_outcome_bytes: int = DEFAULT_OUTCOME_BYTES
    ) -> int:
        """What an invocation costs at most, in MIST."""
        settings = (await self._leaders()).settings
        return quote_mist(settings, tool, Ports.of(inputs).size(), max_outcome_bytes)

    async def request(
        self,
        tool: Tool,
        inputs: Mapping[str, Any],
        *,
        max_outcome_bytes: int = DEFAULT_OUTCOME_BYTES,
        max_cost_mist: int | None = None,
    ) -> tuple[Sent, Address]:
        """Request a call and prepay it; gives the id of the invocation.

        `inputs` are JSON values by port name; whether they fit the tool's schema is checked by the
        leader. Raises `tool_not_active`, `no_leader`, `too_expensive`, `inputs_too_large`,
        `outcome_limit_too_large` or, if a price was raised at the same moment, `wrong_funds`.
        """
        if not tool.is_active:
            raise NotNowError(
                "tool_not_active",
                f"{tool.fqn} is {tool.state}: it takes no invocation",
                hint=f"its owner has to {REVIVAL[tool.state]}",
            )
        leaders = await self._leaders()
        if not leaders.active:
            raise NotNowError("no_leader", "no leader is active", hint="try again later")
        ports = Ports.of(inputs)
        cost_mist = quote_mist(leaders.settings, tool, ports.size(), max_outcome_bytes)
        if max_cost_mist is not None and cost_mist > max_cost_mist:
            raise NotNowError(
                "too_expensive",
                f"the invocation costs {cost_mist} MIST, at most {max_cost_mist} are to be spent",
                hint="raise the limit, or ask for a smaller outcome",
            )
        builder = TransactionBuilder()
        add_request(
            builder,
            self.deployment,
            tool,
            ports,
            max_outcome_bytes=max_outcome_bytes,
            funds_mist=cost_mist,
        )
        sent = await self.send(builder)
        return sent, self.emitted(sent, InvocationRequested).invocation

    async def get(self, invocation: Address) -> Invocation:
        """An invocation as it is now. Raises `invocation_unknown`."""
        value = await self.client.object(invocation)
        if value is None:
            raise NotFoundError(
                "invocation_unknown",
                f"there is no invocation {invocation}",
                hint="it was deleted by its requester, or is one of another network",
            )
        return decode(value, self.deployment.type("invocation", "Invocation"), INVOCATION)

    async def wait(self, invocation: Address) -> Invocation:
        """The invocation once it is closed, however long that takes.

        Bound it with `asyncio.timeout`. Raises `invocation_unknown`.
        """
        kinds = event_filter(
            self.deployment, InvocationSettled, InvocationFailed, InvocationExpired
        )
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
        now_ms = await self.client.now_ms()
        if not found.is_closed and now_ms < found.expires_at_ms:
            raise NotNowError(
                "not_expired",
                f"a leader may still close the invocation: it expires at"
                f" {moment(found.expires_at_ms, now_ms)}",
                details={"expires_at_ms": found.expires_at_ms, "now_ms": now_ms},
            )
        builder = TransactionBuilder()
        calls.expire(builder, self.deployment, invocation)
        return await self.send(builder, possible_at_ms=found.expires_at_ms)

    async def delete(self, *invocations: Address) -> Sent:
        """Delete closed invocations and take back what was not spent, into the gas coin.

        Raises `not_requester` or `not_closed`.
        """
        builder = TransactionBuilder()
        coins = [calls.delete(builder, self.deployment, each) for each in invocations]
        builder.merge_coins(builder.gas, coins)
        return await self.send(builder)

    async def close(
        self,
        cap: Address,
        outcomes: Mapping[Address, Outcome | Failure],
        *,
        budget: int | None = None,
    ) -> Sent:
        """As the leader with this cap, close invocations in one transaction.

        With a `budget` in MIST it is not simulated first.

        Raises `closed`, `not_responsible`, `bond_slashed`, `too_early`, `too_late` or
        `outcome_too_large`.
        """
        builder = TransactionBuilder()
        for invocation, outcome in outcomes.items():
            add_outcome(builder, self.deployment, invocation, cap, outcome)
        return await self.send(builder, budget=budget)

    async def _leaders(self) -> LeaderRegistryObject:
        return await self.read(
            self.deployment.leader_registry, "leader_registry", "LeaderRegistry", LEADER_REGISTRY
        )
