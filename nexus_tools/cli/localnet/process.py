"""The process of a localnet: run it, start it in the background, stop it, start it anew."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from nexus_tools.cli.framework import Session
from nexus_tools.cli.garbage import collect_seldom
from nexus_tools.directories import data_directory
from nexus_tools.errors import NexusError, NotNowError, UsageError
from nexus_tools.running_localnet import (
    RunningLocalnet,
    announce_localnet,
    become_the_localnet,
    running_localnet,
)

_STOP_TIMEOUT_S = 30.0
_LOOK_AGAIN_S = 0.05


def log_file() -> Path:
    """Where a localnet in the background writes what it has to say."""
    return data_directory() / "localnet.log"


async def run_localnet(
    session: Session,
    port: int,
    state: Path | None,
    randomness_seed: str | None,
    *,
    detached: bool = False,
) -> None:
    """Be the localnet until SIGINT or SIGTERM. Raises `localnet_running` if there is another."""
    folder = _absolute(state)
    become_the_localnet()
    with _collecting_little_garbage(), _hint_at_free_port():
        from nexus_tools.localnet import Localnet

        localnet = Localnet(port=port, state=folder)
        await localnet.start()
        if randomness_seed is not None:  # before the first request is read
            localnet.seed_randomness(randomness_seed.encode())
    try:
        told = str(folder) if folder else None
        running = RunningLocalnet(os.getpid(), localnet.url, told, detached, randomness_seed)
        announce_localnet(running)
        _say_ready(session, running)
        await _signalled()
    finally:
        await localnet.stop()
    session.output.note("stopped")


def _absolute(folder: Path | None) -> Path | None:
    return None if folder is None else folder.expanduser().resolve()


@contextmanager
def _collecting_little_garbage() -> Iterator[None]:
    """Look for cycles of garbage not at all while the network is made, and seldom afterwards."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    collect_seldom()


@contextmanager
def _hint_at_free_port() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if error.code == "port_unavailable":
            error.hint = "choose another with --port, or let --port 0 take a free one"
        raise


def _say_ready(session: Session, running: RunningLocalnet) -> None:
    if session.output.as_json:
        session.output.document({"url": running.url, "pid": running.pid, "state": running.state})
    else:
        session.output.done(f"a Sui network listens at {running.url}; Ctrl-C stops it")
    sys.stdout.flush()


async def _signalled() -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()


def start_detached(port: int, state: Path | None, randomness_seed: str | None) -> RunningLocalnet:
    """Start a localnet in a session of its own, and wait until it listens.

    Raises what the localnet raises when it cannot start.
    """
    command = [sys.executable, "-m", "nexus_tools", "localnet", "start", "--background", "--json"]
    command += ["--port", str(port)] + ([] if state is None else ["--state", str(state)])
    command += [] if randomness_seed is None else [f"--randomness-seed={randomness_seed}"]
    data_directory().mkdir(parents=True, exist_ok=True)
    with log_file().open("wb") as log:
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
    running = running_localnet()
    if running is None or running.pid != process.pid:
        raise _why_not(process.wait())
    process.returncode = 0  # it lives on without us: nobody waits for it here
    return running


def _wait_for_document(output: IO[bytes]) -> None:
    """Read the document that it prints once it listens; it prints none if it fails."""
    while (line := output.readline()) and line.rstrip() != b"}":
        pass


def _why_not(exit_code: int) -> NexusError:
    """The error with which the process ended, from the last line of its log."""
    log = log_file()
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    kinds = {kind.exit_code: kind for kind in NexusError.__subclasses__()}
    try:
        error = json.loads(lines[-1])["error"]
        return kinds.get(exit_code, NexusError)(error.pop("code"), error.pop("message"), **error)
    except (ValueError, KeyError, TypeError):
        return NexusError(
            "localnet_failed", f"the localnet did not start: {lines[-1][:300]}", hint=f"see {log}"
        )


def stop_localnet(running: RunningLocalnet) -> None:
    """Stop the localnet with SIGTERM, and wait until it has ended. Raises `localnet_stuck`."""
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_TIMEOUT_S
    while running_localnet() == running:
        if time.monotonic() > deadline:
            raise NexusError(
                "localnet_stuck",
                f"the localnet with pid {running.pid} does not stop",
                hint=f"`kill -9 {running.pid}` ends it; what it committed stays",
            )
        time.sleep(_LOOK_AGAIN_S)


def reset_localnet(running: RunningLocalnet) -> RunningLocalnet:
    """Stop, delete the state, start at the same port. Raises `localnet_in_foreground`."""
    from nexus_tools.localnet.ledger import STATE_FILE_NAME

    if not running.detached:
        raise NotNowError(
            "localnet_in_foreground",
            f"the localnet with pid {running.pid} belongs to another terminal",
            hint="stop it there with Ctrl-C, and start it again",
        )
    stop_localnet(running)
    state = Path(running.state) if running.state else None
    if state is not None:
        for file in state.glob(f"{STATE_FILE_NAME}*"):
            file.unlink()
    return start_detached(running.port, state, running.randomness_seed)
