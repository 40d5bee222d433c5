"""The kinds of commands, by the options that they share, and how an async command is run."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from nexus_tools.cli.framework.input.shared_options import (
    DRY_RUN,
    JSON,
    NETWORK,
    QUIET,
    WALLET,
    YES,
)
from nexus_tools.cli.framework.output.hints import as_typed
from nexus_tools.cli.framework.output.output import Output
from nexus_tools.cli.framework.session import Session
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

_LATER = ("delay_not_over", "not_due")
"""Errors whose hint is to try later."""

Command = Callable[..., Any]


def local(function: Command) -> Command:
    """A command that needs no network: gets a `Session` and prints as `--json` says."""

    @functools.wraps(function)
    def run(*args: Any, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        session = Session(Output(as_json=as_json, quiet=quiet))
        return _finish(function(session, *args, **kwargs))

    return JSON(QUIET(run))


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
        try:
            return _finish(function(session, *args, **kwargs))
        except NexusError as error:
            error.hint = as_typed(session.with_wallets(_with_wait(session, error)))
            raise

    return JSON(QUIET(NETWORK(WALLET(run))))


def _with_wait(session: Session, error: NexusError) -> str:
    """The hint of an error; one that says `later` says how the time passes on a localnet."""
    wait_ms = error.details.get("wait_ms")
    if wait_ms is None or (error.hint and error.code not in _LATER):
        return error.hint
    then = "run the command again then"
    if not session.network().is_localnet:
        return then
    advance = f"nexus-tools localnet advance-clock {units.span_to_type(wait_ms)}"
    return f"{then}; `{advance}` moves the clock of the localnet on"


def writes(function: Command) -> Command:
    """A command that signs transactions: its session knows of --yes and --dry-run besides."""
    return YES(DRY_RUN(reads(function)))


def _finish(result: Any) -> Any:
    if not inspect.iscoroutine(result):
        return result
    try:
        import asyncio

        return asyncio.run(result)
    finally:
        result.close()  # Ctrl-C may come before it has begun
