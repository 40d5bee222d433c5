"""Starts the program: bounds, descriptors and signals are set in it before it begins."""

import fcntl
import os
import resource
import signal
from contextlib import suppress

from nexus_tools.bridges.sandbox.watch import confine, linux

# The number under which a program has the descriptor for its reply.
REPLY_DESCRIPTOR = 3


class Order:
    """One run: `name=value` for each of these slots, `--`, and the command.

    Bounds are as in `ProcessLimits`, `time_ms` is 0 where there is none. `report` and `reply` are
    descriptors, -1 for none; `directory` is empty for the one that the program is started in.
    `is_confined` is 0 or 1; then each of `reads`, `writes` and `ports` may stand several times.
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
        given = dict(pairs)
        self.command: list[str] = arguments[end + 1 :]
        self.directory: str = given["directory"]
        self.scratch: str = given["scratch"]
        self.disk_bytes = int(given["disk_bytes"])
        self.files = int(given["files"])
        self.memory_bytes = int(given["memory_bytes"])
        self.processes = int(given["processes"])
        self.reply = int(given["reply"])
        self.report = int(given["report"])
        self.time_ms = int(given["time_ms"])
        self.is_confined = given["is_confined"] == "1"
        self.reads = [value for name, value in pairs if name == "reads"]
        self.writes = [value for name, value in pairs if name == "writes"]
        self.ports = [int(value) for name, value in pairs if name == "ports"]


_DESCRIPTORS = 1024
_SPARE_CPU_S = 2

# RLIMIT_NPROC counts the threads of all that its user runs, so it has to leave much room: it is
# there to make an end to a bomb of processes, and does so for everybody but root.
_THREADS = 32


class NotStartedError(Exception):
    """The program could not be started: `number` is errno, `stage` what was being done."""

    def __init__(self, number: int, stage: str) -> None:
        super().__init__(number, stage)
        self.number = number
        self.stage = stage


def start(order: Order) -> int:
    """The process id of the program, which runs in a process group of its own."""
    reader, writer = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        raise NotStartedError(error.errno or 0, "fork") from error
    if pid == 0:
        _become(order, parent, fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 10))
    os.close(writer)
    with os.fdopen(reader, "rb") as problems:
        problem = problems.read()
    if problem:
        os.waitpid(pid, 0)
        number, _, stage = problem.decode().partition(" ")
        raise NotStartedError(int(number), stage)
    return pid


def _become(order: Order, parent: int, problems: int) -> None:
    """In the new process: never returns."""
    stage = "setup"
    try:
        os.setpgid(0, 0)
        _volunteer_for_out_of_memory()
        environment = _environment()
        _set_bounds(order)
        _set_descriptors(order)
        _reset_signals()
        stage = "confinement"
        has_view = order.is_confined and confine.view(order.writes, order.scratch)
        # Not before: an owner of users, as one may be from here on, is not told of such an end.
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
        os.execvpe(order.command[0], order.command, environment)  # noqa: S606 - that is what it is for
    except (OSError, ValueError) as error:
        os.write(problems, f"{getattr(error, 'errno', None) or 0} {stage}".encode())
    finally:
        os._exit(1)


def _environment() -> dict[bytes, bytes]:
    """The environment as it was given to us, without what Python adds in a C locale (PEP 538)."""
    given = dict(os.environb)
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
            names = [variable.partition(b"=")[0] for variable in file.read().split(b"\0")]
    except OSError:
        return given
    return {name: value for name, value in given.items() if name in names}


def _set_bounds(order: Order) -> None:
    """Nets behind the watch: the kernel refuses what passes the bounds between two looks.

    Each is a little above the bound, so that what it stops is seen to have passed the bound.
    """
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    _bound(resource.RLIMIT_FSIZE, order.disk_bytes + 1)
    _bound(resource.RLIMIT_DATA, order.memory_bytes + order.memory_bytes // 4)
    tasks = linux.tasks()
    if tasks is not None:
        _bound(resource.RLIMIT_NPROC, tasks + order.processes * _THREADS)
    if order.time_ms:
        seconds = order.time_ms // 1000 + _SPARE_CPU_S
        _bound(resource.RLIMIT_CPU, seconds * (os.cpu_count() or 1))


def _volunteer_for_out_of_memory() -> None:
    """If the machine runs out of memory, let the kernel end this process, and not the server."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - slow
        file.write("1000")


def _bound(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))


def _set_descriptors(order: Order) -> None:
    """Leave 0, 1, 2, and the reply's where there is one."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - pathlib costs 10 ms of every run
        if int(name) > 2:
            # The one by which the folder was listed is closed by now.
            with suppress(OSError):
                os.set_inheritable(int(name), False)
    if order.reply >= 0:
        os.dup2(order.reply, REPLY_DESCRIPTOR)
        os.set_inheritable(REPLY_DESCRIPTOR, True)


def _reset_signals() -> None:
    """As they are in a fresh process: nothing ignored, whatever Python and our parents ignore."""
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            # Some numbers belong to the C library.
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
