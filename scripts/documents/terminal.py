"""A terminal of a reader: a shell, or Python, that takes one input after the other."""

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

MARK = "\x1e"
PATIENCE_S = 60.0
INSTALL_PATIENCE_S = 400.0
END_PATIENCE_S = 10.0
GLANCE_S = 0.02
INTERPRETER = Path(__file__).with_name("interpreter.py").read_text(encoding="utf-8")
SHELL = ("bash", "--noprofile", "--norc")


class UnexpectedError(AssertionError):
    """Something else came than what a page shows."""


class Terminal:
    """A program with what it prints, errors included.

    The shell survives an interrupt, which ends what it runs: hence the trap.
    """

    def __init__(
        self, *command: str, folder: Path, environment: Mapping[str, str], watched: bool = False
    ) -> None:
        self._screen, written = _screen() if watched else os.pipe()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(written)
        self._printed = ""
        self._patience_s = PATIENCE_S
        self.is_busy = False

    @classmethod
    def shell(
        cls, folder: Path, environment: Mapping[str, str], *, watched: bool = False
    ) -> "Terminal":
        """A shell in a folder; in one that is `watched` programs speak to a person."""
        terminal = cls(*SHELL, folder=folder, environment=environment, watched=watched)
        terminal._write("trap : INT\n")
        return terminal

    @classmethod
    def python(cls, folder: Path, environment: Mapping[str, str]) -> "Terminal":
        """An interpreter in a folder, for which a warning is an error."""
        command = ("python", "-W", "error", "-c", INTERPRETER, MARK)
        return cls(*command, folder=folder, environment=environment)

    def type(self, command: str) -> None:
        """Has the shell execute a command, which reads nothing of what is typed later."""
        self.is_busy = True
        self._patience_s = INSTALL_PATIENCE_S if "pip install" in command else PATIENCE_S
        self._write(f"eval {shlex.quote(command)} </dev/null; printf '{MARK}%d\\n' $?\n")

    def execute(self, program: str) -> None:
        """Has the interpreter execute a program."""
        self.is_busy = True
        self._write(json.dumps(program) + "\n")

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.killpg(self._process.pid, signal.SIGINT)

    def output(self, suffices: Callable[[str], bool] = lambda _: False) -> tuple[str, int | None]:
        """What was printed, and the exit code; None if it runs on, and its output suffices."""
        deadline = time.monotonic() + self._patience_s
        while True:
            before, mark, after = self._printed.partition(MARK)
            if mark and "\n" in after:
                status, _, self._printed = after.partition("\n")
                self.is_busy = False
                return before, int(status)
            if suffices(before):
                return before, None
            self._read(deadline)

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def _read(self, deadline: float) -> None:
        patience_s = max(deadline - time.monotonic(), 0)
        data = self._next(patience_s)
        if not data:
            raise UnexpectedError(f"nothing more came after:\n{self._printed}")
        self._printed += data.decode(errors="replace")

    def _next(self, patience_s: float) -> bytes:
        """What is printed next; nothing if that takes longer, or nobody is left to print."""
        ready, _, _ = select.select([self._screen], [], [], patience_s)
        try:
            return os.read(self._screen, 65_536) if ready else b""
        except OSError:  # a pseudo terminal that nobody writes to any more
            return b""

    def close(self) -> None:
        """Interrupts what runs, and ends it if that does not.

        What it prints to the last is taken from it: it could not end before. It is not waited for
        by its output, which servers that it leaves behind may keep open.
        """
        assert self._process.stdin is not None
        if self.is_busy:
            self.interrupt()
        self._process.stdin.close()
        deadline = time.monotonic() + END_PATIENCE_S
        while self._process.poll() is None and time.monotonic() < deadline:
            if not self._next(GLANCE_S):
                time.sleep(GLANCE_S)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._screen)


def _screen() -> tuple[int, int]:
    """A pseudo terminal as who watches and who writes have it, which leaves lines as they are."""
    watching, writing = pty.openpty()
    attributes = termios.tcgetattr(writing)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(writing, termios.TCSANOW, attributes)
    return watching, writing
