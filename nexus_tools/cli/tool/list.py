"""`nexus-tools tool list`: the registered tools."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.command import reads
from nexus_tools.cli.session import Session

if TYPE_CHECKING:
    from nexus_tools.sui.address import Address

_STATES = click.Choice(["active", "suspended", "unregistered", "claimed"])
_SORTS = {
    "registered": "registered_at_ms",
    "name": "fqn",
    "price": "price_mist",
    "collateral": "collateral_mist",
    "state": "state",
}


@click.command()
@click.option("--owner", help="Only tools of this address, or of this key of the wallet.")
@click.option("--domain", help="Only tools of this domain and those below it.")
@click.option("--state", type=_STATES, help="Only tools in this state.")
@click.option("--search", help="Only tools with this text in the FQN or the description.")
@click.option(
    "--sort",
    type=click.Choice(list(_SORTS)),
    default="registered",
    show_default=True,
    help="By what to sort.",
)
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@reads
async def command(
    session: Session,
    *,
    owner: str | None,
    domain: str | None,
    state: str | None,
    search: str | None,
    sort: str,
    limit: int | None,
    reverse: bool,
) -> None:
    """List the registered tools."""
    from nexus_tools.cli.tool.record import COLUMNS, for_people, tool_document  # noqa: PLC0415
    from nexus_tools.registry import ToolFilter, ToolState  # noqa: PLC0415 - not for `--help`

    tool_filter = ToolFilter(
        owner=None if owner is None else _address(session, owner),
        domain=domain,
        state=None if state is None else ToolState(state),
        search=search,
    )
    async with session.tools(signing=False) as tools:
        with session.output.progress("reading the registry"):
            now_ms = await tools.client.now_ms()
            found = await tools.list(tool_filter)
    documents = [tool_document(tool, now_ms) for tool in found]
    documents.sort(key=lambda document: document[_SORTS[sort]], reverse=reverse)
    documents = documents[:limit]
    rows: list[dict[str, Any]] = documents
    if not session.output.as_json:
        rows = [for_people(document) for document in documents]
    session.output.table(rows, COLUMNS, empty="no tool is registered that fits")


def _address(session: Session, text: str) -> "Address":
    """An address as it stands, or that of a key of the wallet."""
    from nexus_tools.sui.address import Address  # noqa: PLC0415 - not for `--help`

    return Address.parse(text) if text.startswith("0x") else session.wallet().account(text).address
