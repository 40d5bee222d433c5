"""Child processes of this program."""

import sys


def child_command(*words: str, module: str = "nexus_tools") -> list[str]:
    """Return the command line that runs `words` with this installation, from any directory.

    `-P` is needed because Python would otherwise import a file such as `json.py` in the working
    directory instead of the standard library's module.
    """
    return [sys.executable, "-P", "-m", module, *words]
