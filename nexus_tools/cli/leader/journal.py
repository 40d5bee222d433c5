"""The command group `nexus-tools leader journal`."""

import click

from nexus_tools.cli.framework import Session, offline_command
from nexus_tools.cli.leader.journal_location import find_journal
from nexus_tools.errors import UsageError


@click.group()
def command() -> None:
    """Create the journal that several Leader processes share."""


@command.command()
@click.argument("url")
@click.option("--grant", "role", metavar="ROLE", help="Role that may use the journal.")
@offline_command
def create(session: Session, url: str, role: str | None) -> None:
    """Create the tables of a journal in PostgreSQL.

    URL is a postgresql:// URL without a password. Its role owns the tables. With --grant, a Leader
    can use the journal as another role, which may not create or change tables.
    """
    from nexus_tools.leader import PostgresUrl, create_journal

    location = find_journal(session, url)
    if not isinstance(location, PostgresUrl):
        raise UsageError(
            "journal_not_shared",
            "expected a URL that begins with postgresql://",
            hint="A Leader creates the SQLite file of its journal itself.",
        )
    is_new, grants = create_journal(location, role)
    document = {"schema": location.schema, "created": is_new, "grants": grants}
    if session.output.as_json:
        session.output.document(document)
        return
    state = "is ready" if is_new else "already exists"
    session.output.done(f"the journal in the schema {location.schema} {state}")
    for grant in grants:
        session.output.result(f"{grant};")
