"""`nexus-tools export`: tools in the forms that other systems read."""

from pathlib import Path

import click

from nexus_tools.cli.framework import (
    Choice,
    Selection,
    Session,
    complete_files,
    complete_fqns,
    reads,
    selects,
)
from nexus_tools.export import LONGEST_NAMES


@click.command()
@click.argument("fqn", nargs=-1, shell_complete=complete_fqns)
@click.option(
    "--format",
    "system",
    type=Choice(tuple(LONGEST_NAMES)),
    required=True,
    help="For which system.",
)
@selects
@click.option("--all", "every", is_flag=True, help="All active tools.")
@click.option(
    "--from-meta",
    metavar="FILE|-",
    shell_complete=complete_files,
    help="Read the definitions from a file, or from stdin, and not from the registry.",
)
@click.option("--strict", is_flag=True, help="For OpenAI: schemas to which models keep exactly.")
@click.option("--names", is_flag=True, help="Print the table of names, and not the document.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write here: a file or, for unstract, a folder."
)
@reads
async def command(
    session: Session,
    *,
    fqn: tuple[str, ...],
    system: str,
    selection: Selection,
    from_meta: str | None,
    out: Path | None,
    every: bool,
    strict: bool,
    names: bool,
) -> None:
    """Export the tools FQN, or those that the options choose, as JSON for another system.

    The names in the document are made of the FQNs; --names prints which tool has which. Whatever a
    reader would not expect is said on stderr.
    """
    from nexus_tools.cli.export.definitions import file_definitions, registered
    from nexus_tools.cli.export.written import write

    if from_meta is not None:
        definitions = file_definitions(from_meta, fqn, selection)
    else:
        definitions = await registered(session, fqn, selection, every=every)
    if not definitions:
        session.output.warn("no active tool fits: the document has none")
    write(session.output, definitions, system, out=out, strict=strict, names=names)
