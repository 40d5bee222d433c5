"""`nexus-tools tool update`: what may change of a registered tool."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import writes
from nexus_tools.cli.sent import carry_out, report
from nexus_tools.cli.session import Session
from nexus_tools.errors import UsageError

if TYPE_CHECKING:
    from nexus_tools.registry import Sent, Tool, ToolRegistry
    from nexus_tools.sui.address import Address
    from nexus_tools.tool import ToolFqn

_CALLS = {
    "url": "update_url",
    "timeout_ms": "update_timeout",
    "price_mist": "update_price",
    "description": "update_description",
    "payout": "update_payout",
}
_OWNERS_ONLY = ("description", "payout")


@click.command()
@click.argument("fqn")
@click.option("--url", help="Where the tool is reached.")
@click.option("--description", help="What the tool does.")
@click.option(
    "--timeout", "timeout_ms", type=units.DURATION, help="How long an invocation may take: 5s."
)
@click.option("--price", type=units.AMOUNT, help="What an invocation costs, in SUI.")
@click.option("--payout", help="The address that is paid for invocations.")
@writes
async def command(
    session: Session,
    *,
    fqn: str,
    url: str | None,
    description: str | None,
    timeout_ms: int | None,
    price: int | None,
    payout: str | None,
) -> None:
    """Change the tool FQN, in one transaction. Running invocations keep their terms.

    The owner may change everything; an operator the URL, the timeout and the price. Schemas never
    change: register the next version instead.
    """
    from nexus_tools.sui.address import Address  # noqa: PLC0415 - not for `--help`
    from nexus_tools.tool import ToolFqn  # noqa: PLC0415

    given = {
        "url": url,
        "description": description,
        "timeout_ms": timeout_ms,
        "price_mist": price,
        "payout": None if payout is None else Address.parse(payout),
    }
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise UsageError("nothing_to_update", "nothing is to be changed: name an option")
    name = ToolFqn.parse(fqn)
    async with session.tools() as tools:
        sent = await carry_out(
            session,
            tools,
            lambda service: _update(service, name, changes),
            question=lambda _: f"Change {', '.join(changes)} of {fqn}?",
        )
    facts = {key: value if isinstance(value, int) else str(value) for key, value in changes.items()}
    report(session.output, sent, f"updated {fqn}", {"fqn": fqn, **facts})


async def _update(tools: "ToolRegistry", fqn: "ToolFqn", changes: dict[str, Any]) -> "Sent":
    """Send all changes at once, after a check of the definition that they lead to."""
    from nexus_tools.registry.calls import tool as calls  # noqa: PLC0415 - not for `--help`
    from nexus_tools.sui.builder import TransactionBuilder  # noqa: PLC0415

    tool = await tools.get(fqn)
    _check(tool, changes)
    cap, operator = await _cap(tools, tool, changes)
    builder = TransactionBuilder()
    for key, value in changes.items():
        call = partial(getattr(calls, _CALLS[key]), builder, tools.deployment, tool.id, cap, value)
        if key in _OWNERS_ONLY:
            call()
        else:
            call(operator=operator)
    return await tools.send(builder)


def _check(tool: "Tool", changes: dict[str, Any]) -> None:
    """Raises as `ToolDefinition.parse` does for what the tool would be."""
    from nexus_tools.tool import ToolDefinition  # noqa: PLC0415 - not for `--help`

    document = tool.definition.document()
    names = {"url": "url", "description": "description", "timeout_ms": "timeout"}
    changed = {names[key]: value for key, value in changes.items() if key in names}
    ToolDefinition.parse(document | changed)


async def _cap(
    tools: "ToolRegistry", tool: "Tool", changes: dict[str, Any]
) -> tuple["Address", bool]:
    """The cap that allows the changes, and whether it is an operator's."""
    from nexus_tools.registry.tool_checks import operating_cap, owned_tool  # noqa: PLC0415

    if any(key in changes for key in _OWNERS_ONLY):
        cap = await tools.client.object(tool.owner)
        return owned_tool(tool, cap, tools.client.address).cap, False
    return await operating_cap(tools.client, tools.deployment, tool)
