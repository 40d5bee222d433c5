"""The command `nexus-tools package build`, which compiles a Move package."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, offline_command
from nexus_tools.cli.package.compiler import (
    BUNDLE_OPTION,
    FOLDER,
    Compilation,
    compilation_options,
    our_sources,
)
from nexus_tools.errors import ValidationError

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.compiler import Bundle


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Output folder of the compiled modules.",
)
@click.option("--framework", type=FOLDER, help="Folder of the Sui framework's sources.")
@BUNDLE_OPTION
@compilation_options
@offline_command
def command(
    session: Session,
    folder: Path | None,
    *,
    output: Path | None,
    framework: Path | None,
    bundle: "Bundle | None",
    compilation: Compilation,
) -> None:
    """Compile the Move package in FOLDER.

    Without FOLDER, the command compiles the tool package of nexus-tools, and compares the result
    with the installed bytecode. The compiler is the official Move compiler as WebAssembly. `npm`
    downloads the compiler at the first use.
    """
    from nexus_tools.sui.bytecode import deserialize
    from nexus_tools.sui.localnet.compiler import build_to_publish

    source = folder or our_sources()
    with session.output.progress(f"compiling {source}"):
        built = build_to_publish(
            compilation.builder(session),
            source,
            framework,
            checkouts=compilation.checkouts,
            bundle=bundle,
        )
    modules = {deserialize(module).name: module for module in built.modules}
    if built.warnings:
        session.output.warn(built.warnings)
    record: dict[str, Any] = {
        "folder": str(source),
        "modules": list(modules),
        "digest": built.digest.hex(),
        "dependencies": [f"0x{dependency.hex()}" for dependency in built.dependencies],
    }
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, module in modules.items():
            (output / f"{name}.mv").write_bytes(module)
        record["output"] = str(output)
    session.output.done(f"compiled {len(modules)} modules of {source}")
    session.output.record(record)
    if folder is None:
        _compare(session, built.modules)


def _compare(session: Session, modules: tuple[bytes, ...]) -> None:
    from nexus_tools.contracts import load_package

    if modules != load_package().modules:
        raise ValidationError(
            "bytecode_mismatch",
            "the compiled sources differ from the bytecode of nexus-tools",
            hint="Check whether the sources were changed, or another compiler was used.",
        )
    session.output.done("the compiled sources match the bytecode of nexus-tools")
