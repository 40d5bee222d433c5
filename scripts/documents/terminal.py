"""A reader's terminal: a shell or a Python interpreter, which gets one input at a time."""

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
PATIENCE_S = 200.0
"""The longest time without any output. The time limit of a test ends a page that never ends."""
INSTALL_PATIENCE_S = 400.0
"""The same for a command that installs packages."""
END_PATIENCE_S = 10.0
GLANCE_S = 0.02
INTERPRETER = Path(__file__).with_name("interpreter.py").read_text(encoding="utf-8")
SHELL = ("bash", "--noprofile", "--norc")


class UnexpectedError(AssertionError):
    """The error for output that differs from the page."""


class Terminal:
    """A program with its output, including errors.

    An interrupt must end only the program that the shell runs. The shell itself survives because of
    a trap.
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
        """Start a shell in a folder. With `watched`, its programs have a terminal as stdout."""
        terminal = cls(*SHELL, folder=folder, environment=environment, watched=watched)
        terminal._write("trap : INT\n")
        return terminal

    @classmethod
    def python(cls, folder: Path, environment: Mapping[str, str]) -> "Terminal":
        """Start an interpreter in a folder. Warnings are errors."""
        command = ("python", "-W", "error", "-c", INTERPRETER, MARK)
        return cls(*command, folder=folder, environment=environment)

    def type(self, command: str) -> None:
        """Execute a command in the shell. The command cannot read the next inputs."""
        self.is_busy = True
        self._patience_s = INSTALL_PATIENCE_S if "pip install" in command else PATIENCE_S
        self._write(f"eval {shlex.quote(command)} </dev/null; printf '{MARK}%d\\n' $?\n")

    def execute(self, program: str) -> None:
        """Execute a program in the interpreter."""
        self.is_busy = True
        self._write(json.dumps(program) + "\n")

    def interrupt(self) -> None:
        """Send Ctrl-C."""
        os.killpg(self._process.pid, signal.SIGINT)

    def output(self, suffices: Callable[[str], bool] = lambda _: False) -> tuple[str, int | None]:
        """Return the output and the exit code of the current input.

        If the output already suffices while the program still runs, return the output and None.
        """
        while True:
            before, mark, after = self._printed.partition(MARK)
            if mark and "\n" in after:
                status, _, self._printed = after.partition("\n")
                self.is_busy = False
                return before, int(status)
            if suffices(before):
                return before, None
            self._read()

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def _read(self) -> None:
        data = self._next(self._patience_s)
        if not data:
            raise UnexpectedError(f"no more output after:\n{self._printed}")
        self._printed += data.decode(errors="replace")

    def _next(self, patience_s: float) -> bytes:
        """Return the next output, or empty bytes after a timeout or at the end of the program."""
        ready, _, _ = select.select([self._screen], [], [], patience_s)
        try:
            return os.read(self._screen, 65_536) if ready else b""
        except OSError:  # the other end of the pseudo terminal is closed
            return b""

    def close(self) -> None:
        """Interrupt the running program, and kill it if it does not end.

        This method reads the last output, because the program may wait until the output is read.
        The end of the output is not awaited, because servers in the background may keep the output
        open.
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
    """Return both ends of a pseudo terminal that does not convert line endings."""
    watching, writing = pty.openpty()
    attributes = termios.tcgetattr(writing)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(writing, termios.TCSANOW, attributes)
    return watching, writing
