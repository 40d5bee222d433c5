"""Decorators that add shared options to commands, and the runner of async commands."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from nexus_tools.cli.framework.input.shared_options import (
    DRY_RUN,
    JSON,
    NETWORK,
    QUIET,
    SIGNER,
    WALLET,
    YES,
)
from nexus_tools.cli.framework.output.hints import with_current_options
from nexus_tools.cli.framework.output.output import Output
from nexus_tools.cli.framework.session import Session
from nexus_tools.errors import NexusError
from nexus_tools.sui.support import units

_LATER = ("delay_not_over", "slash_not_due")
"""Codes of errors that the user resolves by waiting."""

Command = Callable[..., Any]


def offline_command(function: Command) -> Command:
    """Decorate an offline command to receive a `Session`, and add `--json` and `--quiet`."""

    @functools.wraps(function)
    def run(*args: Any, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        session = Session(Output(as_json=as_json, quiet=quiet))
        return _finish(function(session, *args, **kwargs))

    return JSON(QUIET(run))


def query_command(function: Command) -> Command:
    """Decorate a command that reads from a network without an account, and add its options."""
    return JSON(QUIET(NETWORK(_network_run(function))))


def network_command(function: Command) -> Command:
    """Decorate a command that reads from a network, and also add the options of an account."""
    return JSON(QUIET(NETWORK(WALLET(SIGNER(_network_run(function))))))


def _network_run(function: Command) -> Command:
    """Return a function that runs a command with a `Session` for a network."""

    @functools.wraps(function)
    def run(
        *args: Any,
        as_json: bool,
        quiet: bool,
        network_name: str | None,
        wallet_name: str | None = None,
        signer_url: str | None = None,
        **kwargs: Any,
    ) -> Any:
        session = Session(
            Output(as_json=as_json, quiet=quiet),
            network_name=network_name,
            wallet_name=wallet_name,
            signer_url=signer_url,
            yes=kwargs.pop("yes", False),
            dry_run=kwargs.pop("dry_run", False),
        )
        try:
            return _finish(function(session, *args, **kwargs))
        except NexusError as error:
            error.hint = with_current_options(session.with_wallets(_with_wait(session, error)))
            raise

    return run


def _with_wait(session: Session, error: NexusError) -> str:
    """Return the error's hint, with the command that advances a localnet's clock if necessary."""
    wait_ms = error.details.get("wait_ms")
    if wait_ms is None or (error.hint and error.code not in _LATER):
        return error.hint
    then = "Run the command again after that time"
    if not session.network().is_localnet:
        return f"{then}."
    advance = f"nexus-tools localnet advance-clock {units.format_duration_argument(wait_ms)}"
    return f"{then}, or run `{advance}` to advance the localnet's clock."


def transaction_command(function: Command) -> Command:
    """Decorate a command that signs transactions, and also add `--yes` and `--dry-run`."""
    return YES(DRY_RUN(network_command(function)))


def _finish(result: Any) -> Any:
    if not inspect.iscoroutine(result):
        return result
    try:
        import asyncio

        return asyncio.run(result)
    finally:
        result.close()  # Ctrl-C may arrive before the coroutine starts
