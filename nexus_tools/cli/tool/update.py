"""The command `nexus-tools tool update`, which changes a registered tool."""

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
    complete_files,
    complete_fqns,
    confirm_and_execute,
    plain,
    report,
    transaction_command,
)
from nexus_tools.cli.tool.register import read_definitions
from nexus_tools.cli.tool.validate import CHECK_OPTION, require_conforming
from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool
    from nexus_tools.tool import ToolDefinition


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@click.option("--url", help="New URL of the tool.")
@click.option("--description", help="New description.")
@click.option(
    "--timeout",
    "timeout_ms",
    type=DURATION,
    help="New maximum time of a call, for example 5s.",
)
@click.option("--price", type=AMOUNT, help="New price of an invocation, in SUI.")
@click.option("--payout", type=ACCOUNT, help="Account that receives the price.")
@click.option(
    "--min-outcome-bytes",
    type=click.IntRange(min=0),
    help="New minimum outcome size, in bytes, that an invocation must pay for.",
)
@click.option(
    "--require-signed-outcome/--no-require-signed-outcome",
    "requires_signed_outcome",
    default=None,
    help="Whether to require the tool's signature of the answer to settle an invocation.",
)
@click.option(
    "--from-meta",
    metavar="FILE|-",
    shell_complete=complete_files,
    help="Read the URL, description, timeout and function from a definition.",
)
@click.option(
    "--package", metavar="ID", help="ID of the package with the module. Requires --from-meta."
)
@CHECK_OPTION
@click.option("--skip-validation", is_flag=True, help="Do not check the tool at its new URL.")
@CA_FILE
@transaction_command
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
    skip_validation: bool,
    ca_file: Path | None,
) -> None:
    """Change the tool FQN in one transaction. Pending invocations keep their terms.

    The owner may change everything. An operator may change the URL, the timeout, the price and the
    minimum outcome size. Schemas cannot change. To change schemas, register the next version.

    When the package of an on-chain tool is upgraded, use --from-meta and --package to update its
    function and arguments. The witness type never changes.
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
            f"no change to {name} was specified",
            hint="Pass at least one of --url, --description, --timeout, --price, --payout,"
            " --min-outcome-bytes, --require-signed-outcome, --from-meta.",
        )
    async with session.nexus() as nexus:
        tool = await nexus.tools.get(name)
        if from_meta is not None:
            definitions = await read_definitions(session, from_meta, package)
            changes = _changes(tool, definitions, from_meta) | changes
        if "url" in changes and tool.definition.function is None and not skip_validation:
            await _check_moved(session, tool, changes["url"], ca_file, invoke=check)
        facts = {key: _shown(value) for key, value in changes.items()}
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            lambda service: service.update(name, **changes),
            question=lambda _: f"Change {fqn}: {_in_words(facts)}?",
        )
    report(session.output, sent, f"updated {fqn}", {"fqn": fqn, **facts})


def _changes(tool: "Tool", definitions: "Sequence[ToolDefinition]", name: str) -> dict[str, Any]:
    """Return the differences between a definition and the registered definition.

    Raises `definitions_missing` if no definition has the tool's FQN, and `definition_differs` if
    the schemas differ.
    """
    registered = tool.definition.parse()
    definition = next((item for item in definitions if item.fqn == registered.fqn), None)
    if definition is None:
        raise UsageError("definitions_missing", f"{name} does not define {tool.fqn}")
    if definition.type != registered.type or not definition.has_same_interface(registered):
        raise ValidationError(
            "definition_differs",
            f"the schemas in {name} differ from the registered schemas of {tool.fqn}",
            hint="Schemas cannot change. Register the next version instead.",
        )
    fields = ("url", "description", "timeout_ms", "function")
    pairs = ((field, getattr(definition, field), getattr(registered, field)) for field in fields)
    return {name: new for name, new, former in pairs if new != former}


def _shown(value: Any) -> Any:
    from nexus_tools.tool import MoveFunction

    if isinstance(value, MoveFunction):
        return value.as_json()
    return value if isinstance(value, int) else str(value)


def _in_words(facts: dict[str, Any]) -> str:
    """Return the new values for the prompt."""
    words = units.in_words(facts).items()
    return ", ".join(f"{key.replace('_', ' ')} {plain(str(value))}" for key, value in words)


async def _check_moved(
    session: Session, tool: "Tool", url: str, ca_file: Path | None, *, invoke: bool
) -> None:
    """Check the running tool at its new URL. The tool's function runs only with `invoke`.

    Raises `definition_invalid`, `tool_unreachable`, `tool_validation_failed`, `not_a_tool`, or
    `served_definition_differs` for another tool.
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
        for place, served in (await served_definitions(http, url, all_tools=False)).items():
            await require_conforming(session, place, http, invoke=invoke)
            if served.fqn != expected.fqn or not served.has_same_interface(expected):
                raise ValidationError(
                    "served_definition_differs",
                    f"{url} does not serve {expected.fqn} with its registered schemas",
                    hint="Serve it with the registered schemas, or register the next version.",
                )
