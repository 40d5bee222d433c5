"""Starts a program, looks at it every 25 ms, and leaves nothing of it alive.

What it reports, a line each: `started <pid>`, then `ended <exit code, or -signal>` or
`limit <which>` or `stopped`; or, instead of all that, `failed <errno> <stage>`.

Worked example: `sh -c 'sleep 9 & setsid sleep 9 & exit 3'`. The shell is started in a process group
of its own and ends at once: `ended 3`. Both sleeps have lost their parent, and as we adopt orphans
they are our children now. The first is killed with the group; the second has left the group, and is
found as a descendant of ours and killed by itself. When no child is left, all that was ever started
has ended: then we tell how it ended, and not before.
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
    """Run the command of an order to its end."""
    order = Order(arguments)
    signals = Signals()
    linux.adopt_orphans()
    linux.die_with_parent(signal.SIGTERM)
    # A bomb of processes must not keep us from putting it out.
    linux.run_first()
    parent = os.getppid()
    try:
        program = start(order)
    except NotStartedError as error:
        _leave(order, f"failed {error.number} {error.stage}", _EXIT_NOT_FOUND)
    _tell(order, f"started {program}")
    _let_go_of_pipes()
    watch = Watch(order, program, parent, signals)
    ending = watch.until_it_ends()
    end_all(program)
    ending = watch.verdict(ending)
    _leave(order, ending, watch.exit_code(ending))


class Signals:
    """Wakes the watch when a child ends, and remembers whether it has been told to stop."""

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
        """Until a signal comes, no longer than `seconds`."""
        if select.select([self._reader], [], [], seconds)[0]:
            os.read(self._reader, 4096)

    def _remember(self, *_: object) -> None:
        self.stop = True


class Watch:
    """One program that runs, and the bounds that it is held to."""

    def __init__(self, order: Order, program: int, parent: int, signals: Signals) -> None:
        self.order = order
        self.program = program
        self.parent = parent
        self.signals = signals
        self.deadline = time.monotonic() + order.time_ms / 1000
        self.next_directory = time.monotonic() + DIRECTORY_INTERVAL_S

    def until_it_ends(self) -> str:
        """How it ended, or why it has to, as a line to report.

        The kernel's own bounds (`starting`) are a little wider than ours and hold between two
        looks; they cannot tell how much many processes take together, nor which bound was passed.
        """
        while True:
            status = reap(self.program)
            if status is not None:
                return f"ended {os.waitstatus_to_exitcode(status)}"
            reason = self._reason()
            if reason:
                return reason
            self.signals.wait(INTERVAL_S)

    def verdict(self, ending: str) -> str:
        """The same, unless it passed a bound after the last look; to be asked when all ended."""
        if not ending.startswith("ended "):
            return ending
        if self._is_directory_over() or ending == f"ended {-signal.SIGXFSZ}":
            return "limit disk"
        if ending != "ended 0" and peak_bytes() > self.order.memory_bytes:
            return "limit memory"
        return ending

    def exit_code(self, ending: str) -> int:
        """What this program ends with: as the other one did, as a shell would say it."""
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
        """Whether it is; the next look is put off so that looking takes a tenth of the time."""
        began = time.monotonic()
        order = self.order
        is_over = directory_size.is_over(
            order.scratch, disk_bytes=order.disk_bytes, files=order.files
        )
        ended = time.monotonic()
        self.next_directory = ended + max(DIRECTORY_INTERVAL_S, 9 * (ended - began))
        return is_over


def reap(program: int) -> int | None:
    """Take leave of every child that has ended; the program's wait status if it is among them.

    Raises `ChildProcessError` if there is no child at all.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == program:
            return status
        if pid == 0:
            return None


def end_all(program: int) -> None:
    """Kill the program's group at one blow, then whatever else descends from it, to the last.

    Only what cannot be killed is left: another user's process (the tool ran `sudo`), or one that
    waits for a disk.
    """
    # A process may fork between our look and our blow: so it is looked again, until there is no
    # child, or the same ones are left for so long that nobody can kill them.
    before: list[int] = []
    give_up = 0.0
    while True:
        _kill(-program)
        left = process_tree.descendants(os.getpid())
        for pid in left:
            _kill(pid)
        try:
            reap(0)
        except ChildProcessError:
            return
        if left != before:
            before, give_up = left, time.monotonic() + PATIENCE_S
        elif time.monotonic() > give_up:
            return
        time.sleep(0.001)


def peak_bytes() -> int:
    """The most memory that any one process had, of those that have ended."""
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _let_go_of_pipes() -> None:
    """The pipes are the program's; standard error stays, for what we have to say ourselves."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _tell(order: Order, line: str) -> None:
    if order.report >= 0:
        # If the parent is gone, the watch sees that by itself.
        with suppress(BrokenPipeError):
            os.write(order.report, f"{line}\n".encode())


def _leave(order: Order, line: str, exit_code: int) -> None:
    _tell(order, line)
    if order.report < 0 and not line.startswith("ended "):
        os.write(2, f"nexus_tools: {line}: {order.command[0]}\n".encode())
    os._exit(exit_code)
