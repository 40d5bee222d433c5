"""A spinner on stderr, for what takes so long that a person wonders whether it goes on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock, Timer

from nexus_tools.sui.support.untrusted_text import one_line

_DELAY_S = 0.3


@contextmanager
def spinning(text: str, silence_s: float = 0.0) -> Iterator[None]:
    """Spin from 0.3 s of silence on until the end, however that comes; then the line is clean.

    `silence_s` is for how long nothing was told before.

    What ends before is not shown: a line that comes and goes at once is noise, and what would draw
    it takes 50 ms to import.
    """
    drawn, drawing = ExitStack(), Lock()

    def begin() -> None:
        with drawing:
            if not over:
                from rich.console import Console
                from rich.text import Text

                drawn.enter_context(Console(stderr=True).status(Text(one_line(text))))

    over = False
    timer = Timer(max(0.0, _DELAY_S - silence_s), begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with drawing:
            over = True
        drawn.close()
