"""The Leader as a process: its settings, its log, its signals."""

import asyncio
import logging
import os
import signal
import sys
from typing import Any

import structlog

from nexus_tools.cli.leader import chosen
from nexus_tools.cli.reach import reach
from nexus_tools.cli.session import Session
from nexus_tools.leader import ENVIRONMENT_PREFIX, Leader, LeaderSettings
from nexus_tools.sui.address import Address

_SETTINGS = ("journal", "health_port", "max_concurrent", "max_concurrent_per_tool")


async def run_leader(session: Session, which: str | None, options: dict[str, Any]) -> None:
    """Run until SIGINT or SIGTERM, and then finish what is running.

    Raises what keeps the Leader from starting.
    """
    async with session.leaders() as leaders:
        cap = await chosen(leaders, which)
        deployment = leaders.deployment
    async with session.client() as client:
        settings = _settings(session, cap, options)
        settings.journal.parent.mkdir(parents=True, exist_ok=True)
        leader = Leader(settings, client, session.signer(), deployment, cap)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leader.stop)
        saying = asyncio.create_task(_say_ready(session, leader, cap))
        try:
            await leader.run()
        finally:
            saying.cancel()


async def _say_ready(session: Session, leader: Leader, cap: Address) -> None:
    await leader.ready.wait()
    health = f", health at http://127.0.0.1:{leader.health_port}" if leader.health_port else ""
    session.output.done(f"the leader {cap} works{health}; Ctrl-C stops it")


def _settings(session: Session, cap: Address, options: dict[str, Any]) -> LeaderSettings:
    """The settings of the environment, overruled by what was given as options."""
    journal = session.settings.data_directory / "leaders" / f"{cap}.sqlite"
    environment = {f"{ENVIRONMENT_PREFIX}JOURNAL": str(journal), **os.environ}
    given = {name: options[name] for name in _SETTINGS} | reach(options)
    overrides = {name: value for name, value in given.items() if value is not None}
    return LeaderSettings.load(environment, **overrides)


def log_to_stderr(log_format: str | None) -> None:
    """Write the log as `text` or `json`; without a choice, as text if a person is watching."""
    as_text = log_format == "text" or (log_format is None and sys.stderr.isatty())
    renderer: Any = structlog.processors.JSONRenderer()
    if as_text:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            renderer if as_text else structlog.processors.dict_tracebacks,
            *([] if as_text else [renderer]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
