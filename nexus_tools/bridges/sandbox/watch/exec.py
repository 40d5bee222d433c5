"""The start of the program, which first sets limits, descriptors, and signals in its process."""

import fcntl
import os
import resource
import signal
from contextlib import suppress

from nexus_tools.bridges.sandbox.watch import confine, linux

# The number of the descriptor to which a program writes its reply.
REPLY_DESCRIPTOR = 3


class Order:
    """The parameters of one run, passed as `name=value` for each slot, `--`, and the `command`.

    The limits have the meaning of `ProcessLimits`. If `time_ms` is 0, the time is not limited.
    `report` and `reply` are descriptors, or -1 if unused. An empty `directory` is the current
    directory. `is_confined` is 0 or 1. `reads`, `writes`, and `ports` may occur several times.
    """

    __slots__ = (
        "command",
        "directory",
        "disk_bytes",
        "files",
        "is_confined",
        "memory_bytes",
        "ports",
        "processes",
        "reads",
        "reply",
        "report",
        "scratch",
        "time_ms",
        "writes",
    )

    def __init__(self, arguments: list[str]) -> None:
        end = arguments.index("--")
        pairs = [argument.split("=", 1) for argument in arguments[:end]]
        values = dict(pairs)
        self.command: list[str] = arguments[end + 1 :]
        self.directory: str = values["directory"]
        self.scratch: str = values["scratch"]
        self.disk_bytes = int(values["disk_bytes"])
        self.files = int(values["files"])
        self.memory_bytes = int(values["memory_bytes"])
        self.processes = int(values["processes"])
        self.reply = int(values["reply"])
        self.report = int(values["report"])
        self.time_ms = int(values["time_ms"])
        self.is_confined = values["is_confined"] == "1"
        self.reads = [value for name, value in pairs if name == "reads"]
        self.writes = [value for name, value in pairs if name == "writes"]
        self.ports = [int(value) for name, value in pairs if name == "ports"]


_DESCRIPTORS = 1024
_SPARE_CPU_S = 2

# RLIMIT_NPROC counts the threads of all processes of the user, so the limit must be generous. The
# limit stops fork bombs, except for root.
_THREADS = 32


class NotStartedError(Exception):
    """The error of a program that could not start. `number` is errno, and `stage` the step."""

    def __init__(self, number: int, stage: str) -> None:
        super().__init__(number, stage)
        self.number = number
        self.stage = stage


def start(order: Order) -> int:
    """Start the program in a new process group, and return its process ID.

    Raises:
        NotStartedError: if the program cannot be started.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        raise NotStartedError(error.errno or 0, "fork") from error
    if pid == 0:
        _exec_program(order, parent, fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 10))
    os.close(writer)
    with os.fdopen(reader, "rb") as problems:
        problem = problems.read()
    if problem:
        os.waitpid(pid, 0)
        number, _, stage = problem.decode().partition(" ")
        raise NotStartedError(int(number), stage)
    return pid


def _exec_program(order: Order, parent: int, problems: int) -> None:
    """Turn the forked process into the program. This function never returns."""
    stage = "setup"
    try:
        os.setpgid(0, 0)
        _prefer_for_out_of_memory()
        environment = _environment()
        _set_limits(order)
        _set_descriptors(order)
        _reset_signals()
        stage = "confinement"
        has_view = order.is_confined and confine.view(order.writes, order.scratch)
        # This call follows the mounts, because a new user namespace resets the parent death signal.
        linux.die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        if order.directory:
            stage = "directory"
            os.chdir(order.directory)
        if order.is_confined:
            stage = "confinement"
            confine.confine(
                reads=order.reads, writes=order.writes, ports=order.ports, has_view=has_view
            )
        stage = "command"
        os.execvpe(order.command[0], order.command, environment)  # noqa: S606 - this process becomes the program
    except (OSError, ValueError) as error:
        os.write(problems, f"{getattr(error, 'errno', None) or 0} {stage}".encode())
    finally:
        os._exit(1)


def _environment() -> dict[bytes, bytes]:
    """Return the environment without the variables that Python adds in a C locale (PEP 538)."""
    environment = dict(os.environb)
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
            names = [variable.partition(b"=")[0] for variable in file.read().split(b"\0")]
    except OSError:
        return environment
    return {name: value for name, value in environment.items() if name in names}


def _set_limits(order: Order) -> None:
    """Set resource limits of the kernel, which apply between two checks of the watch.

    Each kernel limit is slightly above the limit of the run, so that the watch notices the excess.
    """
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    _set_limit(resource.RLIMIT_FSIZE, order.disk_bytes + 1)
    _set_limit(resource.RLIMIT_DATA, order.memory_bytes + order.memory_bytes // 4)
    tasks = linux.tasks()
    if tasks is not None:
        _set_limit(resource.RLIMIT_NPROC, tasks + order.processes * _THREADS)
    if order.time_ms:
        seconds = order.time_ms // 1000 + _SPARE_CPU_S
        _set_limit(resource.RLIMIT_CPU, seconds * (os.cpu_count() or 1))


def _prefer_for_out_of_memory() -> None:
    """Make the kernel kill this process, and not the server, if the machine runs out of memory."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - slow
        file.write("1000")


def _set_limit(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, limit))


def _set_descriptors(order: Order) -> None:
    """Let the program inherit only the descriptors 0, 1, 2, and the reply descriptor if used."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - pathlib costs 10 ms of every run
        if int(name) > 2:
            # The descriptor with which the folder was listed is already closed.
            with suppress(OSError):
                os.set_inheritable(int(name), False)
    if order.reply >= 0:
        os.dup2(order.reply, REPLY_DESCRIPTOR)
        os.set_inheritable(REPLY_DESCRIPTOR, True)


def _reset_signals() -> None:
    """Restore the default handling of all signals, which Python and parent processes may change."""
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            # The C library reserves some signal numbers.
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
