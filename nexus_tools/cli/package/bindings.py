"""The command `nexus-tools package bindings`, which generates Python code for a Move package."""

from pathlib import Path

import click

from nexus_tools.cli.framework import Session, complete_folders, network_command
from nexus_tools.cli.package.compiler import FOLDER, Compilation, compilation_options


@click.command()
@click.argument("place", metavar="FOLDER|ID", shell_complete=complete_folders)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Output folder of the Python package.",
)
@click.option(
    "--include",
    "along",
    metavar="NAME[=FOLDER|ID|DEPENDENCY]",
    multiple=True,
    help="Also generate this package, as the subpackage NAME. Pass only NAME for a dependency."
    " May be repeated.",
)
@click.option("--sources", type=FOLDER, help="Folder of the Move sources, for names and comments.")
@click.option("--framework", type=FOLDER, help="Folder of the Sui framework's sources.")
@click.option(
    "--base",
    "bases",
    metavar="MODULE::STRUCT=PACKAGE:CLASS",
    multiple=True,
    help="Python base class of the class that is generated for a struct. May be repeated.",
)
@compilation_options
@network_command
async def command(
    session: Session,
    place: str,
    output: Path,
    *,
    along: tuple[str, ...],
    sources: Path | None,
    framework: Path | None,
    bases: tuple[str, ...],
    compilation: Compilation,
) -> None:
    """Generate a typed Python package for a Move package: its types, events, errors and functions.

    The Move package is a FOLDER with sources or compiled modules, or the ID of a published package.
    """
    from msgspec.structs import replace

    from nexus_tools.cli.package.reading import PackageReader, sources_in
    from nexus_tools.sui.bindings.generator import generate, write_bindings

    with session.output.progress(f"reading {place}"):
        reader = PackageReader(session, compilation, framework)
        found = await reader.read(place)
        package = found.package
        if sources is not None:
            package = replace(package, sources=sources_in(sources))
        others = dict([await reader.read_other(found, wanted) for wanted in along])
        named = dict(base.partition("=")[::2] for base in bases)
        bindings = generate(package, found.framework, others, named)
        write_bindings(output, bindings.files)
    session.output.done(f"wrote bindings of {package.origin} to {output}")
    session.output.record(
        {
            "folder": str(output),
            "modules": bindings.modules,
            "types": bindings.types,
            "events": bindings.events,
            "functions": bindings.functions,
            "errors": bindings.errors,
            "nested": list(bindings.nested),
        }
    )
