"""`nexus-tools leader run`: the Leader as a process: its configuration, its log, its signals."""

import os
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import LOG_FORMAT, Session, reach, reaches, reads
from nexus_tools.cli.garbage import collect_seldom
from nexus_tools.cli.leader.identity import LEADER, chosen
from nexus_tools.environment import LEADER_PREFIX
from nexus_tools.errors import NexusError
from nexus_tools.logs import get_logger

if TYPE_CHECKING:
    from nexus_tools.leader import Leader, LeaderConfig
    from nexus_tools.package import Deployment
    from nexus_tools.sui.address import Address

_log = get_logger("nexus_tools.leader")

_OPTIONS = ("journal", "health_host", "health_port", "max_concurrent", "max_concurrent_per_tool")


@click.command()
@LEADER
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
@LOG_FORMAT
@reads
async def command(
    session: Session, which: str | None, log_format: str | None, **options: Any
) -> None:
    """Run the Leader until Ctrl-C: then it finishes what is running.

    The rest of its configuration is read from NEXUS_TOOLS_LEADER_… in the environment. It
    remembers in its journal what it has seen and sent, by default in the data directory.
    """
    from nexus_tools.logs import is_json, log_to_stderr

    form = log_format or ("json" if session.output.as_json else None)
    log_to_stderr(form)
    with _told_as_logs(session) if is_json(form) else nullcontext():
        deployment, cap = await _identity(session, which, options)
        await _run(session, deployment, cap, options)


async def _identity(
    session: Session, which: str | None, options: dict[str, Any]
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
                    return nexus.deployment, await chosen(nexus.leaders, which)
            except UnreachableError as error:
                if not is_told:
                    is_told = True
                    if config.health_port is not None:
                        host = str(config.health_host)
                        health = not_ready(config.health_port, error.message, host)
                        await stack.enter_async_context(health)
                    _log.warning("not_ready", node=error.message)
            await asyncio.sleep(config.trouble_pause_ms / 1000)


@contextmanager
def _told_as_logs(session: Session) -> Iterator[None]:
    """Whoever reads the log as JSON finds JSON alone: errors are lines of it, too."""
    session.output.quiet = True
    try:
        yield
    except NexusError as error:
        if session.output.as_json:
            raise
        _log.error("ended", **error.as_json())
        raise click.exceptions.Exit(error.exit_code) from None


async def _run(
    session: Session, deployment: "Deployment", cap: "Address", options: dict[str, Any]
) -> None:
    """Run until SIGINT or SIGTERM, and then finish what is running.

    Raises what keeps the Leader from starting.
    """
    import asyncio

    from nexus_tools.leader import Leader, make_room

    async with session.client(endures=True) as client:
        config = _config(session, cap, options)
        make_room(config.max_concurrent)
        config.journal.parent.mkdir(parents=True, exist_ok=True)
        leader = Leader(config, client, session.signer(), deployment, cap)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leader.stop)
        starting = asyncio.create_task(_once_ready(session, leader, cap, config))
        try:
            await leader.run()
        finally:
            starting.cancel()


async def _once_ready(
    session: Session, leader: "Leader", cap: "Address", config: "LeaderConfig"
) -> None:
    await leader.ready.wait()
    collect_seldom()
    url = _health_url(config, leader.health_port)
    _log.info("works", leader=str(cap), **({"health": url} if url else {}))
    health = f", health at {url}" if url else ""
    session.output.done(f"the leader {cap} works{health}; Ctrl-C stops it")


def _health_url(config: "LeaderConfig", port: int | None) -> str:
    host = f"[{config.health_host}]" if config.health_host.version == 6 else config.health_host
    return f"http://{host}:{port}" if port else ""


def _config(session: Session, cap: "Address | None", options: dict[str, Any]) -> "LeaderConfig":
    """What the environment sets, overruled by what was given as options."""
    from nexus_tools.leader import LeaderConfig

    # While its id is not known, nobody opens its journal.
    journal = session.settings.data_directory / "leaders" / f"{cap}.sqlite"
    environment = {f"{LEADER_PREFIX}JOURNAL": str(journal), **os.environ}
    given = {name: options[name] for name in _OPTIONS} | reach(options)
    overrides = {name: value for name, value in given.items() if value is not None}
    return LeaderConfig.load(environment, **overrides)
