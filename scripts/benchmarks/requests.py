"""Requests of many invocations in one transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from nexus_tools.contracts import Deployment, parse_event, ports_of
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.registry import (
    DEFAULT_MAX_OUTCOME_BYTES,
    Invocations,
    LeaderRegistry,
    add_request,
    quote_mist,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address


async def request_many(
    client: SuiClient,
    deployment: Deployment,
    tool: Tool,
    inputs: Sequence[Mapping[str, Any]],
    among: Sequence[Address] = (),
) -> list[Address]:
    """Request invocations with the same leaders in one transaction. Return the invocation IDs.

    `among` is the argument of `choose_leaders`.
    """
    settings = await LeaderRegistry(client, deployment).settings()
    leaders = (await Invocations(client, deployment).choose_leaders(tool, among)).leaders
    gas_price = await client.gas_price()
    builder = TransactionBuilder()
    for input_ in inputs:
        ports = ports_of(input_)
        cost = quote_mist(settings, tool, ports.size(), DEFAULT_MAX_OUTCOME_BYTES, gas_price)
        add_request(
            builder,
            deployment,
            settings,
            tool,
            leaders,
            inputs=ports,
            max_outcome_bytes=DEFAULT_MAX_OUTCOME_BYTES,
            payment_mist=cost,
        )
    executed = await client.execute(builder)
    parsed = [parse_event(deployment, event) for event in executed.events]
    return [event.invocation for event in parsed if isinstance(event, InvocationRequested)]
