"""The localnet of this user: where it listens, and how other processes see that it lives.

The process that runs a localnet holds a lock as long as it lives, however it ends. So a file that
it left behind is never mistaken for it, nor is another process that got its pid.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nexus_tools.directories import data_directory
from nexus_tools.errors import NotFoundError, NotNowError

START_HINT = "`nexus-tools localnet start --detach` starts one"


@dataclass(frozen=True, slots=True)
class RunningLocalnet:
    """A localnet that this user started. `state` is the folder of its state, if it has one.

    `detached` says that it runs in the background, with its log in the data directory. Its random
    bytes follow from `randomness_seed`, if it was given one. `framework_from` and `wanted_version`
    are what it was started with, `protocol_version` and `framework` (digests in hex, by `0x1` and
    so on) what it has. `allowed_hosts` and `allowed_origins` are those of pages that may use it.
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
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()

    @property
    def port(self) -> int:
        """The port of its URL."""
        return int(self.url.rsplit(":", 1)[1])


def running_localnet() -> RunningLocalnet | None:
    """The localnet that runs, or None. What a killed localnet left behind is removed."""
    try:
        text = _trace().read_text(encoding="utf-8")
        running = RunningLocalnet(**json.loads(text))
    except (OSError, ValueError, TypeError):
        return None
    if _is_alive():
        return running
    _trace().unlink(missing_ok=True)
    return None


def require_localnet() -> RunningLocalnet:
    """The localnet that runs. Raises `localnet_not_running`."""
    running = running_localnet()
    if running is None:
        raise NotFoundError(
            "localnet_not_running",
            "no localnet of yours is running",
            hint=START_HINT,
        )
    return running


def become_the_localnet() -> None:
    """Be the one localnet of this user, until this process ends.

    Raises `localnet_running` if there is another.
    """
    data_directory().mkdir(parents=True, exist_ok=True)
    running = running_localnet()
    # It is not closed: its lock ends with the process.
    lock = os.open(_lock_file(), os.O_RDWR | os.O_CREAT, 0o600)
    if running is not None or not _try_lock(lock):
        where = f" at {running.url} (pid {running.pid})" if running else ""
        raise NotNowError(
            "localnet_running",
            f"a localnet of yours is running already{where}",
            hint="`nexus-tools localnet stop` stops it; XDG_DATA_HOME gives another a place",
        )


def announce_localnet(running: RunningLocalnet) -> None:
    """Let other commands find the localnet that this process has become."""
    path = _trace()
    new = path.with_suffix(f".{os.getpid()}.tmp")
    new.write_text(json.dumps(asdict(running)), encoding="utf-8")
    new.replace(path)


def _trace() -> Path:
    return data_directory() / "localnet.json"


def _lock_file() -> Path:
    return data_directory() / "localnet.lock"


def _try_lock(descriptor: int) -> bool:
    """Hold the lock until the file is closed; False if another process has it."""
    import fcntl  # noqa: PLC0415 - not on Windows, where only other networks can be used

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_alive() -> bool:
    try:
        with _lock_file().open() as lock:
            return not _try_lock(lock.fileno())
    except FileNotFoundError:
        return False
