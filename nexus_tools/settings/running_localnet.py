"""The localnets of this user: where they listen, and how other processes see that they run.

Each localnet has a name, and commands find it as the network of that name; `localnet` is the usual
one. The process that runs a localnet holds a lock as long as it lives, however it ends. So a file
that it left behind is never mistaken for it, nor is another process that got its pid.
"""

import json
import os
import re
import socket
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nexus_tools.errors import NotFoundError, NotNowError, UsageError
from nexus_tools.settings.directories import data_directory

USUAL_NAME = "localnet"
USUAL_PORT = 9000

_START = "nexus-tools localnet start --detach"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_RESERVED = ("devnet", "testnet", "mainnet")


@dataclass(frozen=True, slots=True)
class RunningLocalnet:
    """A localnet that this user started. Commands find it as the network `name`.

    `state` is the folder of its state, if it has one. `detached` says that it runs in the
    background, with its log in the data directory. Its random bytes follow from `randomness_seed`,
    if it was given one. `framework_from` and `wanted_version` are what it was started with,
    `protocol_version` and `framework` (digests in hex, by `0x1` and so on) what it has.
    `allowed_hosts` and `allowed_origins` are those of pages that may use it.
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
    name: str = USUAL_NAME
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()

    @property
    def port(self) -> int:
        """The port of its URL."""
        return int(self.url.rsplit(":", 1)[1])


def check_name(name: str, networks: Collection[str]) -> str:
    """Return the name if a localnet can have it beside other networks.

    Raises `localnet_name_invalid`.
    """
    taken = sorted({*_RESERVED, *networks} - {USUAL_NAME})
    if not _NAME.fullmatch(name) or name in taken:
        raise UsageError(
            "localnet_name_invalid",
            f"a localnet cannot be named {name[:80]!r}",
            hint="use a letter and at most 31 small letters, digits and hyphens, and no name of"
            f" another network: {', '.join(taken)}",
        )
    return name


def running_localnet(name: str = USUAL_NAME) -> RunningLocalnet | None:
    """Return the localnet with a name if it is running, or None."""
    return last_localnet(name) if _is_alive(name) else None


def last_localnet(name: str = USUAL_NAME) -> RunningLocalnet | None:
    """Return the localnet that had a name last, whether or not it is still running."""
    try:
        return RunningLocalnet(**json.loads(_trace(name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def running_localnets() -> Iterator[RunningLocalnet]:
    """Return all localnets that are running, the usual one first."""
    names = sorted(path.stem for path in _trace("*").parent.glob("*.json"))
    for name in (USUAL_NAME, *names):
        running = running_localnet(name)
        if running is not None:
            yield running


def require_localnet(name: str = USUAL_NAME) -> RunningLocalnet:
    """Return the localnet with a name. Raises `localnet_not_running`."""
    running = running_localnet(name)
    if running is None:
        raise NotFoundError(
            "localnet_not_running",
            "no localnet of yours is running"
            if name == USUAL_NAME
            else f"no localnet of yours named {name} is running",
            hint=f"`{start_command(name=name)}` starts one",
        )
    return running


def start_command(port: int | None = None, name: str = USUAL_NAME) -> str:
    """Return the command that starts a localnet: on a free port if `port` is taken."""
    if name != USUAL_NAME:
        return f"{_START} --name {name}"
    return f"{_START} --port 0" if port is not None and _is_taken(port) else _START


def restart_hint(name: str) -> str:
    """Return how to start a localnet that ran before; empty if none had this name."""
    if last_localnet(name) is None:
        return ""
    return f"your localnet {name} is not running: `{start_command(name=name)}` starts it"


def become_the_localnet(name: str = USUAL_NAME) -> None:
    """Be the one localnet with a name, until this process ends.

    Raises `localnet_running` if there is another.
    """
    _lock_file(name).parent.mkdir(parents=True, exist_ok=True)
    running = running_localnet(name)
    # It is not closed: its lock ends with the process.
    lock = os.open(_lock_file(name), os.O_RDWR | os.O_CREAT, 0o600)
    if running is not None or not _try_lock(lock):
        where = f" at {running.url} (pid {running.pid})" if running else ""
        raise NotNowError(
            "localnet_running",
            f"your localnet {name} is running already{where}",
            hint=f"continue with it, or stop it with `nexus-tools localnet stop -n {name}`;"
            " `--name NAME` starts another one beside it",
        )


def announce_localnet(running: RunningLocalnet) -> None:
    """Let other commands find the localnet that this process has become."""
    path = _trace(running.name)
    new = path.with_suffix(f".{os.getpid()}.tmp")
    new.write_text(json.dumps(asdict(running)), encoding="utf-8")
    new.replace(path)


def log_file(name: str = USUAL_NAME) -> Path:
    """Return the file in which a localnet in the background writes its messages."""
    return _trace(name).with_suffix(".log")


def _trace(name: str) -> Path:
    folder = data_directory()
    return (folder if name == USUAL_NAME else folder / "localnets") / f"{name}.json"


def _lock_file(name: str) -> Path:
    return _trace(name).with_suffix(".lock")


def _try_lock(descriptor: int) -> bool:
    """Hold the lock until the file is closed; False if another process has it."""
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


def _is_taken(port: int) -> bool:
    """Return whether a program of this machine listens on a port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
