"""Where shells find the script: a file of ours, and a line in their start-up file."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from nexus_tools.cli.completion.script import SHELLS, script_for
from nexus_tools.cli.framework import Choice, Session, local
from nexus_tools.errors import UsageError
from nexus_tools.settings.directories import data_directory


@dataclass(frozen=True, slots=True)
class Place:
    """The file of the script, and the line of a start-up file that reads it.

    fish needs no line: it looks into a folder.
    """

    script: Path
    startup: Path | None = None
    line: str = ""

    def is_installed(self) -> bool:
        """Whether the shell finds the script."""
        return self.script.is_file() and (self.startup is None or self.has_line())

    def has_line(self) -> bool:
        """Whether the start-up file reads the script."""
        return self.startup is not None and self.line in _text_of(self.startup).splitlines()


def place_for(shell: str) -> Place:
    """Where the completion of a shell of `SHELLS` belongs, for this user."""
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


def shell_of_user() -> str | None:
    """The shell that the user logs in with, if it is one of `SHELLS`."""
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in SHELLS else None


@click.command()
@click.argument("shell", type=Choice(list(SHELLS)), required=False)
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and where.")
@local
def install(session: Session, shell: str | None, *, only_print: bool) -> None:
    """Let SHELL complete from now on; without it, the shell that you log in with.

    For bash and zsh the script is kept in the data directory, and a line in ~/.bashrc or ~/.zshrc
    reads it; fish finds it in its folder of completions. What is there already is not written
    again. With --json: `shell`, and `written`, the files that were changed.
    """
    shell = shell or shell_of_user()
    if shell is None:
        raise UsageError(
            "shell_unknown",
            f"$SHELL is none of {', '.join(SHELLS)}",
            hint="name the shell: `nexus-tools completion install bash`",
        )
    place, script = place_for(shell), script_for(shell)
    if only_print:
        if place.startup is not None:
            session.output.note(f"{place.startup} gets the line: {place.line}")
        session.output.note(f"{place.script} gets:")
        click.echo(script)
        return
    written = _write(place, script)
    for path in written:
        session.output.done(f"wrote {path}")
    if not written:
        session.output.note("everything is there already")
    session.output.note(f"a new {shell} completes nexus-tools")
    if session.output.as_json:
        session.output.document({"shell": shell, "written": [str(path) for path in written]})


def _write(place: Place, script: str) -> list[Path]:
    """Write what is missing, or was another version's; gives the files that changed.

    A start-up file is the user's: it is only ever added to, so that nothing of it can be lost.
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
