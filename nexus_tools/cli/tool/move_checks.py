"""Checks of on-chain tools in a Move package: a Leader calls them on a localnet."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.localnet.compiler import MoveBuilder
    from nexus_tools.sui.types.address import Address
    from nexus_tools.testing.move_project import MoveProject
    from nexus_tools.tool import ToolDefinition
    from nexus_tools.tool_server import Check

_FUNDS_MIST = 10_000 * units.MIST_PER_SUI

Row = tuple[str, "Check"]
"""The name of a definition file, or an empty string for a package check, and the check."""


async def check_move_project(
    project: "MoveProject", builder: "MoveBuilder"
) -> "AsyncIterator[Row]":
    """Publish the package on a localnet in this process, and call its tools there.

    Yields each row as soon as it is known. An error of the package is a row, never an exception.
    """
    from nexus_tools.nexus import Nexus
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.localnet import Localnet
    from nexus_tools.tool_server import Check, Status

    key = KeyPair.new()
    async with Localnet() as localnet:
        localnet.fund(key.address, _FUNDS_MIST)
        async with Nexus.publish(localnet, key, lock=False) as nexus, nexus.leader("validate"):
            try:
                package = await project.publish(nexus.client, nexus.deployment, builder)
            except NexusError as error:
                yield "", _failed("package", error)
                return
            yield "", Check("package", Status.PASSED, "compiled, verified and published")
            for file in project.documents:
                async for check in _of_tool(nexus, project, package, file):
                    yield file, check


async def _of_tool(
    nexus: "Nexus", project: "MoveProject", package: "Address", file: str
) -> "AsyncIterator[Check]":
    from nexus_tools.registry import Registration
    from nexus_tools.tool import check_output_schema
    from nexus_tools.tool_server import Check, Status

    try:
        definition = await project.definition(nexus.client, package, file)
    except NexusError as error:
        yield _failed("definition", error)
        return
    variants = ", ".join(check_output_schema(definition.output_schema).variants)
    yield Check("definition", Status.PASSED, f"{definition.fqn}, with variants: {variants}")
    try:
        await nexus.tools.register(Registration(definition))
    except NexusError as error:
        yield _failed("function", error)
        return
    yield Check("function", Status.PASSED, "can be called, and its module is yours")
    yield await _invoked(nexus, definition)


async def _invoked(nexus: "Nexus", definition: "ToolDefinition") -> "Check":
    from nexus_tools.errors import ValidationError
    from nexus_tools.tool import example_input
    from nexus_tools.tool_server import Check, Status

    name = "invoke with a valid input"
    try:
        example = example_input(definition.input_schema)
    except ValidationError as error:
        return Check(name, Status.SKIPPED, f"{error.message}. {error.hint}")
    try:
        answer = await nexus.invoke(definition.fqn, example)
    except NexusError as error:
        return _failed(name, error)
    cost = units.sui(await _closing_cost_mist(nexus))
    return Check(name, Status.PASSED, f"returned {answer.variant}; the transaction cost {cost}")


async def _closing_cost_mist(nexus: "Nexus") -> int:
    """Return the cost of the last transaction that settled an invocation."""
    from nexus_tools.contracts import event_filter
    from nexus_tools.contracts.move_bindings.invocation import InvocationSettled
    from nexus_tools.sui.client import newest_events

    kinds = event_filter(nexus.deployment, InvocationSettled)
    [last] = (await newest_events(nexus.client, kinds, 1)).events
    executed = await nexus.client.transaction(last.transaction_digest)
    assert executed is not None  # the event is from this network
    return executed.cost.net


def _failed(name: str, error: NexusError) -> "Check":
    from nexus_tools.tool_server import Check, Status

    return Check(name, Status.FAILED, error.message, error.hint or "")
