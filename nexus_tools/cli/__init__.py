"""The command line `nexus-tools`. Each command group is a module or a subpackage.

Start reading in `app`, which defines the root group, and in `framework`, which all commands use.
"""

import gc
import signal
import sys

__all__ = ["main"]

_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """Run `nexus-tools` with the arguments of the process, and exit with its exit code."""
    # Imports create many objects, and nearly all of them stay. With the default threshold, garbage
    # collections take a tenth of the start of `mcp serve`.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Otherwise httpx imports its own command line with rich and pygments, which takes 80 ms.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    try:
        from nexus_tools.cli.app import run

        run()
    except KeyboardInterrupt:  # during the import, or while `run` reports an error
        sys.exit(130)
    finally:
        # During the shutdown of Python, the usual handler would print a traceback.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
