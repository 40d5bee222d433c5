"""The command `nexus-tools export`, which converts tool definitions for other systems.

`definitions` selects the tools, and `written` writes the result.
"""

from pathlib import Path

import click

from nexus_tools.cli.framework import (
    Choice,
    Session,
    ToolSelection,
    complete_files,
    complete_fqns,
    network_command,
    registry_filter_options,
)
from nexus_tools.export import MAX_NAME_LENGTHS


@click.command()
@click.argument("fqn", nargs=-1, shell_complete=complete_fqns)
@click.option(
    "--format",
    "system",
    type=Choice(tuple(MAX_NAME_LENGTHS)),
    required=True,
    help="Target system.",
)
@registry_filter_options
@click.option("--all", "all_tools", is_flag=True, help="Export all active tools.")
@click.option(
    "--from-meta",
    metavar="FILE|-",
    shell_complete=complete_files,
    help="Read definitions from a file or stdin instead of the registry.",
)
@click.option(
    "--strict", is_flag=True, help="Use OpenAI's strict schemas, which models follow exactly."
)
@click.option(
    "--names", is_flag=True, help="Print the mapping of names to FQNs instead of the document."
)
@click.option(
    "--output",
    "output_path",
    type=click.Path(path_type=Path),
    help="Output file, or for unstract an output folder.",
)
@network_command
async def command(
    session: Session,
    *,
    fqn: tuple[str, ...],
    system: str,
    selection: ToolSelection,
    from_meta: str | None,
    output_path: Path | None,
    all_tools: bool,
    strict: bool,
    names: bool,
) -> None:
    """Export tools as JSON for another system. Pass FQNs, or select tools with options.

    The command derives the names in the document from the FQNs. Use --names to print the mapping.
    The command warns on stderr about skipped tools and schemas that the target system does not
    support well.
    """
    from nexus_tools.cli.export.definitions import file_definitions, registered
    from nexus_tools.cli.export.written import write

    if from_meta is not None:
        definitions = file_definitions(from_meta, fqn, selection)
    else:
        definitions = await registered(session, fqn, selection, all_tools=all_tools)
    if not definitions:
        session.output.warn("no active tool matches: the document is empty")
    write(session.output, definitions, system, path=output_path, strict=strict, names=names)
