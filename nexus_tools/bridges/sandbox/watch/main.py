"""The watch program, which starts a program, checks it every 25 ms, and kills its processes.

The watch reports one line per event: `started <pid>`, then `ended <exit code, or -signal>`, or
`limit <name>`, or `stopped`. If the start fails, the watch reports only `failed <errno> <stage>`.

Worked example: `sh -c 'sleep 9 & setsid sleep 9 & exit 3'`. The shell starts in its own process
group and ends at once: `ended 3`. Both `sleep` processes have lost their parent. The watch adopts
orphans, so the processes are its children now. The watch kills the first process with the group.
The second process has left the group, so the watch finds it as a descendant and kills it
individually. When the watch has no children left, all processes have ended. Only then does the
watch report the result.
"""

import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

from nexus_tools.bridges.sandbox.watch import directory_size, linux, process_tree
from nexus_tools.bridges.sandbox.watch.exec import NotStartedError, Order, start

INTERVAL_S = 0.025
DIRECTORY_INTERVAL_S = 0.2
PATIENCE_S = 2.0

_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_EXIT_STOPPED = 124
_EXIT_NOT_FOUND = 127


def main(arguments: list[str]) -> None:
    """Run the command of an order until all its processes have ended."""
    order = Order(arguments)
    signals = Signals()
    linux.adopt_orphans()
    linux.die_with_parent(signal.SIGTERM)
    # A fork bomb must not keep the watch from running.
    linux.set_realtime_priority()
    parent = os.getppid()
    try:
        program = start(order)
    except NotStartedError as error:
        _leave(order, f"failed {error.number} {error.stage}", _EXIT_NOT_FOUND)
    _report(order, f"started {program}")
    _close_pipes()
    watch = Watch(order, program, parent, signals)
    ending = watch.until_it_ends()
    kill_all(program)
    ending = watch.verdict(ending)
    _leave(order, ending, watch.exit_code(ending))


class Signals:
    """The signals that wake the watch: the end of a child, and requests to stop."""

    def __init__(self) -> None:
        self.stop = False
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _STOPPING:
            signal.signal(number, self._remember)

    def wait(self, seconds: float) -> None:
        """Wait until a signal arrives, at most `seconds`."""
        if select.select([self._reader], [], [], seconds)[0]:
            os.read(self._reader, 4096)

    def _remember(self, *_: object) -> None:
        self.stop = True


class Watch:
    """A running program and its limits."""

    def __init__(self, order: Order, program: int, parent: int, signals: Signals) -> None:
        self.order = order
        self.program = program
        self.parent = parent
        self.signals = signals
        self.deadline = time.monotonic() + order.time_ms / 1000
        self.next_directory = time.monotonic() + DIRECTORY_INTERVAL_S

    def until_it_ends(self) -> str:
        """Return the report line that says how the program ended, or why it must be stopped.

        The kernel's own limits (see `exec`) are slightly higher and apply between two checks. The
        kernel's limits do not cover the total of several processes, and do not report which limit
        was exceeded.
        """
        while True:
            status = reap_children(self.program)
            if status is not None:
                return f"ended {os.waitstatus_to_exitcode(status)}"
            reason = self._reason()
            if reason:
                return reason
            self.signals.wait(INTERVAL_S)

    def verdict(self, ending: str) -> str:
        """Return the final line of the report. A limit may be exceeded after the last check."""
        if not ending.startswith("ended "):
            return ending
        if self._is_directory_over() or ending == f"ended {-signal.SIGXFSZ}":
            return "limit disk"
        if ending != "ended 0" and peak_bytes() > self.order.memory_bytes:
            return "limit memory"
        return ending

    def exit_code(self, ending: str) -> int:
        """Return the exit code of the watch: the command's exit code, as a shell encodes it."""
        if not ending.startswith("ended "):
            return _EXIT_STOPPED
        code = int(ending.split()[1])
        return code if code >= 0 else 128 - code

    def _reason(self) -> str:
        now = time.monotonic()
        if self.signals.stop or os.getppid() != self.parent:
            return "stopped"
        if self.order.time_ms and now >= self.deadline:
            return "limit time"
        pids = process_tree.descendants(os.getpid())
        if len(pids) > self.order.processes:
            return "limit processes"
        if process_tree.memory_bytes(pids, self.order.memory_bytes) > self.order.memory_bytes:
            return "limit memory"
        if now >= self.next_directory and self._is_directory_over():
            return "limit disk"
        return ""

    def _is_directory_over(self) -> bool:
        """Return whether the directory is too large. These checks take at most 10 % of the time."""
        started = time.monotonic()
        order = self.order
        is_over = directory_size.exceeds_limits(
            order.scratch, disk_bytes=order.disk_bytes, files=order.files
        )
        ended = time.monotonic()
        self.next_directory = ended + max(DIRECTORY_INTERVAL_S, 9 * (ended - started))
        return is_over


def reap_children(program: int) -> int | None:
    """Reap every child that has ended. If the program has ended, return its wait status.

    Raises:
        ChildProcessError: if there is no child.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == program:
            return status
        if pid == 0:
            return None


def kill_all(program: int) -> None:
    """Kill the program's process group at once, then every other descendant.

    Only processes that cannot be killed remain: processes of another user (the tool ran `sudo`), or
    processes that wait for a disk.
    """
    # A process may fork between the listing and the kill. Therefore the loop continues until no
    # child is left, or until the same children remain for so long that they cannot be killed.
    previous: list[int] = []
    deadline = 0.0
    while True:
        _kill(-program)
        remaining = process_tree.descendants(os.getpid())
        for pid in remaining:
            _kill(pid)
        try:
            reap_children(0)
        except ChildProcessError:
            return
        if remaining != previous:
            previous, deadline = remaining, time.monotonic() + PATIENCE_S
        elif time.monotonic() > deadline:
            return
        time.sleep(0.001)


def peak_bytes() -> int:
    """Return the largest memory use of any single process that has ended, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _close_pipes() -> None:
    """Close the program's pipes, and keep standard error for the messages of the watch."""
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    os.dup2(null_device, 1)
    os.close(null_device)


def _report(order: Order, line: str) -> None:
    if order.report >= 0:
        # If the parent has ended, the watch notices that itself.
        with suppress(BrokenPipeError):
            os.write(order.report, f"{line}\n".encode())


def _leave(order: Order, line: str, exit_code: int) -> None:
    _report(order, line)
    if order.report < 0 and not line.startswith("ended "):
        os.write(2, f"nexus_tools: {line}: {order.command[0]}\n".encode())
    os._exit(exit_code)
