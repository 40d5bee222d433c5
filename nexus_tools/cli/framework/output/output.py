"""Output of commands: tables on a terminal, one JSON document with `--json`, progress on stderr."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import click

from nexus_tools.cli.framework.output.hints import with_current_options
from nexus_tools.cli.framework.output.interrupts import interruptible
from nexus_tools.cli.framework.output.spinner import spinning
from nexus_tools.cli.framework.output.tables import table_for
from nexus_tools.errors import NexusError
from nexus_tools.sui.support.untrusted_text import escaped_json, many_lines, one_line

_FILE_WIDTH = 100_000
"""The width of files and pipes, in columns, so that lines are not wrapped."""
_DRAWING_WIDTH = 200
"""The maximum width of a drawing, in columns. A wider drawing is not clearer."""
_MAX_CELL = 500
"""The maximum length of a cell, because the longest cell determines the length of all rows."""


class Output:
    """The writer of a command: results go to stdout, messages and progress to stderr."""

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
        """Print rows as a table. `columns` maps each key to its heading.

        Long cells are truncated, except in JSON. Without rows, the method prints `empty`. With
        `aside`, it prints on stderr, for example a table for a prompt.

        If the terminal is too narrow for whole words, each row is printed as a record, because an
        ID that is wrapped in its column cannot be copied. `as_records` forces that layout.
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
            _print_lines(row, columns, err=aside, limit=_MAX_CELL)
            click.echo(err=aside)

    def has_room(self, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bool:
        """Return whether `table` prints `rows` as a table, and not as records."""
        return not rows or _table(rows, columns, _console().width) is not None

    def record(
        self,
        record: Mapping[str, Any],
        labels: Mapping[str, str] | None = None,
        *,
        title: str = "",
    ) -> None:
        """Print a record as lines of label and value, or as JSON with `--json`."""
        if self.as_json:
            self.document(dict(record))
            return
        names = labels or {key: key.replace("_", " ") for key in record}
        if title:
            click.secho(plain(title), bold=True)
        _print_lines(record, names)

    def created(self, record: Mapping[str, Any], created_id: str) -> None:
        """Print the record of a new object. With `quiet`, print only its ID."""
        if self.quiet and not self.as_json:
            self.result(created_id)
        else:
            self.record(record)

    def result(self, text: str) -> None:
        """Print the one-line result of a quiet command, for scripts."""
        click.echo(text)

    def done(self, text: str) -> None:
        """Print a success message on stderr."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.secho(f"✓ {_shown(text)}", fg="green", err=True)

    def note(self, text: str) -> None:
        """Print a message on stderr."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.echo(_shown(text), err=True)

    def quote(self, text: str) -> None:
        """Print untrusted text on stderr, on one line, without adding options to commands in it."""
        if not self.quiet:
            self._silent_since = perf_counter()
            click.echo(plain(text), err=True)

    def warn(self, text: str) -> None:
        """Print a warning on stderr."""
        click.secho(f"! {_shown(text)}", fg="yellow", err=True)

    def warn_ignored(self, error: NexusError) -> None:
        """Warn that an item is skipped because of an error."""
        self.warn(plain(str(error)))

    @property
    def can_ask(self) -> bool:
        """Whether a prompt is possible: stdin is a terminal, and the output is not JSON."""
        return not self.as_json and sys.stdin.isatty()

    def ask(self, question: str) -> str:
        """Prompt for a value on the terminal and return it."""
        with interruptible():
            return str(click.prompt(marked_lines(question), err=True))

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask for confirmation unless `yes` is set.

        Raises `declined`, or a usage error if a prompt is not possible.
        """
        if yes:
            return
        question = marked_lines(question)
        if not self.can_ask:
            raise click.UsageError(
                "Confirmation is required, but this is not an interactive terminal."
                f" Pass --yes. ({question})"
            )
        with interruptible():
            agreed = click.confirm(question, err=True)
        self._silent_since = perf_counter()
        if not agreed:
            raise NexusError("declined", "cancelled: nothing was done")

    @contextmanager
    def progress(self, text: str) -> Iterator[None]:
        """Show a spinner on a terminal once nothing has been printed for 0.3 s.

        The 0.3 s start at the last message, because several short steps can add up to a long wait.
        """
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield
            return
        with spinning(text, perf_counter() - self._silent_since):
            yield


def print_tree(tree: Any) -> None:
    """Print a `rich.tree.Tree`."""
    _console().print(tree)


def print_drawing(draw: Callable[[int], Any]) -> None:
    """Print the `rich` drawing that `draw` returns for the width of the terminal."""
    console = _console()
    console.print(draw(min(console.width, _DRAWING_WIDTH)))


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], width: int) -> Any:
    """Return the rows as a table, or None if the table is wider than the terminal."""
    cells = [[_cell(row.get(key), _MAX_CELL) for key in columns] for row in rows]
    return table_for([[*columns.values()], *cells], width)


def _shown(text: str) -> str:
    """Return a message for the terminal. Messages may quote untrusted text."""
    return with_current_options(marked_lines(text))


def marked_lines(text: str) -> str:
    """Return a message with a prefix before all lines but the first.

    The message may quote untrusted text. The prefix shows that a line belongs to the message.
    """
    return plain(text, lines=True).replace("\n", "\n  | ")


def _cell(value: Any, limit: int | None = None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return one_line(", ".join(value), limit) or "none"
    if isinstance(value, dict | list):
        return one_line(escaped_json(json.dumps(value, ensure_ascii=False, default=str)), limit)
    return "" if value is None else one_line(str(value), limit)


def json_text(document: Any) -> str:
    """Return a document as JSON, with escapes for characters that can control the terminal."""
    return escaped_json(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def plain(text: str, *, lines: bool = False) -> str:
    """Return untrusted text, made safe for a terminal: on one or (`lines`) several lines."""
    return many_lines(text) if lines else one_line(text)


def _print_lines(
    record: Mapping[str, Any],
    names: Mapping[str, str],
    *,
    err: bool = False,
    limit: int | None = None,
) -> None:
    """Print a line with the label and the value for each value that is not None."""
    labels = {key: plain(name) for key, name in names.items()}
    width = max(map(len, labels.values()), default=0)
    for key, label in labels.items():
        if record.get(key) is not None:
            click.echo(f"  {label:<{width}}  {_cell(record[key], limit)}", err=err)


def _console(*, stderr: bool = False) -> Any:
    from rich.console import Console

    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _FILE_WIDTH
    return Console(width=width, stderr=stderr, highlight=False, markup=False, emoji=False)
