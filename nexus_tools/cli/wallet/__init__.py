"""The command group `nexus-tools wallet`, for keys and SUI.

`keys` has most commands. `record` prints keys.
"""

import click

from nexus_tools.cli.framework import LazyGroup

COMMANDS = {
    "new": "Create a key.",
    "list": "List the keys.",
    "use": "Select the key that signs.",
    "show": "Show a key's address and balance.",
    "rename": "Change the alias of a key.",
    "remove": "Delete a key.",
    "transfer": "Send SUI.",
    "merge": "Merge SUI coins into one.",
    "import": "Import a key, or all keys of the Sui CLI.",
    "export": "Print the secret key.",
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
    """Create and select keys, and transfer SUI.

    The commands store keys in a keystore that only you can read, in the format of the Sui CLI. The
    commands also use the keys of the Sui CLI and of pysui, without copying them.
    """
