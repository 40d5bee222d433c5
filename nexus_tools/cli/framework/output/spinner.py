"""A spinner on stderr for operations that take long enough to need feedback."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock, Timer

from nexus_tools.sui.support.untrusted_text import one_line

_DELAY_S = 0.3


@contextmanager
def spinning(text: str, silence_s: float = 0.0) -> Iterator[None]:
    """Show a spinner after 0.3 s of silence until the block ends, then clear the line.

    `silence_s` is the time from the last message to the start of the block. If the block ends
    earlier, no spinner appears, because a flickering line distracts the user. Importing the drawing
    code also takes 50 ms.
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
