"""The command `nexus-tools bridge register`, which registers bridged tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.bridge.options import BridgeOptions, optional_bridge_options
from nexus_tools.cli.bridge.show import no_match_error, require_tools, warn_of_refusals
from nexus_tools.cli.framework import CA_FILE, Session, plain, transaction_command
from nexus_tools.cli.tool.terms import Terms, registration_options
from nexus_tools.errors import UsageError, ValidationError, WrongStateError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.tool import ToolDefinition, ToolFqn


@click.command()
@click.option("--url", required=True, help="URL of the server that serves the tools.")
@registration_options
@click.option(
    "--skip-validation", is_flag=True, help="Do not check the running server and its tools."
)
@CA_FILE
@optional_bridge_options
@transaction_command
async def command(
    session: Session,
    *,
    bridge: BridgeOptions,
    url: str,
    terms: Terms,
    ca_file: Path | None,
    skip_validation: bool,
) -> None:
    """Register the tools that are served at URL, and lock collateral for each tool.

    The command reads the definitions from the server, and does not invoke or start a tool. The
    command queries /health, and warns if a tool is not ready. With --yes, such a warning makes the
    command fail before it registers anything. Pass --skip-validation to skip the health query.

    With PATH..., the command also discovers the tools there, as `nexus-tools bridge show` does. The
    server at URL must serve the same tools with the same options. After an interruption, run the
    same command again to register the rest.
    """
    from nexus_tools.cli.tool.register import register

    if not bridge.places:
        _check_options(bridge)
        served = await _served(session, url, ca_file)
        definitions = [definition for definition in served if bridge.patterns.admit(definition.fqn)]
        if not definitions:
            raise no_match_error([definition.fqn for definition in served])
    else:
        definitions = await _found(session, bridge, url)
        if not skip_validation:
            _check_served(url, definitions, await _served(session, url, ca_file))
    if not skip_validation:
        await _check_health(session, definitions, ca_file)
    await register(session, definitions, terms, _rooms(session, definitions, terms))


def _check_options(bridge: BridgeOptions) -> None:
    """Raise `option_not_applicable` for an option that is invalid without a PATH."""
    if bridge.domain is not None:
        hint = "Also pass the PATH of the tools."
        raise UsageError("option_not_applicable", "--domain needs a PATH", hint=hint)


async def _found(session: Session, bridge: BridgeOptions, url: str) -> "list[ToolDefinition]":
    """Return the definitions of the tools in the paths, for a server at `url`."""
    from nexus_tools.tool_server import ToolServer

    with bridge.host(session) as host:
        found = await bridge.discover(session, host)
    warn_of_refusals(session.output, found)
    require_tools(found)
    return ToolServer(found.tools).definitions(url)


async def _served(session: Session, url: str, ca_file: Path | None) -> "list[ToolDefinition]":
    """Return the definitions of all tools at a URL. Raises `tool_unreachable` or `not_a_tool`."""
    from nexus_tools.cli.tool.served_definitions import (
        check_tool_url,
        open_http,
        served_definitions,
    )

    check_tool_url(session, url)
    async with open_http(ca_file) as http:
        with session.output.progress(f"reading definitions from {url}"):
            return list((await served_definitions(http, url, all_tools=True)).values())


def _rooms(
    session: Session, definitions: "list[ToolDefinition]", terms: Terms
) -> "dict[ToolFqn, int]":
    """Return and report the minimum outcome sizes of tools that may return images or documents."""
    from nexus_tools.bridges import declared_outcome_bytes

    if terms.min_outcome_bytes:
        return {}
    rooms = {
        definition.fqn: room
        for definition in definitions
        if (room := declared_outcome_bytes(definition))
    }
    for fqn, room in rooms.items():
        session.output.note(
            f"{fqn} may return images or documents, so an invocation must prepay for at least"
            f" {room} bytes of outcome. Unused bytes are refunded. Pass --min-outcome-bytes to"
            " change the size"
        )
    return rooms


async def _check_health(
    session: Session, definitions: "list[ToolDefinition]", ca_file: Path | None
) -> None:
    """Warn about tools that are not ready, before their collateral is locked.

    Raises `tool_not_ready` if `--yes` skips the prompt after the warnings.
    """
    from nexus_tools.cli.tool.served_definitions import health_problems, open_http

    async with open_http(ca_file) as http:
        with session.output.progress("checking the health of the tools"):
            problems = await health_problems(http, definitions)
    for fqn, problem in problems.items():
        session.output.warn(plain(f"{fqn} is not ready: {problem}"))
    if not problems:
        return
    session.output.note("invocations fail until these tools are ready")
    if session.yes and not session.dry_run:
        raise WrongStateError(
            "tool_not_ready",
            f"{units.count(len(problems), 'tool')} failed the health check: nothing was registered",
            hint="Make the tools ready, or pass --skip-validation to register them anyway.",
        )


def _check_served(
    url: str, definitions: "list[ToolDefinition]", served: "list[ToolDefinition]"
) -> None:
    """Raise `served_definition_differs` if the server does not serve all `definitions`."""
    known = {definition.fqn: definition for definition in served}
    for definition in definitions:
        other = known.get(definition.fqn)
        if other is None or other.as_json() != definition.as_json():
            what = "does not serve" if other is None else "serves a different definition of"
            raise ValidationError(
                "served_definition_differs",
                f"{url} {what} {definition.fqn}",
                hint="Run `nexus-tools bridge serve` with the same paths and options.",
            )
