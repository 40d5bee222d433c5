"""The supported frameworks, each with its own options."""

import functools
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.bridge.hyperpocket import HyperpocketSettings, credential_store
from nexus_tools.cli.framework import Choice

if TYPE_CHECKING:
    from nexus_tools.bridges import Bridge
    from nexus_tools.settings.settings import Settings

Given = Mapping[str, Any]
"""Option values by option name."""

_Option = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class System:
    """A framework and its options. `bridge` creates its bridge from the option values."""

    word: str
    options: tuple[_Option, ...]
    bridge: "Callable[[Given, Settings], Bridge]"


# --- Unstract


def _unstract(given: Given, _: "Settings") -> "Bridge":
    from nexus_tools.bridges import UnstractBridge

    return UnstractBridge(
        image=given["image"],
        entrypoint=shlex.split(given["entrypoint"] or ""),
        storage=given["storage"],
        strict_error_logs=given["strict_error_logs"],
        log_level=given["log_level"],
        params_argument=given["params_argument"],
        variables=dict(_assignment(text) for text in given["variables"]),
    )


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"expected NAME=VALUE, got {text!r}")
    return name, value


UNSTRACT = System(
    "unstract",
    (
        click.option("--image", help="Unstract: run this Docker image instead of a process."),
        click.option(
            "--entrypoint", metavar="COMMAND", help="Unstract: command that starts the tool."
        ),
        click.option(
            "--variable",
            "variables",
            multiple=True,
            metavar="NAME=VALUE",
            help="Unstract: environment variable of the tool. May be repeated.",
        ),
        click.option(
            "--log-level",
            type=Choice(["DEBUG", "INFO", "WARN", "ERROR", "FATAL"]),
            help="Unstract: return log lines from this level on. Default: none.",
        ),
        click.option(
            "--params-argument",
            is_flag=True,
            help="Unstract: also pass parameters as --params, which older tools expect.",
        ),
        click.option(
            "--storage",
            type=Choice(["auto", "local", "s3"]),
            default="auto",
            show_default=True,
            help="Unstract: where the tool's files are stored.",
        ),
        click.option(
            "--strict-error-logs",
            is_flag=True,
            help="Unstract: treat a LOG message of level ERROR as a failure, like the platform.",
        ),
    ),
    _unstract,
)

# --- SOS-Toolkit, which shares `--allow-dangerous` with NORA


def _sos(given: Given, _: "Settings") -> "Bridge":
    from nexus_tools.bridges import SosBridge

    return SosBridge(
        allow_dangerous=given["allow_dangerous"],
        keep_result=not given["sos_drop_result"],
        tools=given["sos_tools"],
    )


SOS = System(
    "sos",
    (
        click.option(
            "--allow-dangerous",
            is_flag=True,
            help="NORA, SOS: include tools that run any command or wait for user input.",
        ),
        click.option(
            "--sos-tools",
            multiple=True,
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="FOLDER",
            help="SOS: folder of tool namespaces that actions may call. May be repeated.",
        ),
        click.option(
            "--sos-drop-result",
            is_flag=True,
            help="SOS: delete __RESULT__ after each action instead of at the end of a chain.",
        ),
    ),
    _sos,
)

# --- NORA


def _nora(given: Given, _: "Settings") -> "Bridge":
    from nexus_tools.bridges import NoraBridge

    bridge = functools.partial(NoraBridge, allow_dangerous=given["allow_dangerous"])
    if given["strings_are_answers"]:
        return bridge(error_pattern=None)
    pattern = given["error_pattern"]
    return bridge() if pattern is None else bridge(error_pattern=pattern)


NORA = System(
    "nora",
    (
        click.option(
            "--error-pattern",
            metavar="REGEX",
            show_default="errors of NORA's own tools",
            help="NORA: return text that matches this expression as the variant `err`.",
        ),
        click.option(
            "--strings-are-answers",
            is_flag=True,
            help="NORA: never return text as the variant `err`, for example file contents.",
        ),
    ),
    _nora,
)

# --- Hyperpocket


def _hyperpocket(given: Given, settings: "Settings") -> "Bridge":
    from nexus_tools.bridges import (
        HyperpocketBridge,
        auth_providers,
    )

    store = credential_store(settings)
    mine = HyperpocketSettings.read(given["hyperpocket"])
    return HyperpocketBridge(
        store,
        auth_providers(mine.providers, store),
        profile=given["profile"],
        builds=not given["no_builds"],
        variables=mine.variables,
        credential_names=mine.credential_names,
    )


HYPERPOCKET = System(
    "hyperpocket",
    (
        click.option(
            "--profile",
            is_flag=True,
            help="Hyperpocket: accept the input as `body`, with `thread_id` and `profile`.",
        ),
        click.option(
            "--hyperpocket",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Hyperpocket: TOML file with credential providers and variables.",
        ),
        click.option(
            "--no-builds", is_flag=True, help="Hyperpocket: reject tools that require a build."
        ),
    ),
    _hyperpocket,
)

# --- MCP


def _mcp(given: Given, settings: "Settings") -> "Bridge":
    from nexus_tools.bridges import McpBridge, Pins

    pins = Pins(settings.data_directory / "mcp-pins.json")
    return McpBridge(
        pins, accept_changes=given["accept_changes"], per_call=given["session"] == "per-call"
    )


MCP = System(
    "mcp",
    (
        click.option(
            "--accept-changes",
            is_flag=True,
            help="MCP: accept tools that have changed since they were first seen.",
        ),
        click.option(
            "--session",
            type=Choice(["shared", "per-call"]),
            default="shared",
            show_default=True,
            help="MCP: use one server for all calls, or a new one for each call.",
        ),
    ),
    _mcp,
)

# --- All frameworks

SYSTEMS = (UNSTRACT, SOS, NORA, HYPERPOCKET, MCP)

_SYSTEM = click.option(
    "--system",
    type=Choice([system.word for system in SYSTEMS]),
    help="Discover only tools of this framework.",
)


@dataclass(frozen=True, slots=True)
class Systems:
    """The selected framework, or None for all, and the values of the options."""

    word: str | None
    given: Given

    def bridges(self, settings: "Settings") -> "list[Bridge]":
        """Return the bridges, each with its options."""
        chosen = [system for system in SYSTEMS if self.word in (None, system.word)]
        return [system.bridge(self.given, settings) for system in chosen]


def system_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command for bridged tools to receive `Systems` as `systems`."""

    @functools.wraps(command)
    def wrapped(*args: Any, system: str | None, **kwargs: Any) -> Any:
        given = {name: kwargs.pop(name) for name in names}
        return command(*args, systems=Systems(system, given), **kwargs)

    names = _add_options(lambda: None)
    _add_options(wrapped)
    return _SYSTEM(wrapped)


def _add_options(function: Callable[..., Any]) -> list[str]:
    """Add the options of all frameworks to a function, and return their names."""
    for option in reversed([item for system in SYSTEMS for item in system.options]):
        option(function)
    return [option.name for option in getattr(function, "__click_params__", ())]
