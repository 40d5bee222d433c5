"""Options that commands share. These options may also precede the command group.

This module is loaded for every command line, also for `--help`, so its only large import is click.
"""

import click

from nexus_tools.cli.framework.input.completion import complete_keys, complete_networks

JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="Print only the result.")
NETWORK = click.option(
    "-n",
    "--network",
    "network_name",
    help="Network to use. Default: the configured network.",
    shell_complete=complete_networks,
)
WALLET = click.option(
    "-w",
    "--wallet",
    "wallet_name",
    help="Key that signs, by alias or address. Default: the active key.",
    shell_complete=complete_keys,
)
SIGNER = click.option(
    "--signer",
    "signer_url",
    metavar="URL",
    help="Signer that signs instead of a key on this machine, as URL#ADDRESS.",
)
YES = click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
DRY_RUN = click.option(
    "--dry-run", is_flag=True, help="Simulate the transaction without signing or sending it."
)

_FLAGS = ("--json", "-q", "--quiet", "-y", "--yes", "--dry-run")
_WITH_VALUE = ("-n", "--network", "-w", "--wallet", "--signer")


def shared_options_last(group: click.Group, context: click.Context, args: list[str]) -> list[str]:
    """Move shared options to the position after the command's name, where click parses them.

    `--json tool -n localnet list` becomes `tool list --json -n localnet`.
    """
    path: list[str] = []
    options: list[str] = []
    rest = list(args)
    place: click.Command | None = group
    while rest and isinstance(place, click.Group):
        word = rest.pop(0)
        if word in _FLAGS or word.startswith(("--network=", "--wallet=", "--signer=")):
            options.append(word)
        elif word in _WITH_VALUE:
            options += [word, *rest[:1]]
            del rest[:1]
        else:
            path.append(word)
            place = place.get_command(context, word)
    return [*path, *options, *rest]
