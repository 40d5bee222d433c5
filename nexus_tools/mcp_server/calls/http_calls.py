"""Calls that go straight to a tool's URL, as carefully as a Leader's do."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.http import AddressGuard, SystemResolver
from nexus_tools.http.guarded_client import guarded_client
from nexus_tools.leader import (
    MAX_OUTCOME_BYTES,
    Declined,
    Invoker,
    LeaderConfig,
    LeaderMetrics,
    MetaCheck,
    ToolCall,
)
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.catalogue.registry_catalogue import Offer
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome, canonical_json, outcome_bytes

# Until when calls are repeated that reached nobody, in times of a tool's own timeout.
_TIMEOUTS = 2


def direct_config(options: Mapping[str, Any]) -> LeaderConfig:
    """The configuration for what `reach` says; no journal is kept. Raises `config_invalid`."""
    given = {name: value for name, value in options.items() if value is not None}
    return LeaderConfig.load({}, journal=Path(), **given)


@asynccontextmanager
async def direct_calls(config: LeaderConfig) -> AsyncIterator["DirectCalls"]:
    """The time in which tools can be called."""
    guard = AddressGuard(config.allowed_networks, config.allowed_ports, config.allow_http)
    with closing(SystemResolver()) as resolve:
        client = guarded_client(guard, resolve, max_connections=config.max_concurrent)
        async with client:
            now = asyncio.get_running_loop().time
            meta = MetaCheck(client, config.meta_lifetime_ms / 1000, now)
            invoker = Invoker(config, client, outcome_bytes, LeaderMetrics())
            yield DirectCalls(config, guard, meta, invoker)


class DirectCalls:
    """Calls tools within a Leader's bounds: addresses, sizes, times, retries, both schemas.

    Nothing is written on chain, and nobody is paid.
    """

    def __init__(
        self, config: LeaderConfig, guard: AddressGuard, meta: MetaCheck, invoker: Invoker
    ) -> None:
        self._config = config
        self._guard = guard
        self._meta = meta
        self._invoker = invoker

    async def call(
        self,
        offer: Offer,
        ports: dict[str, Any],
        progress: Progress,  # noqa: ARG002 - there is nothing to tell before the response
    ) -> Outcome:
        """What the call came to.

        Raises `address_refused`, or `input_invalid` for ports that are too large.
        """
        definition, tool = offer.definition, offer.found.tool
        self._guard.check_url(definition.url)
        body = canonical_json(ports)
        if len(body) > self._config.max_request_bytes:
            raise ValidationError("input_invalid", "the ports are too large")
        problem = await self._meta.problem(tool.id, offer.found.version, definition)
        if problem:
            return Failure(FailureReason.DEFINITION_MISMATCH, problem)
        outcome = await self._invoker.invoke(_call(offer, body))
        if isinstance(outcome, Declined):
            return outcome.failure
        return outcome or Failure(FailureReason.TIMED_OUT, "the tool did not respond in time")


def _call(offer: Offer, body: bytes) -> ToolCall:
    """One call, under an id of its own: to the tool it looks like an invocation."""
    definition = offer.definition
    seconds = _TIMEOUTS * definition.timeout_ms / 1000
    return ToolCall(
        invocation=Address(secrets.token_bytes(32)),
        tool=offer.found.tool.id,
        fqn=str(definition.fqn),
        url=definition.url,
        body=body,
        timeout_ms=definition.timeout_ms,
        deadline=asyncio.get_running_loop().time() + seconds,
        max_outcome_bytes=MAX_OUTCOME_BYTES,
        keys=offer.found.tool.keys.keys,
        signers=(),  # nothing is settled on chain by this answer
        validator=offer.interface.validator,
    )
