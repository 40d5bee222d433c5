"""Commands for the process of a localnet: run, start in the background, stop, and reset."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from nexus_tools.cli.framework import Session, child_command, reduce_gc_frequency
from nexus_tools.cli.localnet.explorer import running_explorer
from nexus_tools.errors import NexusError, UsageError, WrongStateError
from nexus_tools.settings.running_localnet import (
    RunningLocalnet,
    lock_localnet_name,
    log_file,
    publish_localnet,
    running_localnet,
)
from nexus_tools.sui.support.allowed_sources import AllowedSources

if TYPE_CHECKING:
    from nexus_tools.sui.localnet import Localnet

_STOP_TIMEOUT_S = 30.0
_LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True)
class LocalnetOptions:
    """The options with which a localnet is started."""

    name: str
    port: int
    state: Path | None = None
    randomness_seed: str | None = None
    framework_from: str | None = None
    protocol_version: int | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    explorer: bool = False

    @property
    def as_options(self) -> list[str]:
        """The options as command line arguments of `localnet start`."""
        named = {
            "name": self.name,
            "port": self.port,
            "state": self.state,
            "randomness-seed": self.randomness_seed,
            "framework-from": self.framework_from,
            "protocol-version": self.protocol_version,
        }
        return [
            *(f"--{name}={value}" for name, value in named.items() if value is not None),
            *(f"--allow-host={name}" for name in self.allowed_hosts),
            *(f"--allow-origin={origin}" for origin in self.allowed_origins),
            *(["--explorer"] if self.explorer else []),
        ]


async def run_localnet(
    session: Session, options: LocalnetOptions, *, detached: bool = False
) -> None:
    """Run the localnet until SIGINT or SIGTERM. Raises `localnet_running`."""
    lock_localnet_name(options.name)
    with _collecting_little_garbage(), _hint_at_free_port():
        localnet = await _started(session, options)
    try:
        stopped = _stopped_by_signal()
        running = _as_running(localnet, options, detached=detached)
        publish_localnet(running)
        async with running_explorer(options.name) if options.explorer else nullcontext() as url:
            running = replace(running, explorer=url)
            publish_localnet(running)
            _say_ready(session, running)
            await stopped.wait()
    finally:
        await localnet.stop()
    session.output.note("stopped")


async def _started(session: Session, options: LocalnetOptions) -> "Localnet":
    from nexus_tools.sui.framework_source import find_release
    from nexus_tools.sui.localnet import Localnet, Origin

    source, seed = options.framework_from, options.randomness_seed
    cache = session.settings.cache_directory
    release = None if source is None else await find_release(source, cache)
    origin = Origin(release, options.protocol_version)
    sources = AllowedSources.of(options.allowed_hosts, options.allowed_origins)
    localnet = Localnet(
        port=options.port, state=_absolute(options.state), origin=origin, sources=sources
    )
    await localnet.start()
    if seed is not None:  # the seed must be set before the first request
        localnet.seed_randomness(seed.encode())
    return localnet


def _as_running(
    localnet: "Localnet", options: LocalnetOptions, *, detached: bool
) -> RunningLocalnet:
    folder = _absolute(options.state)
    return RunningLocalnet(
        os.getpid(),
        localnet.url,
        str(folder) if folder else None,
        detached,
        options.randomness_seed,
        _absolute_source(options.framework_from),
        options.protocol_version,
        localnet.protocol_version,
        dict(localnet.framework),
        options.name,
        options.allowed_hosts,
        options.allowed_origins,
    )


def _absolute(folder: Path | None) -> Path | None:
    return None if folder is None else folder.expanduser().resolve()


def _absolute_source(source: str | None) -> str | None:
    """Return the absolute path of a folder, or a URL unchanged."""
    return str(Path(source).resolve()) if source and Path(source).is_dir() else source


@contextmanager
def _collecting_little_garbage() -> Iterator[None]:
    """Disable the garbage collector during startup, and make it run rarely afterwards."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    reduce_gc_frequency()


@contextmanager
def _hint_at_free_port() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if error.code == "port_unavailable":
            error.hint = "Choose another port with --port, or pass --port 0 to use a free port."
        raise


def _say_ready(session: Session, running: RunningLocalnet) -> None:
    if session.output.as_json:
        keys = ("url", "pid", "state", "explorer")
        session.output.document({key: getattr(running, key) for key in keys})
    else:
        version, digests = running.protocol_version, framework_in_words(running)
        session.output.note(f"protocol {version}, framework {digests}")
        if running.explorer is not None:
            session.output.note(f"the explorer is at {running.explorer}")
        session.output.done(f"a Sui network listens at {running.url}; press Ctrl-C to stop")
    sys.stdout.flush()


def _stopped_by_signal() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set, instead of ending the process at once."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


def framework_in_words(running: RunningLocalnet) -> str:
    """Return the packages of the framework with the first digits of their digests."""
    return ", ".join(f"{name} {digest[:8]}" for name, digest in running.framework.items())


def start_detached(options: LocalnetOptions) -> RunningLocalnet:
    """Start a localnet in a new session, and wait until it listens.

    Raises the error with which the localnet fails to start.
    """
    command = child_command("localnet", "start", "--background", "--json", *options.as_options)
    log_file(options.name).parent.mkdir(parents=True, exist_ok=True)
    with log_file(options.name).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout:
        _wait_for_document(process.stdout)
    running = running_localnet(options.name)
    if running is None or running.pid != process.pid:
        raise _why_not(options.name, process.wait())
    process.returncode = 0  # the child process continues after this one exits
    return running


def _wait_for_document(output: IO[bytes]) -> None:
    """Wait for the document that the process prints once it listens, or for its end."""
    while (line := output.readline()) and line.rstrip() != b"}":
        pass


def _why_not(name: str, exit_code: int) -> NexusError:
    """Return the error with which the process ended, from the last line of its log."""
    log = log_file(name)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    kinds = {kind.exit_code: kind for kind in NexusError.__subclasses__()}
    try:
        error = json.loads(lines[-1])["error"]
        return kinds.get(exit_code, NexusError)(error.pop("code"), error.pop("message"), **error)
    except (ValueError, KeyError, TypeError):
        reason = lines[-1][:300] or f"it exited with code {exit_code}"
        return NexusError(
            "localnet_failed", f"the localnet did not start: {reason}", hint=f"See the log {log}."
        )


def stop_localnet(running: RunningLocalnet) -> None:
    """Stop the localnet with SIGTERM and wait for it. Raises `localnet_stop_timeout`."""
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_TIMEOUT_S
    while running_localnet(running.name) == running:
        if time.monotonic() > deadline:
            raise NexusError(
                "localnet_stop_timeout",
                f"the localnet with pid {running.pid} does not stop",
                hint=f"Run `kill -9 {running.pid}`. Committed state is kept.",
            )
        time.sleep(_LOOK_AGAIN_S)


def reset_localnet(running: RunningLocalnet) -> RunningLocalnet:
    """Stop the localnet, delete its state, and start it again at the same port.

    Raises `localnet_in_foreground`.
    """
    from nexus_tools.sui.localnet.ledger import delete_state

    if not running.detached:
        raise WrongStateError(
            "localnet_in_foreground",
            f"the localnet with pid {running.pid} runs in another terminal",
            hint="Stop it there with Ctrl-C, and start it again.",
        )
    stop_localnet(running)
    state = Path(running.state) if running.state else None
    if state is not None:
        delete_state(state)
    return start_detached(
        LocalnetOptions(
            running.name,
            running.port,
            state,
            running.randomness_seed,
            running.framework_from,
            running.wanted_version,
            tuple(running.allowed_hosts),
            tuple(running.allowed_origins),
            running.explorer is not None,
        )
    )
