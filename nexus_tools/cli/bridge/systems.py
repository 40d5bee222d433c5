"""The bridges, with the options that each system has of its own."""

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.hyperpocket import HyperpocketSettings, credential_store

if TYPE_CHECKING:
    from nexus_tools.bridges import Bridge
    from nexus_tools.cli.settings import Settings

SYSTEMS = ("unstract", "sos", "nora", "hyperpocket", "mcp")

_OPTIONS = (
    click.option("--system", type=click.Choice(SYSTEMS), help="Look for tools of this system."),
    click.option(
        "--allow-dangerous",
        is_flag=True,
        help="NORA, SOS: take tools too that run any command or wait for a person.",
    ),
    click.option(
        "--sos-tools",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="SOS: a folder of namespaces whose tools actions may call.",
    ),
    click.option(
        "--sos-drop-result",
        is_flag=True,
        help="SOS: delete __RESULT__ after each action, and not at the end of a chain.",
    ),
    click.option(
        "--error-pattern",
        metavar="REGEX",
        help="NORA: a text that matches is the variant `err`, as in ^Error.",
    ),
    click.option("--image", help="Unstract: run this Docker image instead of a process."),
    click.option("--entrypoint", metavar="COMMAND", help="Unstract: the program of the tool."),
    click.option(
        "--variable",
        "variables",
        multiple=True,
        metavar="NAME=VALUE",
        help="Unstract: set this in the tool's environment.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["DEBUG", "INFO", "WARN", "ERROR", "FATAL"]),
        default="INFO",
        show_default=True,
        help="Unstract: the least that a tool is asked to log.",
    ),
    click.option(
        "--params-argument",
        is_flag=True,
        help="Unstract: hand parameters over as --params too, as its first tools expect.",
    ),
    click.option(
        "--storage",
        type=click.Choice(["auto", "local", "s3"]),
        default="auto",
        show_default=True,
        help="Unstract: where a tool finds its files.",
    ),
    click.option(
        "--strict-error-logs",
        is_flag=True,
        help="Unstract: a LOG of level ERROR is a failure, as on the platform.",
    ),
    click.option(
        "--profile",
        is_flag=True,
        help="Hyperpocket: take the input as `body`, with `thread_id` and `profile`.",
    ),
    click.option(
        "--hyperpocket",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Hyperpocket: a TOML file with providers of credentials and values of variables.",
    ),
    click.option("--no-builds", is_flag=True, help="Hyperpocket: refuse tools that are built."),
    click.option(
        "--accept-changes",
        is_flag=True,
        help="MCP: take tools that have changed since they were seen first.",
    ),
)


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """Which systems are looked for, and their own options."""

    system: str | None
    allow_dangerous: bool
    sos_tools: tuple[Path, ...]
    sos_drop_result: bool
    error_pattern: str | None
    image: str | None
    entrypoint: str | None
    variables: tuple[str, ...]
    log_level: str
    params_argument: bool
    storage: str
    strict_error_logs: bool
    profile: bool
    hyperpocket: Path | None
    no_builds: bool
    accept_changes: bool

    def bridges(self, settings: "Settings") -> "list[Bridge]":
        """The bridges, each with its options."""
        make: dict[str, Callable[[], Bridge]] = {
            "unstract": self._unstract,
            "sos": self._sos,
            "nora": self._nora,
            "hyperpocket": lambda: self._hyperpocket(settings),
            "mcp": lambda: self._mcp(settings),
        }
        return [make[name]() for name in SYSTEMS if self.system in (None, name)]

    def _unstract(self) -> "Bridge":
        from nexus_tools.bridges.unstract import UnstractBridge  # noqa: PLC0415 - not for `--help`

        return UnstractBridge(
            image=self.image,
            entrypoint=shlex.split(self.entrypoint or ""),
            storage=self.storage,
            strict_error_logs=self.strict_error_logs,
            log_level=self.log_level,
            params_argument=self.params_argument,
            variables=dict(_assignment(text) for text in self.variables),
        )

    def _sos(self) -> "Bridge":
        from nexus_tools.bridges.sos import SosBridge  # noqa: PLC0415 - not for `--help`

        return SosBridge(
            allow_dangerous=self.allow_dangerous,
            keep_result=not self.sos_drop_result,
            tools=self.sos_tools,
        )

    def _nora(self) -> "Bridge":
        from nexus_tools.bridges.nora import NoraBridge  # noqa: PLC0415 - not for `--help`

        return NoraBridge(error_pattern=self.error_pattern, allow_dangerous=self.allow_dangerous)

    def _hyperpocket(self, settings: "Settings") -> "Bridge":
        from nexus_tools.bridges.hyperpocket import (  # noqa: PLC0415 - not for `--help`
            HyperpocketBridge,
            auth_providers,
        )

        store = credential_store(settings)
        mine = HyperpocketSettings.read(self.hyperpocket)
        return HyperpocketBridge(
            store,
            auth_providers(mine.providers, store),
            profile=self.profile,
            builds=not self.no_builds,
            variables=mine.variables,
            credential_names=mine.credential_names,
        )

    def _mcp(self, settings: "Settings") -> "Bridge":
        from nexus_tools.bridges.mcp import McpBridge, Pins  # noqa: PLC0415 - not for `--help`

        pins = Pins(settings.data_directory / "mcp-pins.json")
        return McpBridge(pins, accept_changes=self.accept_changes)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"{text!r} is no variable: write NAME=VALUE")
    return name, value


def system_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command on tools of other systems: gets `SystemOptions` as `systems`."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mine = {name: kwargs.pop(name) for name in SystemOptions.__dataclass_fields__}
        return command(*args, systems=SystemOptions(**mine), **kwargs)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
