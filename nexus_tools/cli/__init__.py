"""The command line `nexus-tools`. Each command group is a module or a subpackage.

Start reading in `app`, which defines the root group, and in `framework`, which all commands use.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run `nexus-tools` with the arguments of the process, and exit with its exit code."""
    try:
        from nexus_tools.cli.app import run
    except KeyboardInterrupt:  # Ctrl-C during the import must not print a traceback
        sys.exit(130)
    run()
