"""The command `nexus-tools leader run`: configuration, log and signals of the Leader."""

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
    complete_keys,
    network_command,
    network_policy,
    network_policy_options,
    reduce_gc_frequency,
    with_current_options,
)
from nexus_tools.cli.leader.journal_location import JournalLocation, default_journal
from nexus_tools.cli.leader.own import key_aliases, require_single, run_command
from nexus_tools.errors import NexusError, NotFoundError
from nexus_tools.settings.environment import LEADER_PREFIX
from nexus_tools.sui.support.logs import get_logger

if TYPE_CHECKING:
    from nexus_tools.contracts import Deployment
    from nexus_tools.leader import Leader, LeaderConfig
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.keystore import Signer
    from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_PAUSE_S = 0.5

_OPTIONS = (
    *("journal", "health_host", "health_port", "max_concurrent", "max_concurrent_per_tool"),
    "storages",
)


@click.command()
@click.option(
    "--leader",
    "leader_name",
    help="ID or name of the leader. Required if the worker has several leaders.",
)
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="ADDRESS|ALIAS|URL",
    shell_complete=complete_keys,
    help="Key of a worker, by its alias, address or signer URL. May be repeated. Default: the key"
    " that signs.",
)
@click.option(
    "--journal",
    type=JournalLocation(dir_okay=False, path_type=Path),
    metavar="FILE|URL",
    help="SQLite file, or postgresql:// URL without a password, of the journal. Default: a file in"
    " the data directory.",
)
@network_policy_options
@click.option(
    "--health-port",
    type=click.IntRange(0, 65_535),
    help="Port for /healthz, /readyz and /metrics. Default: no health server.",
)
@click.option("--health-host", help="IP address of --health-port. Default: 127.0.0.1.")
@click.option("--max-concurrent", type=int, help="Maximum number of concurrent tool calls.")
@click.option(
    "--max-concurrent-per-tool", type=int, help="Maximum number of concurrent calls of one tool."
)
@click.option(
    "--storage",
    "storages",
    multiple=True,
    metavar="NAME=URL",
    help="URL, with the placeholder {key}, from which the Leader fetches remote values of"
    " the storage NAME. May be repeated.",
)
@LOG_FORMAT
@network_command
async def command(
    session: Session,
    leader_name: str | None,
    workers: tuple[str, ...],
    log_format: str | None,
    **options: Any,
) -> None:
    """Run the Leader until Ctrl-C, then finish pending work and exit.

    The Leader process acts for a registered leader that has the process's key as a worker (see
    `nexus-tools leader worker`). The key does not need to own the leader. The worker that closes an
    invocation receives the fee, which pays for its gas.

    Environment variables NEXUS_TOOLS_LEADER_… change other settings. For example,
    NEXUS_TOOLS_LEADER_SIGNING_KEY is the file of the key that signs tool calls. The journal records
    what the Leader has seen and sent.
    """
    from nexus_tools.sui.support.logs import is_json, log_to_stderr

    form = log_format or ("json" if session.output.as_json else None)
    log_to_stderr(form)
    with _told_as_logs(session) if is_json(form) else nullcontext():
        signers = [session.find_signer(worker) for worker in workers] or [session.signer()]
        await _check_signers(signers)
        deployment, leader = await _identity(session, leader_name, signers, options)
        await _run(session, deployment, leader, signers, options)


async def _check_signers(signers: "Sequence[Signer]") -> None:
    """Compare the addresses of remote signers. A signer that does not respond may respond later."""
    from nexus_tools.errors import UnreachableError
    from nexus_tools.sui.keystore import RemoteSigner

    for signer in signers:
        if isinstance(signer, RemoteSigner):
            try:
                await signer.check_address()
            except UnreachableError as error:
                _log.warning("signer_unreachable", worker=str(signer.address), error=error.message)


async def _identity(
    session: Session, leader_name: str | None, signers: "Sequence[Signer]", options: dict[str, Any]
) -> "tuple[Deployment, Address]":
    """Return the package and the leader, and wait for the node if it is unreachable.

    While the function waits, the health server reports the Leader as alive but not ready.
    """
    import asyncio

    from nexus_tools.errors import UnreachableError
    from nexus_tools.leader import not_ready

    config = _config(session, None, options)
    is_told = False
    async with AsyncExitStack() as stack:
        while True:
            try:
                async with session.nexus(signing=False, keeps_running=True) as nexus:
                    with session.output.progress("reading the registry"):
                        found = await _worked_for(
                            session, nexus.leaders, leader_name, signers[0].address
                        )
                    return nexus.deployment, found
            except UnreachableError as error:
                if not is_told:
                    is_told = True
                    if config.health_port is not None:
                        host = str(config.health_host)
                        health = not_ready(config.health_port, str(error), host)
                        await stack.enter_async_context(health)
                    _log.warning("not_ready", node=str(error), code=error.code)
            await asyncio.sleep(config.error_retry_delay_ms / 1000)


async def _worked_for(
    session: Session, leaders: "LeaderRegistry", leader_name: str | None, worker: "Address"
) -> "Address":
    """Return the named leader, or the only leader that has the address as a worker."""
    if leader_name is not None and leader_name.startswith("0x"):
        return (await leaders.find(leader_name)).id
    worked_by = await leaders.worked_by(worker)
    try:
        return require_single(worked_by, leader_name, f"{worker} is not a worker of any leader").id
    except NotFoundError as error:
        aliases = await key_aliases(session, leaders, lambda leader: leader.workers.entries)
        if aliases and not worked_by:
            commands = ", ".join(f"`{run_command(session, alias)}`" for alias in aliases)
            one_of = "one of " if len(aliases) > 1 else ""
            error.hint = f"Your other keys are workers of leaders. Run {one_of}{commands}."
        raise


@contextmanager
def _told_as_logs(session: Session) -> Iterator[None]:
    """Log errors as JSON, so that stderr contains nothing but JSON lines."""
    session.output.quiet = True
    try:
        yield
    except NexusError as error:
        if session.output.as_json:
            raise
        error.hint = with_current_options(error.hint)
        _log.error("ended", **error.as_json())
        raise click.exceptions.Exit(error.exit_code) from None


async def _run(
    session: Session,
    deployment: "Deployment",
    leader_id: "Address",
    signers: "Sequence[Signer]",
    options: dict[str, Any],
) -> None:
    """Run until SIGINT or SIGTERM, then finish pending work.

    Raises errors that prevent the start of the Leader.
    """
    import asyncio

    from nexus_tools.leader import Leader, raise_file_limit, require_finished

    async with session.client(keeps_running=True) as client:
        config = _config(session, leader_id, options)
        if client.network.is_localnet and not _reaches_loopback(config):
            _log.warning("loopback_not_allowed", allow="--allow-loopback")
        raise_file_limit(config.max_concurrent)
        if isinstance(config.journal, Path):
            config.journal.parent.mkdir(parents=True, exist_ok=True)
        else:
            require_finished(default_journal(session, leader_id))
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
    reduce_gc_frequency()
    url = _health_url(config, leader.health_port)
    health = f", health at {url}" if url else ""
    await _until_workers_can_pay(session, leader, f"the leader {leader_id} is not ready{health}")
    _log.info("works", leader=str(leader_id), **({"health": url} if url else {}))
    session.output.done(f"the leader {leader_id} is running{health}; press Ctrl-C to stop")


async def _until_workers_can_pay(session: Session, leader: "Leader", said: str) -> None:
    """Wait until a worker can pay for gas. Warn once if no worker can pay."""
    import asyncio

    is_told = False
    while problem := leader.problems().get("workers"):
        if not is_told:
            is_told = True
            _log.warning("not_ready", workers=problem)
            if not session.output.quiet:  # with --json, the log reports it
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
    """Return the configuration of the environment, overridden by the options."""
    from nexus_tools.leader import LeaderConfig

    # The journal is opened only after the leader's ID is known.
    journal = default_journal(session, leader_id)
    environment = {f"{LEADER_PREFIX}JOURNAL": str(journal), **os.environ}
    given = {name: options[name] for name in _OPTIONS} | network_policy(options)
    overrides = {name: value for name, value in given.items() if value not in (None, ())}
    return LeaderConfig.load(environment, **overrides)
