"""The pipes between the server and a run. One limit applies to the output of all pipes together."""

import asyncio
import os
from collections.abc import Callable

_CHUNK = 65536


class Budget:
    """The bytes that a run may still write to its pipes. `passed` is set if the run wrote more."""

    def __init__(self, size: int, when_passed: Callable[[], None]) -> None:
        self.left = size
        self.passed = False
        self._when_passed = when_passed

    def take(self, data: bytes) -> bytes:
        """Return the part of `data` that is within the budget."""
        accepted = data[: self.left]
        self.left -= len(accepted)
        if len(accepted) < len(data) and not self.passed:
            self.passed = True
            self._when_passed()
        return accepted


class Pipe:
    """Two descriptors, `ours` and `theirs`, each of which is closed once."""

    def __init__(self, ours: int, theirs: int) -> None:
        os.set_blocking(ours, False)
        self.ours = ours
        self.theirs = theirs

    def close_theirs(self) -> None:
        """Close the end that the run has inherited."""
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1

    def close(self) -> None:
        """Close both ends."""
        self.close_theirs()
        if self.ours >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self.ours)
            loop.remove_writer(self.ours)
            os.close(self.ours)
            self.ours = -1


class Outlet(Pipe):
    """A pipe to which a run writes.

    `taker` receives the data, and `at_end` is called at the end.
    """

    def __init__(
        self, taker: Callable[[bytes], object], at_end: Callable[[], None] | None = None
    ) -> None:
        super().__init__(*os.pipe())
        self._taker = taker
        self._at_end = at_end
        asyncio.get_running_loop().add_reader(self.ours, self.read)

    def read(self) -> bool:
        """Read one chunk of the available data, and return whether more data may be available."""
        if self.ours < 0:
            return False
        try:
            data = os.read(self.ours, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._taker(data)
            return True
        self.close()
        if self._at_end:
            self._at_end()
        return False


class InputPipe(Pipe):
    """A pipe from which a run reads `data`. The run may close the pipe early."""

    def __init__(self, data: bytes) -> None:
        reader, writer = os.pipe()
        super().__init__(writer, reader)
        self._left = memoryview(data)
        asyncio.get_running_loop().add_writer(self.ours, self._write)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self.ours, self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self.close()
