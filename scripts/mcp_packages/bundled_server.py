"""The server of the bundle: `nexus-tools mcp serve` with the options that the user has set.

Hosts pass each option as `--name=value`. A value that the user has not set is empty, or is the
placeholder of the manifest.
"""

import sys

from nexus_tools.cli import main

FLAG = "--on-chain"
PAID_OPTIONS = ("--budget", "--wallet")


def serve_arguments(words: list[str]) -> list[str]:
    """Return the arguments of `mcp serve`."""
    values = dict(word.split("=", 1) for word in words)
    values = {name: value for name, value in values.items() if value and "${" not in value}
    is_paid = values.pop(FLAG, "false").lower() == "true"
    unused = () if is_paid else PAID_OPTIONS
    options = [f"{name}={value}" for name, value in values.items() if name not in unused]
    return [FLAG, *options] if is_paid else options


if __name__ == "__main__":
    sys.argv = ["nexus-tools", "mcp", "serve", *serve_arguments(sys.argv[1:])]
    main()
