"""The location of a Leader's journal: a file, or a URL of PostgreSQL."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.settings.environment import LEADER_PREFIX

if TYPE_CHECKING:
    from nexus_tools.leader import PostgresUrl
    from nexus_tools.sui.types.address import Address


class JournalLocation(click.Path):
    """A file, or a URL."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text of a URL, or the path of a file."""
        return value if "://" in str(value) else super().convert(value, param, ctx)


JOURNAL = click.option(
    "--journal",
    type=JournalLocation(dir_okay=False, path_type=Path),
    metavar="FILE|URL",
    help=f"Journal of the Leader. Default: {LEADER_PREFIX}JOURNAL, or the file in the data"
    " directory.",
)


def default_journal(session: Session, leader_id: "Address | None") -> Path:
    """Return the SQLite file in which the Leader of `leader_id` stores its journal by default."""
    return _folder(session) / f"{leader_id}.sqlite"


def find_journal(session: Session, journal: Path | str | None) -> "Path | PostgresUrl":
    """Return the journal of `--journal`, of the environment, or the only one in its folder.

    Raises:
        UsageError: `config_invalid` or `journal_ambiguous`.
        NotFoundError: `journal_missing`.
    """
    from nexus_tools.leader import LeaderConfig

    variable = f"{LEADER_PREFIX}JOURNAL"
    if journal is not None:
        return LeaderConfig.load({}, journal=journal).journal
    if text := os.environ.get(variable):
        return LeaderConfig.load({variable: text}).journal
    files = sorted(_folder(session).glob("*.sqlite"))
    if not files:
        raise NotFoundError(
            "journal_missing",
            f"the folder {_folder(session)} does not contain a journal",
            hint=f"Pass the file or the postgresql:// URL of the journal with --journal, or set"
            f" {variable}.",
        )
    if len(files) > 1:
        raise UsageError(
            "journal_ambiguous",
            f"the folder {_folder(session)} contains {len(files)} journals",
            hint=f"Pass one of them with --journal, for example {files[0]}.",
        )
    return files[0]


def _folder(session: Session) -> Path:
    return session.settings.data_directory / "leaders"
