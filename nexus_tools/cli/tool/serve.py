"""The command `nexus-tools tool serve`, which serves tools over HTTP."""

import shlex
from pathlib import Path
from typing import Any

import click

from nexus_tools.cli.framework import (
    Output,
    ServerOptions,
    Session,
    child_command,
    complete_files,
    offline_command,
    server_options,
)


@click.command()
@click.argument("target", shell_complete=complete_files)
@click.option("--reload", is_flag=True, help="Restart whenever a Python file changes.")
@server_options
@offline_command
def command(session: Session, *, target: str, reload: bool, serving: ServerOptions) -> None:
    """Serve the tools of TARGET until Ctrl-C.

    TARGET is `package.module`, `path/to/file.py`, or an attribute in them, such as `tools.py:add`.
    """
    if reload:
        _reload(target, serving, session.output)
        return
    from nexus_tools.tool_server import load

    serving.run(load(target, public_url=serving.public_url), session)


def _reload(target: str, serving: ServerOptions, output: Output) -> None:
    """Serve in a child process, and restart it whenever a Python file changes.

    The command watches the folder of the file, or the working directory for a module. If a file has
    an error, the error is shown and the next change starts the server again.
    """
    import logging

    from watchfiles import PythonFilter, run_process

    logging.getLogger("watchfiles").setLevel(logging.ERROR)  # Ctrl-C is a warning there
    place = target.partition(":")[0]
    folder = Path(place).resolve().parent if place.endswith(".py") else Path.cwd()
    command = child_command("tool", "serve", target, *serving.arguments())
    if output.as_json:
        command.append("--json")

    def changed(changes: set[tuple[Any, str]]) -> None:
        names = sorted({str(Path(path).relative_to(folder)) for _, path in changes})
        output.note(f"changed: {', '.join(names)}")

    output.note(f"watching {folder}")
    run_process(
        folder,
        target=shlex.join(command),
        target_type="command",
        watch_filter=PythonFilter(),
        callback=changed,
    )
