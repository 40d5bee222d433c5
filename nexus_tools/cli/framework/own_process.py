"""Another process of this program."""

import sys


def own_command(*words: str, module: str = "nexus_tools") -> list[str]:
    """The command line that runs `words` with this installation, wherever it is called.

    Without `-P` a file in the working directory, as `json.py`, would be imported for the library's.
    """
    return [sys.executable, "-P", "-m", module, *words]
