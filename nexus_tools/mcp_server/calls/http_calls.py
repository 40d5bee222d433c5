"""Calls that go directly to a tool's URL, with the same checks as calls of a Leader."""

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
    InterfaceCache,
    Invoker,
    LeaderConfig,
    LeaderMetrics,
    MetaCheck,
    ToolCall,
)
from nexus_tools.mcp_server.catalogue.catalogue import Progress
from nexus_tools.mcp_server.catalogue.registry_catalogue import ToolOffer
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Failure, FailureReason, Outcome, canonical_json, outcome_bytes

# The time in which unreachable tools are called again, as a multiple of the tool's timeout.
_TIMEOUTS = 2


def direct_call_config(options: Mapping[str, Any]) -> LeaderConfig:
    """Return the configuration for the given network policy options, without a journal.

    Raises:
        ValidationError: with code `config_invalid`.
    """
    set_options = {name: value for name, value in options.items() if value is not None}
    return LeaderConfig.load({}, journal=Path(), **set_options)


@asynccontextmanager
async def open_direct_caller(config: LeaderConfig) -> AsyncIterator["DirectCaller"]:
    """Provide direct calls of tools inside this context."""
    guard = AddressGuard(config.allowed_networks, config.allowed_ports, config.allow_http)
    with closing(SystemResolver()) as resolve:
        client = guarded_client(guard, resolve, max_connections=config.max_concurrent)
        async with client:
            now = asyncio.get_running_loop().time
            meta = MetaCheck(client, config.meta_lifetime_ms / 1000, now)
            invoker = Invoker(config, client, outcome_bytes, LeaderMetrics())
            yield DirectCaller(config, guard, meta, invoker)


class DirectCaller:
    """Direct calls within a Leader's limits for addresses, sizes, times, retries, and schemas.

    Nothing is written on chain, and no one is paid.
    """

    def __init__(
        self, config: LeaderConfig, guard: AddressGuard, meta: MetaCheck, invoker: Invoker
    ) -> None:
        self._config = config
        self._guard = guard
        self._meta = meta
        self._invoker = invoker
        self._interfaces = InterfaceCache()

    async def call(
        self,
        offer: ToolOffer,
        ports: dict[str, Any],
        progress: Progress,  # noqa: ARG002 - there is no progress before the response
    ) -> Outcome:
        """Call the tool and return its outcome.

        Raises:
            NexusError: with code `address_refused`, or `input_invalid` if the ports are too large.
        """
        definition, tool = offer.definition, offer.found.tool
        self._guard.check_url(definition.url)
        body = canonical_json(ports)
        if len(body) > self._config.max_request_bytes:
            limit = self._config.max_request_bytes
            message = f"expected ports of at most {limit} bytes in total, got {len(body)}"
            raise ValidationError("input_invalid", message)
        problem = await self._meta.problem(tool.id, offer.found.version, definition)
        if problem:
            return Failure(FailureReason.DEFINITION_MISMATCH, problem)
        outcome = await self._invoker.invoke(self._tool_call(offer, body))
        if isinstance(outcome, Declined):
            return outcome.failure
        return outcome or Failure(FailureReason.TIMED_OUT, "the tool did not respond in time")

    def _tool_call(self, offer: ToolOffer, body: bytes) -> ToolCall:
        """Return a call with a random ID, which looks like an invocation to the tool."""
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
            signers=(),  # this answer settles nothing on chain
            validator=self._interfaces.of(offer.found).validator,
        )
