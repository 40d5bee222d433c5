"""`nexus-tools leader run`: the Leader as a process: its configuration, its log, its signals."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import LOG_FORMAT, Session, reach, reaches, reads
from nexus_tools.cli.garbage import collect_seldom
from nexus_tools.cli.leader.identity import LEADER, chosen
from nexus_tools.environment import LEADER_PREFIX

if TYPE_CHECKING:
    from nexus_tools.leader import Leader, LeaderConfig
    from nexus_tools.package import Deployment
    from nexus_tools.sui.address import Address

_OPTIONS = ("journal", "health_port", "max_concurrent", "max_concurrent_per_tool")


@click.command()
@LEADER
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="SQLite file.")
@reaches
@click.option(
    "--health-port",
    type=click.IntRange(0, 65_535),
    help="Serve /healthz, /readyz and /metrics on this port of 127.0.0.1.",
)
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
    from nexus_tools.logs import log_to_stderr

    log_to_stderr(log_format or ("json" if session.output.as_json else None))
    async with session.nexus() as nexus:
        cap = await chosen(nexus.leaders, which)
    await _run(session, nexus.deployment, cap, options)


async def _run(
    session: Session, deployment: "Deployment", cap: "Address", options: dict[str, Any]
) -> None:
    """Run until SIGINT or SIGTERM, and then finish what is running.

    Raises what keeps the Leader from starting.
    """
    import asyncio

    from nexus_tools.leader import Leader

    async with session.client() as client:
        config = _config(session, cap, options)
        config.journal.parent.mkdir(parents=True, exist_ok=True)
        leader = Leader(config, client, session.signer(), deployment, cap)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leader.stop)
        starting = asyncio.create_task(_once_ready(session, leader, cap))
        try:
            await leader.run()
        finally:
            starting.cancel()


async def _once_ready(session: Session, leader: "Leader", cap: "Address") -> None:
    await leader.ready.wait()
    collect_seldom()
    health = f", health at http://127.0.0.1:{leader.health_port}" if leader.health_port else ""
    session.output.done(f"the leader {cap} works{health}; Ctrl-C stops it")


def _config(session: Session, cap: "Address", options: dict[str, Any]) -> "LeaderConfig":
    """What the environment sets, overruled by what was given as options."""
    from nexus_tools.leader import LeaderConfig

    journal = session.settings.data_directory / "leaders" / f"{cap}.sqlite"
    environment = {f"{LEADER_PREFIX}JOURNAL": str(journal), **os.environ}
    given = {name: options[name] for name in _OPTIONS} | reach(options)
    overrides = {name: value for name, value in given.items() if value is not None}
    return LeaderConfig.load(environment, **overrides)
