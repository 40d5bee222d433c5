"""What commands print: tables for people, one JSON document for programs, progress on stderr."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import click

from nexus_tools.cli.framework.output.hints import as_typed
from nexus_tools.cli.framework.output.interrupts import interruptible
from nexus_tools.cli.framework.output.spinner import spinning
from nexus_tools.cli.framework.output.tables import table_for
from nexus_tools.errors import NexusError
from nexus_tools.sui.support.untrusted_text import escaped_json, many_lines, one_line

_FILE_WIDTH = 100_000
"""Columns of a file or pipe: nothing is folded there."""
_DRAWING_WIDTH = 200
"""Columns of a drawing, which a wider terminal does not make clearer."""


class Output:
    """Prints the result of a command to stdout, and what goes on meanwhile to stderr."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._silent_since = perf_counter()

    def document(self, document: Any) -> None:
        """Print a JSON document."""
        click.echo(json_text(document))

    def table(
        self,
        rows: Sequence[Mapping[str, Any]],
        columns: Mapping[str, str],
        *,
        empty: str,
        aside: bool = False,
        as_records: bool = False,
    ) -> None:
        """Print rows; `columns` gives the heading of each key. `empty` says that there are none.

        What is but part of a question is printed `aside`, on stderr.

        Where a terminal is so narrow that words would break, each row is a record instead: an id
        that is folded in its column cannot be copied. With `as_records` it is one anyway.
        """
        if self.as_json and not aside:
            self.document([dict(row) for row in rows])
            return
        if not rows:
            self.note(empty)
            return
        console = _console(stderr=aside)
        table = None if as_records else _table(rows, columns, console.width)
        if table is not None:
            console.print(table)
            return
        for row in rows:
            _print_lines(row, columns, err=aside)
            click.echo(err=aside)

    def has_room(self, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bool:
        """Return whether `table` prints a table, so that several can have the same form."""
        return not rows or _table(rows, columns, _console().width) is not None

    def record(
        self,
        record: Mapping[str, Any],
        labels: Mapping[str, str] | None = None,
        *,
        title: str = "",
    ) -> None:
        """Print one thing as lines of label and value; with `--json` the whole `record`."""
        if self.as_json:
            self.document(dict(record))
            return
        names = labels or {key: key.replace("_", " ") for key in record}
        if title:
            click.secho(plain(title), bold=True)
        _print_lines(record, names)

    def result(self, text: str) -> None:
        """Print the one line that a quiet command is run for, for scripts."""
        click.echo(text)

    def done(self, text: str) -> None:
        """Say on stderr that something was done."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.secho(f"✓ {_shown(text)}", fg="green", err=True)

    def note(self, text: str) -> None:
        """Say something on stderr."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.echo(_shown(text), err=True)

    def quote(self, text: str) -> None:
        """Show on stderr what others wrote, on one line and with its commands as they are."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.echo(plain(text), err=True)

    def warn(self, text: str) -> None:
        """Warn on stderr."""
        click.secho(f"! {_shown(text)}", fg="yellow", err=True)

    def overlooked(self, error: NexusError) -> None:
        """Warn of something that is left out, and why."""
        self.warn(plain(str(error)))

    @property
    def can_ask(self) -> bool:
        """Whether a person sits there."""
        return not self.as_json and sys.stdin.isatty()

    def ask(self, question: str) -> str:
        """What a person types, where one can be asked."""
        with interruptible():
            return str(click.prompt(plain(question, lines=True), err=True))

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask unless `yes`. Raises `declined`; a usage error if nobody can be asked."""
        if yes:
            return
        question = plain(question, lines=True)
        if not self.can_ask:
            raise click.UsageError(f"{question} Nobody can be asked here: pass --yes.")
        with interruptible():
            agreed = click.confirm(question, err=True)
        self._silent_since = perf_counter()
        if not agreed:
            raise NexusError("declined", "you declined: nothing was done")

    @contextmanager
    def progress(self, text: str) -> Iterator[None]:
        """Show that something is going on, if a person is watching and was told nothing for 0.3 s.

        Several short steps make one long silence: it counts from the last word on.
        """
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield
            return
        with spinning(text, perf_counter() - self._silent_since):
            yield


def print_tree(tree: Any) -> None:
    """Print a `rich.tree.Tree`."""
    _console().print(tree)


def print_drawn(draw: Callable[[int], Any]) -> None:
    """Print what is drawn with `rich`, for as many columns as there are."""
    console = _console()
    console.print(draw(min(console.width, _DRAWING_WIDTH)))


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], width: int) -> Any:
    """Return the rows as a table, or None if it does not fit."""
    cells = [[_cell(row.get(key)) for key in columns] for row in rows]
    return table_for([[*columns.values()], *cells], width)


def _shown(text: str) -> str:
    """Return a message as it is shown: it may quote what other people wrote."""
    return as_typed(plain(text, lines=True))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return plain(", ".join(value)) or "none"
    if isinstance(value, dict | list):
        return escaped_json(json.dumps(value, ensure_ascii=False, default=str))
    return "" if value is None else plain(str(value))


def json_text(document: Any) -> str:
    """Return a document as exact JSON, in which no character can control the terminal."""
    return escaped_json(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def plain(text: str, *, lines: bool = False) -> str:
    """Return untrusted text as a terminal may show it, on one line or on its `lines`."""
    return many_lines(text) if lines else one_line(text)


def _print_lines(record: Mapping[str, Any], names: Mapping[str, str], *, err: bool = False) -> None:
    """Lines of label and value, of what is not None."""
    width = max((len(name) for name in names.values()), default=0)
    for key, name in names.items():
        if record.get(key) is not None:
            click.echo(f"  {name:<{width}}  {_cell(record[key])}", err=err)


def _console(*, stderr: bool = False) -> Any:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _FILE_WIDTH
    return Console(width=width, stderr=stderr, highlight=False, markup=False, emoji=False)
