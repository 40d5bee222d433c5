"""The watching program of one run, as its parent sees it."""

import asyncio
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from nexus_tools.bridges.sandbox.pipes import Outlet
from nexus_tools.bridges.sandbox.remains import end_remains
from nexus_tools.bridges.sandbox.report import Report

# How long it may take to start, and to end all that the program has started.
_GRACE_S = 3.0


class Watching:
    """Starts the watch, tells it to stop, and is `ended` when nothing of the run is alive.

    The watch has its end of the report's pipe as long as it lives, so that the end of the report
    is the end of the watch. If it was killed, what it watched over is killed from here. `is_late`
    says that it had to be killed, as nothing else ended the run in time.
    """

    def __init__(self, folder: Path) -> None:
        self.report = Report()
        self.is_late = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._folder = folder
        self._pipe: Outlet | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Make the pipe for the report."""
        self._pipe = Outlet(self.report.text.extend, self._at_end)

    @property
    def descriptor(self) -> int:
        """Where the watch has to write its report."""
        return self._pipe.theirs if self._pipe else -1

    def start(
        self,
        line: Sequence[str],
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
        descriptors: Sequence[int],
    ) -> None:
        """Start the command line with three standard streams and further descriptors."""
        assert self._pipe
        stdin, stdout, stderr = streams
        self._process = subprocess.Popen(  # noqa: S603 - that is what it is for
            line,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(self.descriptor, *descriptors),
            cwd="/",
            start_new_session=True,
        )
        self._pipe.close_theirs()

    def stop(self, after_s: float = 0.0) -> None:
        """End the run, now or after that many seconds; kill the watch if it does not do it."""
        if self._alarm:
            self._alarm.cancel()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(after_s + _GRACE_S, self._abandon)
        if not after_s:
            self._send(signal.SIGTERM)

    def close(self) -> None:
        """Let go of what is held, after the end or without a start."""
        if self._alarm:
            self._alarm.cancel()
        if self._pipe:
            self._pipe.close()

    def _abandon(self) -> None:
        self.is_late = True
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._process and not self.ended.done():
            self._process.send_signal(number)

    def _at_end(self) -> None:
        assert self._process
        self._process.wait()
        if self.report.is_complete:
            self.ended.set_result(None)
            return
        group = self.report.group
        loop = asyncio.get_running_loop()
        ending = loop.run_in_executor(None, end_remains, group, self._folder)
        ending.add_done_callback(lambda _: self.ended.set_result(None))
