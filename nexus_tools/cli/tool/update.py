"""`nexus-tools tool update`: what may change of a registered tool."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    ACCOUNT,
    AMOUNT,
    CA_FILE,
    DURATION,
    Session,
    carry_out,
    complete_files,
    complete_fqns,
    report,
    writes,
)
from nexus_tools.cli.tool.register import read_definitions
from nexus_tools.cli.tool.validate import CHECK, require_conforming
from nexus_tools.errors import UsageError, ValidationError

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.tool import ToolDefinition


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@click.option("--url", help="Where the tool is reached.")
@click.option("--description", help="What the tool does.")
@click.option("--timeout", "timeout_ms", type=DURATION, help="How long an invocation may take: 5s.")
@click.option("--price", type=AMOUNT, help="What an invocation costs, in SUI.")
@click.option("--payout", type=ACCOUNT, help="The account that receives the price.")
@click.option(
    "--min-outcome-bytes",
    type=click.IntRange(min=0),
    help="The least room for an outcome that an invocation has to pay for.",
)
@click.option(
    "--require-signed-outcome/--no-require-signed-outcome",
    "requires_signed_outcome",
    default=None,
    help="Whether an invocation is settled only with the tool's signature of the answer.",
)
@click.option(
    "--from-meta",
    metavar="FILE|-",
    shell_complete=complete_files,
    help="Read URL, description, timeout and function from a definition.",
)
@click.option(
    "--package", metavar="ID", help="With --from-meta: the package that the module is in now."
)
@CHECK
@click.option("--unchecked", is_flag=True, help="Do not check the tool at a new URL.")
@CA_FILE
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
    min_outcome_bytes: int | None,
    requires_signed_outcome: bool | None,
    from_meta: str | None,
    package: str | None,
    check: bool,
    unchecked: bool,
    ca_file: Path | None,
) -> None:
    """Change the tool FQN, in one transaction. Running invocations keep their terms.

    The owner may change everything; an operator the URL, the timeout, the price and the least room
    for an outcome. Schemas never change: register the next version instead.

    An on-chain tool goes with its package: --from-meta and --package of the new version say where
    its function is, and what it takes. Its witness stays.
    """
    from nexus_tools.tool import ToolFqn

    given = {
        "url": url,
        "description": description,
        "timeout_ms": timeout_ms,
        "price_mist": price,
        "payout": None if payout is None else session.address_of(payout),
        "min_outcome_bytes": min_outcome_bytes,
        "requires_signed_outcome": requires_signed_outcome,
    }
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    name = ToolFqn.parse(fqn)
    if not changes and from_meta is None:
        raise UsageError(
            "nothing_to_update",
            f"nothing of {name} is to be changed",
            hint="name at least one of --url, --description, --timeout, --price, --payout,"
            " --min-outcome-bytes, --require-signed-outcome, --from-meta",
        )
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(name)
        if from_meta is not None:
            definitions = await read_definitions(session, from_meta, package)
            changes = _changes(tool, definitions, from_meta) | changes
        if "url" in changes and tool.definition.function is None and not unchecked:
            await _check_moved(session, tool, changes["url"], ca_file, invoke=check)
        sent = await carry_out(
            session,
            nexus.tools,
            lambda service: service.update(name, **changes),
            question=lambda _: f"Change {', '.join(changes)} of {fqn}?",
        )
    facts = {key: _shown(value) for key, value in changes.items()}
    report(session.output, sent, f"updated {fqn}", {"fqn": fqn, **facts})


def _changes(tool: "Tool", definitions: "Sequence[ToolDefinition]", name: str) -> dict[str, Any]:
    """What a definition says otherwise than the registered one.

    Raises `definitions_missing` if the tool has none, and `definition_differs` for other schemas.
    """
    registered = tool.definition.parse()
    definition = next((each for each in definitions if each.fqn == registered.fqn), None)
    if definition is None:
        raise UsageError("definitions_missing", f"{name} has no definition of {tool.fqn}")
    if definition.type != registered.type or not definition.has_interface_of(registered):
        raise ValidationError(
            "definition_differs",
            f"{tool.fqn} is registered with other schemas than those in {name}",
            hint="schemas never change: register the next version",
        )
    fields = ("url", "description", "timeout_ms", "function")
    pairs = ((each, getattr(definition, each), getattr(registered, each)) for each in fields)
    return {each: new for each, new, former in pairs if new != former}


def _shown(value: Any) -> Any:
    from nexus_tools.tool import MoveFunction

    if isinstance(value, MoveFunction):
        return value.as_json()
    return value if isinstance(value, int) else str(value)


async def _check_moved(
    session: Session, tool: "Tool", url: str, ca_file: Path | None, *, invoke: bool
) -> None:
    """Check the running tool at its new URL; its function runs only with `invoke`.

    Raises `definition_invalid`, `tool_unreachable`, `tool_nonconforming`, `not_a_tool`, or
    `served_otherwise` for another tool.
    """
    from nexus_tools.cli.tool.served_definitions import (
        check_tool_url,
        open_http,
        served_definitions,
    )
    from nexus_tools.tool import ToolDefinition

    check_tool_url(session, url)
    expected = ToolDefinition.parse(tool.definition.document() | {"url": url})
    async with open_http(ca_file) as http:
        for place, served in (await served_definitions(http, url, every=False)).items():
            await require_conforming(session, place, http, invoke=invoke)
            if served.fqn != expected.fqn or not served.has_interface_of(expected):
                raise ValidationError(
                    "served_otherwise",
                    f"{url} serves another tool, or has other schemas, than {expected.fqn}",
                    hint="serve it as it is registered, or register the next version",
                )
