"""The options that commands share, and how an async command is run."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import click

from nexus_tools.cli.framework.output import Output
from nexus_tools.cli.framework.session import Session

Command = Callable[..., Any]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print results only.")
_NETWORK = click.option("-n", "--network", "network_name", help="Work on this network.")
_WALLET = click.option("-w", "--wallet", "wallet_name", help="Sign with this key.")
_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Simulate: nothing is signed or sent.")


_FLAGS = ("--json", "-q", "--quiet", "-y", "--yes", "--dry-run")
_WITH_VALUE = ("-n", "--network", "-w", "--wallet")


def shared_options_last(group: click.Group, context: click.Context, args: list[str]) -> list[str]:
    """Move the options that commands share behind the command's name, where click looks for them.

    `--json tool -n localnet list` becomes `tool list --json -n localnet`.
    """
    path: list[str] = []
    options: list[str] = []
    rest = list(args)
    place: click.Command | None = group
    while rest and isinstance(place, click.Group):
        word = rest.pop(0)
        if word in _FLAGS or word.startswith(("--network=", "--wallet=")):
            options.append(word)
        elif word in _WITH_VALUE:
            options += [word, *rest[:1]]
            del rest[:1]
        else:
            path.append(word)
            place = place.get_command(context, word)
    return [*path, *options, *rest]


def local(function: Command) -> Command:
    """A command that needs no network: gets a `Session` and prints as `--json` says."""

    @functools.wraps(function)
    def run(*args: Any, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        session = Session(Output(as_json=as_json, quiet=quiet))
        return _finish(function(session, *args, **kwargs))

    return _JSON(_QUIET(run))


def reads(function: Command) -> Command:
    """A command that reads from a network."""

    @functools.wraps(function)
    def run(
        *args: Any,
        as_json: bool,
        quiet: bool,
        network_name: str | None,
        wallet_name: str | None,
        **kwargs: Any,
    ) -> Any:
        session = Session(
            Output(as_json=as_json, quiet=quiet),
            network_name=network_name,
            wallet_name=wallet_name,
            yes=kwargs.pop("yes", False),
            dry_run=kwargs.pop("dry_run", False),
        )
        return _finish(function(session, *args, **kwargs))

    return _JSON(_QUIET(_NETWORK(_WALLET(run))))


def writes(function: Command) -> Command:
    """A command that signs transactions: its session knows of --yes and --dry-run besides."""
    return _YES(_DRY_RUN(reads(function)))


def _finish(result: Any) -> Any:
    if not inspect.iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)
