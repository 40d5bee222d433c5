"""The command group `nexus-tools question`: questions that workflows ask users.

The commands are in `questions`.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "list": "List your open questions.",
    "answer": "Answer a question.",
}
PLACES = {"list": "questions:list_questions", "answer": "questions:answer"}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """List and answer the questions that workflows ask you."""
