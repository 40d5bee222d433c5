"""The commands that start, show, stop and reset the localnet."""

import shlex
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nexus_tools.cli.framework import FRAMEWORK_FROM, Session, offline_command
from nexus_tools.cli.localnet.which import LOCALNET_OPTION, find_localnet
from nexus_tools.settings import environment
from nexus_tools.settings.running_localnet import (
    DEFAULT_NAME,
    USUAL_PORT,
    RunningLocalnet,
    check_name,
    check_not_running,
    last_localnet,
    log_file,
)
from nexus_tools.sui.support import units

_KEEP = "To keep a chain, run `nexus-tools localnet start --state FOLDER`"


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=USUAL_PORT,
    show_default=True,
    envvar=environment.LOCALNET_PORT,
    help="Port on 127.0.0.1. Port 0 selects a free port. With --name, the default port is 0.",
)
@click.option(
    "--name",
    default=DEFAULT_NAME,
    show_default=True,
    help="Name of the localnet. Select it in commands with `--network NAME`.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder in which to keep the state across restarts. Default: in memory.",
)
@click.option(
    "--randomness-seed",
    metavar="TEXT",
    help="Seed of the chain's random bytes. Default: a random secret.",
)
@FRAMEWORK_FROM
@click.option(
    "--protocol-version",
    metavar="NUMBER",
    type=int,
    help="Protocol version of the chain. Default: 105, the version of the included framework.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Host name that clients may use, in addition to IP addresses and localhost.",
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="Origin of web pages that may use the localnet, in addition to localhost.",
)
@click.option("--explorer", is_flag=True, help="Also run `nexus-tools explorer` for this localnet.")
@click.option("--detach", is_flag=True, help="Run in the background.")
@click.option("--background", is_flag=True, hidden=True)
@offline_command
@click.pass_context
def start(
    context: click.Context,
    session: Session,
    port: int,
    name: str,
    state: Path | None,
    *,
    randomness_seed: str | None,
    framework_from: str | None,
    protocol_version: int | None,
    allowed_hosts: tuple[str, ...],
    allowed_origins: tuple[str, ...],
    explorer: bool,
    detach: bool,
    background: bool,
) -> Any:
    """Start a localnet and run it until Ctrl-C. With --detach, run it in the background."""
    from nexus_tools.cli.localnet.process import LocalnetOptions, run_localnet, start_detached

    if name != DEFAULT_NAME and context.get_parameter_source("port") != ParameterSource.COMMANDLINE:
        port = 0
    check_name(name, session.settings.networks)
    if not background:
        check_not_running(name)
    pages = allowed_hosts, allowed_origins
    wish = LocalnetOptions(
        name, port, state, randomness_seed, framework_from, protocol_version, *pages, explorer
    )
    is_new = state is None and not background
    in_memory = _warn_of_state(session, name) if is_new else ""
    if not detach:
        if in_memory:
            session.output.note(in_memory)
        return run_localnet(session, wish, detached=background)
    with session.output.progress("starting the localnet"):
        running = start_detached(wish)
    _report_start(session, running)
    if in_memory:
        session.output.note(in_memory)
    return None


@click.command()
@LOCALNET_OPTION
@offline_command
async def status(session: Session, network_name: str | None) -> None:
    """Show the localnet's URL, chain, and time."""
    running = find_localnet(session, network_name)
    session.network_name = running.name
    async with session.client() as client:
        known = _record(running) if session.output.as_json else _for_people(running)
        record = known | {
            "chain_id": await client.chain_id(),
            "time_ms": await client.now_ms(),
        }
    session.output.record(record if session.output.as_json else units.in_words(record))


@click.command()
@LOCALNET_OPTION
@offline_command
def stop(session: Session, network_name: str | None) -> None:
    """Stop the localnet and wait until it has ended."""
    from nexus_tools.cli.localnet.process import stop_localnet

    running = find_localnet(session, network_name)
    with session.output.progress("stopping the localnet"):
        stop_localnet(running)
    session.output.done(f"stopped the localnet at {running.url}")
    if running.state is None:
        session.output.note(f"the localnet's chain was in memory and is lost. {_KEEP}")
    if session.output.as_json:
        session.output.document(_record(running))


@click.command()
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
@LOCALNET_OPTION
@offline_command
def reset(session: Session, network_name: str | None, *, yes: bool) -> None:
    """Stop the localnet, delete its state, and start it again with the same options.

    The new localnet has a new chain, so publish the package again.
    """
    from nexus_tools.cli.localnet.process import reset_localnet

    running = find_localnet(session, network_name)
    what = f" and delete {running.state}" if running.state else ""
    session.output.confirm(f"Discard everything on {running.url}{what}?", yes=yes)
    with session.output.progress("restarting the localnet"):
        running = reset_localnet(running)
    for published in (session.settings.deployments, session.settings.upgrade_locks):
        published.pop(running.name, None)
    session.settings.save()
    _report_start(session, running)


def _warn_of_state(session: Session, name: str) -> str:
    """Warn about a stored chain that is not used, or return a note about the chain in memory."""
    last = last_localnet(name)
    if last is not None and last.state is not None and Path(last.state).exists():
        option = f"--state {shlex.quote(last.state)}"
        session.output.warn(
            f"this localnet starts with a new chain, but your last localnet stored its chain in"
            f" {last.state}. To continue that chain, pass {option}"
        )
        return ""
    ended = ", and the chain of your last localnet is lost" if last is not None else ""
    return f"the chain is new and in memory{ended}. {_KEEP}"


def _report_start(session: Session, running: RunningLocalnet) -> None:
    session.output.done(f"a Sui network listens at {running.url}")
    record = _record(running)
    session.output.record(record if session.output.as_json else _for_people(running))
    if running.name != DEFAULT_NAME:
        session.output.note(
            f"use this localnet with --network {running.name}, and stop it with"
            f" `nexus-tools localnet stop --network {running.name}`"
        )


def _for_people(running: RunningLocalnet) -> dict[str, Any]:
    from nexus_tools.cli.localnet.process import framework_in_words

    return _record(running) | {"framework": framework_in_words(running)}


def _record(running: RunningLocalnet) -> dict[str, Any]:
    log = str(log_file(running.name)) if running.detached else None
    return {
        "name": running.name,
        "url": running.url,
        "pid": running.pid,
        "state": running.state,
        "randomness_seed": running.randomness_seed,
        "protocol_version": running.protocol_version,
        "framework_from": running.framework_from,
        "framework": running.framework,
        "log": log,
        "explorer": running.explorer,
    }
