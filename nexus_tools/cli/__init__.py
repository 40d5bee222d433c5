"""The command line: `nexus-tools`, a noun is a folder or a file."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run `nexus-tools` on the arguments of the process, and exit with its code."""
    try:
        from nexus_tools.cli.app import run
    except KeyboardInterrupt:  # who is quick is shown no traceback either
        sys.exit(130)
    run()
