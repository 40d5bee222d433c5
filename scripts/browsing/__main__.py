"""Find Chromium, and with `install` also download axe-core. `scripts/browser` calls this module."""

import sys

from browsing.axe import AXE_VERSION, install_axe
from browsing.chromium import find_chromium
from nexus_tools.errors import NexusError


def main() -> int:
    """Run the command, and return the exit code."""
    try:
        print(f"browser: Chromium is {find_chromium()}")
        if sys.argv[1:] == ["install"]:
            print(f"browser: axe-core {AXE_VERSION} is {install_axe()}")
    except NexusError as error:
        print(f"browser: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
