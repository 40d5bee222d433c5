"""`nexus-tools ask`: questions of workflows to you."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "list": "List the open questions to you.",
    "answer": "Answer a question.",
}
PLACES = {"list": "questions:list_questions", "answer": "questions:answer"}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """See what workflows ask you, and answer."""
