"""Calls that go straight to a tool's URL, as carefully as a Leader's do."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from nexus_tools.bridges.mcp import Progress
from nexus_tools.cli.mcp.offers import Offer
from nexus_tools.errors import ValidationError
from nexus_tools.leader import AddressGuard, LeaderSettings
from nexus_tools.leader.answer import MAX_SETTLEMENT_BYTES
from nexus_tools.leader.guarded_transport import SystemResolver, guarded_client
from nexus_tools.leader.invoker import Invoker, ToolCall
from nexus_tools.leader.meta_check import MetaCheck
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import outcome_bytes
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome, canonical_json

# Until when attempts are repeated that reached nobody, in times of a tool's own timeout.
_PATIENCE = 2


def direct_settings(options: Mapping[str, Any]) -> LeaderSettings:
    """The settings for what `reach` says; no journal is kept. Raises `settings_invalid`."""
    given = {name: value for name, value in options.items() if value is not None}
    return LeaderSettings.load({}, journal=Path(), **given)


@asynccontextmanager
async def direct_calls(settings: LeaderSettings) -> AsyncIterator["DirectCalls"]:
    """The time in which tools can be called."""
    guard = AddressGuard(settings.allowed_networks, settings.allowed_ports, settings.allow_http)
    with closing(SystemResolver()) as resolve:
        client = guarded_client(guard, resolve, max_connections=settings.max_concurrent)
        async with client:
            now = asyncio.get_running_loop().time
            meta = MetaCheck(client, settings.meta_lifetime_ms / 1000, now)
            invoker = Invoker(settings, client, outcome_bytes, LeaderMetrics())
            yield DirectCalls(settings, guard, meta, invoker)


class DirectCalls:
    """Calls tools within a Leader's bounds: addresses, sizes, times, retries, both schemas.

    Nothing is written on chain, and nobody is paid.
    """

    def __init__(
        self, settings: LeaderSettings, guard: AddressGuard, meta: MetaCheck, invoker: Invoker
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._meta = meta
        self._invoker = invoker

    async def call(
        self,
        offer: Offer,
        ports: dict[str, Any],
        progress: Progress,  # noqa: ARG002 - there is nothing to tell before the answer
    ) -> Outcome | Failure:
        """What the tool answers.

        Raises `address_refused`, or `input_invalid` for ports that are too large.
        """
        definition, tool = offer.definition, offer.found.tool
        self._guard.check_url(definition.url)
        body = canonical_json(ports)
        if len(body) > self._settings.max_request_bytes:
            raise ValidationError("input_invalid", "the ports are too large")
        problem = await self._meta.problem(tool.id, offer.found.version, definition)
        if problem:
            return Failure(FailureReason.DEFINITION_MISMATCH, problem)
        answer = await self._invoker.invoke(_call(offer, body))
        return answer or Failure(FailureReason.TIMED_OUT, "the tool did not answer in time")


def _call(offer: Offer, body: bytes) -> ToolCall:
    """One call, under an id of its own: to the tool it looks like an invocation."""
    definition = offer.definition
    patience_s = _PATIENCE * definition.timeout_ms / 1000
    return ToolCall(
        invocation=Address(secrets.token_bytes(32)),
        tool=offer.found.tool.id,
        fqn=str(definition.fqn),
        url=definition.url,
        body=body,
        timeout_ms=definition.timeout_ms,
        answer_by=asyncio.get_running_loop().time() + patience_s,
        max_outcome_bytes=MAX_SETTLEMENT_BYTES,
        validator=offer.interface.validator,
    )
