"""`nexus-tools leader run`: the Leader as a process: its configuration, its log, its signals."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import (
    LOG_FORMAT,
    Session,
    as_typed,
    collect_seldom,
    complete_keys,
    reach,
    reaches,
    reads,
)
from nexus_tools.cli.leader.own import only_one, run_command
from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.settings.environment import LEADER_PREFIX
from nexus_tools.sui.support.logs import get_logger

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.leader import Leader, LeaderConfig
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_PAUSE_S = 0.5

_OPTIONS = (
    *("journal", "health_host", "health_port", "max_concurrent", "max_concurrent_per_tool"),
    "storages",
)


@click.command()
@click.option(
    "--leader", "which", help="The leader's id, or its name, if the worker works for several."
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="ALIAS",
    shell_complete=complete_keys,
    help="A key of a worker, by its alias or address; may be repeated. By default the key that"
    " signs.",
)
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="SQLite file.")
@reaches
@click.option(
    "--health-port",
    type=click.IntRange(0, 65_535),
    help="Serve /healthz, /readyz and /metrics on this port.",
)
@click.option("--health-host", help="Serve them at this IP address; 127.0.0.1 by default.")
@click.option("--max-concurrent", type=int, help="Tool calls at the same time.")
@click.option("--max-concurrent-per-tool", type=int, help="Calls of one tool at the same time.")
@click.option(
    "--storage",
    "storages",
    multiple=True,
    metavar="NAME=URL",
    help="Where inputs are fetched that are kept in this storage, not on chain: a URL with {key}"
    " in it. May be repeated.",
)
@LOG_FORMAT
@reads
async def command(
    session: Session,
    which: str | None,
    workers: tuple[str, ...],
    log_format: str | None,
    **options: Any,
) -> None:
    """Run the Leader until Ctrl-C: then it finishes what is running.

    It acts for the leader of which its key is a worker, and which need not be owned by that key:
    `nexus-tools leader worker` says whose keys are. Fees come to the worker that closes an
    invocation, and pay for its gas.

    The rest of its configuration is read from NEXUS_TOOLS_LEADER_… in the environment. It
    remembers in its journal what it has seen and sent, by default in the data directory.
    """
    from nexus_tools.sui.support.logs import is_json, log_to_stderr

    form = log_format or ("json" if session.output.as_json else None)
    log_to_stderr(form)
    with _told_as_logs(session) if is_json(form) else nullcontext():
        signers = [session.settings.find_key(each) for each in workers] or [session.signer()]
        deployment, leader = await _identity(session, which, signers, options)
        await _run(session, deployment, leader, signers, options)


async def _identity(
    session: Session, which: str | None, signers: "Sequence[KeyPair]", options: dict[str, Any]
) -> "tuple[Deployment, Address]":
    """The package and the leader, as the node knows them: one that is away is waited for.

    Meanwhile the Leader is alive, and not ready.
    """
    import asyncio

    from nexus_tools.errors import UnreachableError
    from nexus_tools.leader import not_ready

    config = _config(session, None, options)
    is_told = False
    async with AsyncExitStack() as stack:
        while True:
            try:
                async with session.nexus(endures=True) as nexus:
                    with session.output.progress("reading the registry"):
                        found = await _worked_for(session, nexus.leaders, which, signers[0].address)
                    return nexus.deployment, found
            except UnreachableError as error:
                if not is_told:
                    is_told = True
                    if config.health_port is not None:
                        host = str(config.health_host)
                        health = not_ready(config.health_port, error.message, host)
                        await stack.enter_async_context(health)
                    _log.warning("not_ready", node=error.message)
            await asyncio.sleep(config.trouble_pause_ms / 1000)


async def _worked_for(
    session: Session, leaders: "LeaderRegistry", which: str | None, worker: "Address"
) -> "Address":
    """The leader that is named, or the only one for which the address works."""
    if which is not None and which.startswith("0x"):
        return (await leaders.find(which)).id
    everybody = await leaders.list()
    worked_by = tuple(each for each in everybody if worker in each.workers.entries)
    try:
        return only_one(worked_by, which, f"{worker} is no worker of any leader").id
    except NotFoundError as error:
        workers = (address for each in everybody for address in each.workers.entries)
        options = dict.fromkeys(filter(None, map(session.wallet_option, workers)))
        if options and not worked_by:
            commands = ", ".join(f"`{run_command(session, option)}`" for option in options)
            error.hint = f"keys of yours work for leaders: {commands}"
        raise


@contextmanager
def _told_as_logs(session: Session) -> Iterator[None]:
    """Whoever reads the log as JSON finds JSON alone: errors are lines of it, too."""
    session.output.quiet = True
    try:
        yield
    except NexusError as error:
        if session.output.as_json:
            raise
        error.hint = as_typed(error.hint)
        _log.error("ended", **error.as_json())
        raise click.exceptions.Exit(error.exit_code) from None


async def _run(
    session: Session,
    deployment: "Deployment",
    leader_id: "Address",
    signers: "Sequence[KeyPair]",
    options: dict[str, Any],
) -> None:
    """Run until SIGINT or SIGTERM, and then finish what is running.

    Raises what keeps the Leader from starting.
    """
    import asyncio

    from nexus_tools.leader import Leader, make_room

    async with session.client(endures=True) as client:
        config = _config(session, leader_id, options)
        if client.network.is_localnet and not _reaches_loopback(config):
            _log.warning("no_loopback", allow="--allow-loopback")
        make_room(config.max_concurrent)
        config.journal.parent.mkdir(parents=True, exist_ok=True)
        leader = Leader(config, client, signers, deployment, leader_id)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leader.stop)
        starting = asyncio.create_task(_once_ready(session, leader, leader_id, config))
        try:
            await leader.run()
        finally:
            starting.cancel()


async def _once_ready(
    session: Session, leader: "Leader", leader_id: "Address", config: "LeaderConfig"
) -> None:
    await leader.ready.wait()
    collect_seldom()
    url = _health_url(config, leader.health_port)
    health = f", health at {url}" if url else ""
    await _until_workers_can_pay(session, leader, f"the leader {leader_id} is not ready{health}")
    _log.info("works", leader=str(leader_id), **({"health": url} if url else {}))
    session.output.done(f"the leader {leader_id} works{health}; Ctrl-C stops it")


async def _until_workers_can_pay(session: Session, leader: "Leader", said: str) -> None:
    """Warn once while no worker can close anything, and return when one can."""
    import asyncio

    is_told = False
    while problem := leader.problems().get("workers"):
        if not is_told:
            is_told = True
            _log.warning("not_ready", workers=problem)
            if not session.output.quiet:  # the log has it already
                session.output.warn(f"{said}: {problem}")
        await asyncio.sleep(_PAUSE_S)


def _reaches_loopback(config: "LeaderConfig") -> bool:
    from ipaddress import ip_address

    return config.allow_http and any(
        ip_address("127.0.0.1") in network for network in config.allowed_networks
    )


def _health_url(config: "LeaderConfig", port: int | None) -> str:
    host = f"[{config.health_host}]" if config.health_host.version == 6 else config.health_host
    return f"http://{host}:{port}" if port else ""


def _config(
    session: Session, leader_id: "Address | None", options: dict[str, Any]
) -> "LeaderConfig":
    """What the environment sets, overruled by what was given as options."""
    from nexus_tools.leader import LeaderConfig

    # While its id is not known, nobody opens its journal.
    journal = session.settings.data_directory / "leaders" / f"{leader_id}.sqlite"
    environment = {f"{LEADER_PREFIX}JOURNAL": str(journal), **os.environ}
    given = {name: options[name] for name in _OPTIONS} | reach(options)
    overrides = {name: value for name, value in given.items() if value not in (None, ())}
    return LeaderConfig.load(environment, **overrides)
