"""Compilation of Move packages: options, the compiler, and the folder of our own package."""

import asyncio
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import FRAMEWORK_FROM, Session
from nexus_tools.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.compiler import MoveBuilder
    from nexus_tools.sui.localnet.framework import Release

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class Compilation:
    """The dependencies, the framework, and the timeout for the compilation of a package."""

    checkouts: Mapping[str, Path] = field(default_factory=dict)
    framework_from: str | None = None
    timeout_s: float | None = None

    def release(self, session: Session) -> "Release":
        """Return the framework to compile for, outside of an event loop."""
        from nexus_tools.sui.framework_source import find_release
        from nexus_tools.sui.localnet.framework import embedded_release

        if self.framework_from is None:
            return embedded_release()
        return asyncio.run(find_release(self.framework_from, session.settings.cache_directory))

    def builder(self, session: Session) -> "MoveBuilder":
        """Return the compiler, which `npm` downloads at first use.

        The method must not be called in an event loop.
        """
        from nexus_tools.sui.localnet.compiler import BUILD_TIMEOUT_S, MoveBuilder

        return MoveBuilder.installed(
            session.settings.cache_directory,
            release=self.release(session),
            timeout_s=self.timeout_s or BUILD_TIMEOUT_S,
        )


def compilation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command that compiles a package to receive a `Compilation`."""

    @functools.wraps(function)
    def run(
        *args: Any,
        dependencies: tuple[str, ...],
        framework_from: str | None,
        build_timeout: float | None,
        **kwargs: Any,
    ) -> Any:
        checkouts = dict(map(_checkout, dependencies))
        compilation = Compilation(checkouts, framework_from, build_timeout)
        return function(*args, compilation=compilation, **kwargs)

    return _DEPENDENCY(FRAMEWORK_FROM(_BUILD_TIMEOUT(run)))


_DEPENDENCY = click.option(
    "--dependency",
    "dependencies",
    metavar="NAME=FOLDER",
    multiple=True,
    help="Read the dependency NAME from FOLDER instead of the location in Move.toml."
    " May be repeated.",
)
_BUILD_TIMEOUT = click.option(
    "--build-timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    show_default="60",
    help="Maximum time to compile one package.",
)


BUNDLE_OPTION = click.option(
    "--bundle",
    type=click.Choice(["unpublished", "all"]),
    help="Include dependencies in the package: only unpublished dependencies, or all.",
)
"""The option of commands that compile a package to publish it."""


def _checkout(option: str) -> tuple[str, Path]:
    name, _, folder = option.partition("=")
    if not (name and folder and Path(folder).is_dir()):
        raise UsageError(
            "dependency_invalid",
            f"expected --dependency NAME=FOLDER, got {option!r}",
            hint="Use the name of the dependency in Move.toml, and an existing folder.",
        )
    return name, Path(folder)


def our_sources() -> Path:
    """Return the folder of our own package. Raises `sources_missing` outside a checkout."""
    folder = Path(__file__).parents[3] / "move" / "nexus_tools"
    if not folder.is_dir():
        raise NotFoundError(
            "sources_missing",
            "the sources of the tool package are not installed with nexus-tools",
            hint="Pass a folder, or run the command in a checkout.",
        )
    return folder
