"""The command `nexus-tools tool validate`, which checks tools with real calls."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import CA_FILE, Session, complete_files, offline_command, plain
from nexus_tools.errors import UnreachableError, ValidationError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from nexus_tools.tool_server import Check

_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("-", None)}


@click.command()
@click.argument("place", metavar="URL|FILE|FOLDER", shell_complete=complete_files)
@CA_FILE
@offline_command
async def command(session: Session, place: str, ca_file: Path | None) -> None:
    """Check that the tool at URL follows the protocol, with real tool calls.

    The command invokes the tool twice. The first input is valid, so the tool's function runs.
    The tool must reject the second input. The command takes the valid input from the
    `examples` of the input schema if possible. The exit code is 7 if a check fails, and 6 if the
    tool does not respond.

    If FILE is a Python file, the command serves its tools on a free port and checks each of them.
    If FILE is a JSON file, the command checks the definitions in it, and calls no tool.

    If the tool is registered on your network, its schemas must be the registered schemas.

    If FOLDER is a Move package, the command checks its on-chain tools, whose definitions are next
    to Move.toml. The command publishes the package on a temporary localnet, where a Leader calls
    each tool.
    """
    from nexus_tools.testing.move_project import is_move_project

    if is_move_project(Path(place)):
        await _move_project(session, Path(place))
    elif "://" not in place and place.endswith((".py", ".json")):
        from nexus_tools.cli.tool.file_checks import check_definitions, check_python_tools

        found = (
            check_python_tools(session, place)
            if place.endswith(".py")
            else check_definitions(place)
        )
        await _report_rows(session, place, "file", found)
    else:
        await _served(session, place, ca_file)


async def _served(session: Session, url: str, ca_file: Path | None) -> None:
    """Check a tool on a server."""
    from nexus_tools.cli.tool.registered_schemas import compare_with_chain
    from nexus_tools.cli.tool.served_definitions import (
        check_tool_url,
        open_http,
        served_definitions,
    )
    from nexus_tools.tool_server import check_tool

    check_tool_url(session, url)
    checks = []
    async with open_http(ca_file) as http:
        async for result in check_tool(url, http):
            check = await _of_one_tool(http, url, result)
            checks.append(check)
            if not session.output.as_json:
                _print(check)
        if not any(check.status == "failed" for check in checks):
            for definition in (await served_definitions(http, url, all_tools=False)).values():
                async for _, check in compare_with_chain(session, [definition]):
                    checks.append(check)
                    if not session.output.as_json:
                        _print(check)
    if session.output.as_json:
        rows = [_row(check) for check in checks]
        passed = not any(check.status == "failed" for check in checks)
        session.output.document({"url": url, "passed": passed, "checks": rows})
    require_passed(url, checks)


async def _move_project(session: Session, folder: Path) -> None:
    """Check the on-chain tools of a Move package."""
    import asyncio

    from nexus_tools.cli.package.compiler import Compilation
    from nexus_tools.cli.tool.move_checks import check_move_project
    from nexus_tools.testing.move_project import MoveProject

    project = MoveProject.read(folder)
    with session.output.progress("preparing the compiler"):
        builder = await asyncio.to_thread(Compilation().builder, session)
    with session.output.progress(f"checking {folder} on a localnet"):
        found = check_move_project(project, builder)
        await _report_rows(session, str(folder), "folder", found)


async def _report_rows(
    session: Session, place: str, kind: str, found: "AsyncIterator[tuple[str, Check]]"
) -> None:
    """Print the checks of several tools below their names. `kind` is the key of the place."""
    checks, rows, shown = [], [], ""
    async for name, check in found:
        checks.append(check)
        rows.append({"file" if kind == "folder" else "tool": name} | _row(check))
        if not session.output.as_json:
            if name != shown:
                click.echo(plain(name))
                shown = name
            _print(check)
    if session.output.as_json:
        passed = not any(check.status == "failed" for check in checks)
        session.output.document({kind: place, "passed": passed, "checks": rows})
    require_passed(place, checks)


async def _of_one_tool(http: "httpx.AsyncClient", url: str, check: "Check") -> "Check":
    """Return the check. For the root URL of a server, add a hint with the URLs of its tools."""
    from nexus_tools.cli.tool.served_definitions import served_urls

    if (check.name, check.status) != ("health", "failed"):
        return check
    try:
        urls = await served_urls(http, url)
    except (UnreachableError, ValidationError):
        return check
    tools = units.count(len(urls), "tool")
    hint = f"This is a server with {tools}. Pass the URL of a tool, such as {urls[0]}."
    return replace(check, hint=hint)


async def require_conforming(
    session: Session, url: str, http: "httpx.AsyncClient", *, invoke: bool
) -> None:
    """Check a running tool before its URL is published. Raises `require_passed` errors.

    The tool's function runs only with `invoke`, and never in a dry run.
    """
    from nexus_tools.tool_server import check_tool

    output = session.output
    if invoke and session.dry_run:
        output.note(f"dry run: only the definition at {url} is checked, the tool is not invoked")
    elif invoke:
        output.note(f"invoking the tool at {url} with an example input")
    with output.progress(f"checking {url}"):
        invokes = invoke and not session.dry_run
        checks = [check async for check in check_tool(url, http, invoke=invokes)]
    try:
        require_passed(url, checks)
    except ValidationError as error:
        command = f"nexus-tools tool validate {shlex.quote(url)}"
        error.hint += f" Run `{command}` to see all checks, or pass --skip-validation to skip them."
        raise


CHECK_OPTION = click.option(
    "--check",
    is_flag=True,
    help="Also invoke the running tool with an example input, which runs its function.",
)
"""The option of commands that publish the URL of a running tool."""


def require_passed(url: str, checks: "list[Check]") -> None:
    """Raise `tool_unreachable` or `tool_validation_failed` if a check failed."""
    failed = [check for check in checks if check.status == "failed"]
    if not failed:
        return
    if failed[0].name == "reachable":
        raise UnreachableError("tool_unreachable", failed[0].message, hint=failed[0].hint)
    raise ValidationError(
        "tool_validation_failed",
        f"the tool at {url} fails {len(failed)} of {len(checks)} checks:"
        f" {'; '.join(f'{check.name}: {check.message}' for check in failed)}",
        hint=failed[0].hint,
        details={"checks": [_row(check) for check in failed]},
    )


def _row(check: "Check") -> dict[str, str]:
    return {
        "name": check.name,
        "status": check.status.value,
        "message": check.message,
        "hint": check.hint,
    }


def _print(check: "Check") -> None:
    mark, color = _MARKS[check.status.value]
    click.secho(f"  {mark} {check.name:<26} {plain(check.message)}", fg=color)
    if check.hint:
        click.echo(f"    {'':<26} {plain(check.hint)}")
