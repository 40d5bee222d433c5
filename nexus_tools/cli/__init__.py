"""The command line: `nexus-tools`, a noun is a folder or a file."""

__all__ = ["main"]


def main() -> None:
    """Run `nexus-tools` on the arguments of the process, and exit with its code."""
    from nexus_tools.cli.app import run

    run()
