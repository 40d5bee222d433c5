"""`nexus-tools wallet`: the keys that sign."""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Make a key.",
    "list": "List the keys.",
    "use": "Sign with a key from now on.",
    "show": "Show a key's address and balance.",
    "rename": "Give a key another alias.",
    "remove": "Forget a key.",
    "transfer": "Send SUI.",
    "merge": "Merge coins.",
    "import": "Import a key, or those of the Sui CLI.",
    "export": "Print a key.",
}
PLACES = {
    "new": "keys:new",
    "list": "keys:list_keys",
    "use": "keys:use",
    "show": "keys:show",
    "rename": "keys:rename",
    "remove": "removal:remove",
    "transfer": "transfer:transfer",
    "merge": "merge:merge",
    "import": "secrets:import_key",
    "export": "secrets:export",
}


@click.group(cls=LazyGroup, home=__name__, summaries=COMMANDS, places=PLACES)
def command() -> None:
    """Make and choose keys.

    Keys are kept in a keystore of the form that the Sui client has, readable by you alone. Those
    of the Sui CLI and of pysui are found there, and stay there.
    """
