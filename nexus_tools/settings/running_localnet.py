"""The localnets of this user: their addresses, and how other processes detect that they run.

Each localnet has a name, by default `localnet`. Commands select the localnet by this name, like any
network. The process that runs a localnet locks a file. The operating system releases the lock even
if the process crashes, so a stale file, or another process with the same process ID, is never
mistaken for a running localnet.
"""

import json
import os
import re
import socket
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nexus_tools.errors import NotFoundError, UsageError, WrongStateError
from nexus_tools.settings.directories import data_directory

DEFAULT_NAME = "localnet"
USUAL_PORT = 9000

_START = "nexus-tools localnet start --detach"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_RESERVED = ("devnet", "testnet", "mainnet")


@dataclass(frozen=True, slots=True)
class RunningLocalnet:
    """A localnet that this user started. Commands use the localnet as the network `name`.

    `state` is the folder with the localnet's state, if any. `detached` is True if the localnet runs
    in the background and writes its log to the data directory. `randomness_seed` is the seed of the
    random number generator, if any. `framework_from` and `wanted_version` are the options of the
    start command. `protocol_version` is the actual version. `framework` maps package addresses such
    as `0x1` to digests in hexadecimal. Web pages from `allowed_hosts` and `allowed_origins` may use
    the localnet. `explorer` is the URL of the explorer that runs with the localnet, if any.
    """

    pid: int
    url: str
    state: str | None
    detached: bool
    randomness_seed: str | None = None
    framework_from: str | None = None
    wanted_version: int | None = None
    protocol_version: int | None = None
    framework: dict[str, str] = field(default_factory=dict)
    name: str = DEFAULT_NAME
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    explorer: str | None = None

    @property
    def port(self) -> int:
        """The port of the localnet's URL."""
        return int(self.url.rsplit(":", 1)[1])


def check_name(name: str, networks: Collection[str]) -> str:
    """Return a localnet's name if the name is valid and no other network uses it.

    Raises:
        UsageError: `localnet_name_invalid`.
    """
    reserved = sorted({*_RESERVED, *networks} - {DEFAULT_NAME})
    if not _NAME.fullmatch(name) or name in reserved:
        raise UsageError(
            "localnet_name_invalid",
            f"{name[:80]!r} is not a valid name for a localnet",
            hint="Use a letter, then at most 31 lower-case letters, digits and hyphens. Do not use"
            f" the name of another network: {', '.join(reserved)}.",
        )
    return name


def running_localnet(name: str = DEFAULT_NAME) -> RunningLocalnet | None:
    """Return the localnet with a name, or None if it is not running."""
    return last_localnet(name) if _is_alive(name) else None


def last_localnet(name: str = DEFAULT_NAME) -> RunningLocalnet | None:
    """Return the last localnet with a name, even if it has stopped, or None."""
    try:
        return RunningLocalnet(**json.loads(_record_file(name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def running_localnets() -> Iterator[RunningLocalnet]:
    """Yield all running localnets. The localnet with the default name comes first."""
    names = sorted(path.stem for path in _record_file("*").parent.glob("*.json"))
    for name in (DEFAULT_NAME, *names):
        running = running_localnet(name)
        if running is not None:
            yield running


def require_localnet(name: str = DEFAULT_NAME) -> RunningLocalnet:
    """Return the running localnet with a name.

    Raises:
        NotFoundError: `localnet_not_running`.
    """
    running = running_localnet(name)
    if running is None:
        raise NotFoundError(
            "localnet_not_running",
            "your localnet is not running"
            if name == DEFAULT_NAME
            else f"your localnet {name} is not running",
            hint=f"Start it with `{start_command(name=name)}`.",
        )
    return running


def start_command(port: int | None = None, name: str = DEFAULT_NAME) -> str:
    """Return the command that starts a localnet, on a free port if `port` is in use."""
    if name != DEFAULT_NAME:
        return f"{_START} --name {name}"
    return f"{_START} --port 0" if port is not None and _is_port_in_use(port) else _START


def restart_hint(name: str) -> str:
    """Return a hint that shows how to restart a localnet, or "" if this name was never used."""
    if last_localnet(name) is None:
        return ""
    return f"Your localnet {name} is not running. Start it with `{start_command(name=name)}`."


def lock_localnet_name(name: str = DEFAULT_NAME) -> None:
    """Lock a localnet's name until this process ends.

    Raises:
        WrongStateError: `localnet_running` if another process has the lock.
    """
    _lock_file(name).parent.mkdir(parents=True, exist_ok=True)
    check_not_running(name)
    # The file stays open, because closing it would release the lock.
    lock = os.open(_lock_file(name), os.O_RDWR | os.O_CREAT, 0o600)
    if not _try_lock(lock):
        raise _already_running(name)


def check_not_running(name: str = DEFAULT_NAME) -> None:
    """Raise `localnet_running` if the localnet with a name is running."""
    running = running_localnet(name)
    if running is not None:
        raise _already_running(name, f" at {running.url} (pid {running.pid})")


def _already_running(name: str, where: str = "") -> WrongStateError:
    return WrongStateError(
        "localnet_running",
        f"your localnet {name} is already running{where}",
        hint=f"Use this localnet, stop it with `nexus-tools localnet stop -n {name}`, or start"
        " another localnet with `--name NAME`.",
    )


def publish_localnet(running: RunningLocalnet) -> None:
    """Write the record of this process's localnet, so that other commands can find the localnet."""
    path = _record_file(running.name)
    new = path.with_suffix(f".{os.getpid()}.tmp")
    new.write_text(json.dumps(asdict(running)), encoding="utf-8")
    new.replace(path)


def log_file(name: str = DEFAULT_NAME) -> Path:
    """Return the log file of a localnet that runs in the background."""
    return _record_file(name).with_suffix(".log")


def _record_file(name: str) -> Path:
    folder = data_directory()
    return (folder if name == DEFAULT_NAME else folder / "localnets") / f"{name}.json"


def _lock_file(name: str) -> Path:
    return _record_file(name).with_suffix(".lock")


def _try_lock(descriptor: int) -> bool:
    """Lock a file until it is closed. Return False if another process has locked the file."""
    import fcntl  # noqa: PLC0415 - not on Windows, where only other networks can be used

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_alive(name: str) -> bool:
    try:
        with _lock_file(name).open() as lock:
            return not _try_lock(lock.fileno())
    except FileNotFoundError:
        return False


def _is_port_in_use(port: int) -> bool:
    """Return whether a program on this machine listens on a port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
