"""Installation of the completion script, and of the line in a start-up file that sources it."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from nexus_tools.cli.completion.script import SHELLS, script_for
from nexus_tools.cli.framework import Choice, Session, offline_command
from nexus_tools.errors import UsageError
from nexus_tools.settings.directories import data_directory


@dataclass(frozen=True, slots=True)
class Place:
    """The location of the script, and the line of the start-up file that sources it.

    fish does not need the line, because it loads every script in its completions folder.
    """

    script: Path
    startup: Path | None = None
    line: str = ""

    def is_installed(self) -> bool:
        """Return whether the shell finds the script."""
        return self.script.is_file() and (self.startup is None or self.has_line())

    def has_line(self) -> bool:
        """Return whether the start-up file sources the script."""
        return self.startup is not None and self.line in _text_of(self.startup).splitlines()


def installation_for(shell: str) -> Place:
    """Return this user's location for the completion of a shell in `SHELLS`."""
    home = Path.home()
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return Place(config / "fish" / "completions" / "nexus-tools.fish")
    script = data_directory() / "completion" / f"nexus-tools.{shell}"
    read = f". {shlex.quote(str(script))}"
    if shell == "bash":
        return Place(script, home / ".bashrc", read)
    startup = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    begin = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }"
    return Place(script, startup, f"{begin}; {read}")


def login_shell() -> str | None:
    """Return the user's login shell if it is in `SHELLS`."""
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in SHELLS else None


@click.command()
@click.argument("shell", type=Choice(list(SHELLS)), required=False)
@click.option("--print", "only_print", is_flag=True, help="Print the changes without writing them.")
@offline_command
def install(session: Session, shell: str | None, *, only_print: bool) -> None:
    """Install completion for SHELL. Default: your login shell.

    For bash and zsh, the script is stored in the data directory, and a line in ~/.bashrc or
    ~/.zshrc loads it. For fish, the script is stored in the completions folder. The command writes
    only missing and outdated files. With --json, the fields are `shell` and `written` (the paths of
    these files).
    """
    shell = shell or login_shell()
    if shell is None:
        raise UsageError(
            "shell_unknown",
            f"$SHELL is not one of {', '.join(SHELLS)}",
            hint="Name the shell, for example `nexus-tools completion install bash`.",
        )
    place, script = installation_for(shell), script_for(shell)
    if only_print:
        if place.startup is not None:
            session.output.note(f"line to add to {place.startup}: {place.line}")
        session.output.note(f"content of {place.script}:")
        click.echo(script)
        return
    written = _write(place, script)
    for path in written:
        session.output.done(f"wrote {path}")
    if not written:
        session.output.note("completion is already installed")
    session.output.note(f"start a new {shell} to use it")
    if session.output.as_json:
        session.output.document({"shell": shell, "written": [str(path) for path in written]})


def _write(place: Place, script: str) -> list[Path]:
    """Write missing and outdated files, and return the files that changed.

    The function only appends text to a start-up file, so the user's text is never lost.
    """
    written = []
    if _text_of(place.script) != script:
        place.script.parent.mkdir(parents=True, exist_ok=True)
        place.script.write_text(script, encoding="utf-8")
        written.append(place.script)
    if place.startup is not None and not place.has_line():
        begins = _text_of(place.startup)[-1:] in ("", "\n")
        with place.startup.open("a", encoding="utf-8") as startup:
            startup.write(f"{place.line}\n" if begins else f"\n{place.line}\n")
        written.append(place.startup)
    return written


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
