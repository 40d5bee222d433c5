"""`nexus-tools package bindings`: a typed Python package for a Move package."""

from pathlib import Path

import click

from nexus_tools.cli.framework import Session, complete_folders, reads
from nexus_tools.cli.package.compiler import FOLDER, Compilation, compiles


@click.command()
@click.argument("place", metavar="FOLDER|ID", shell_complete=complete_folders)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Write the Python package here.",
)
@click.option(
    "--with",
    "along",
    metavar="NAME[=FOLDER|ID|DEPENDENCY]",
    multiple=True,
    help="Generate this package, too, as NAME inside; by itself NAME is a dependency.",
)
@click.option("--sources", type=FOLDER, help="Move sources of it, for names and comments.")
@click.option("--framework", type=FOLDER, help="Sources of the Sui framework.")
@click.option(
    "--base",
    "bases",
    metavar="MODULE::STRUCT=PACKAGE:CLASS",
    multiple=True,
    help="Let the class of a struct inherit from this class of yours.",
)
@compiles
@reads
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
    """Write a typed Python package for a Move package: its types, events, errors and functions.

    The package is in a folder, with sources or compiled, or published on the network.
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
    session.output.done(f"wrote bindings of {package.origin} into {output}")
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
