"""The command group `nexus-tools tool key`, for keys that sign a tool's responses."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, network_command, transaction_command
from nexus_tools.cli.shared.signing_key import KEY, print_keys, read_public_key, signing_key_group
from nexus_tools.cli.tool.roster import change_list

_FQN = click.argument("fqn", shell_complete=complete_fqns)


def _parsed(text: str) -> str:
    from nexus_tools.tool import ToolFqn

    return str(ToolFqn.parse(text))


command = signing_key_group(
    "Manage the keys with which a tool signs its responses.",
    "leaders",
    "FQN",
    _parsed,
    "nexus-tools tool key add FQN FILE",
)


@command.command()
@_FQN
@KEY
@transaction_command
async def add(session: Session, fqn: str, key: str) -> None:
    """Add a key that signs the responses of the tool FQN. Pass a key file or a public key."""
    await _change(session, fqn, key, signs=True)


@command.command()
@_FQN
@KEY
@transaction_command
async def remove(session: Session, fqn: str, key: str) -> None:
    """Remove a key of the tool FQN.

    Add the tool's next key first, and wait until leaders accept it.
    """
    await _change(session, fqn, key, signs=False)


@command.command("list")
@_FQN
@network_command
async def list_keys(session: Session, fqn: str) -> None:
    """List the on-chain keys of the tool FQN."""
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
    print_keys(session, tool.keys.keys, fqn)


async def _change(session: Session, fqn: str, text: str, *, signs: bool) -> None:
    from nexus_tools.tool import format_public_key

    key = read_public_key(text)
    public_key = format_public_key(key)
    await change_list(
        session,
        fqn,
        lambda tools: tools.add_key(fqn, key) if signs else tools.remove_key(fqn, key),
        f"{public_key} {'signs' if signs else 'no longer signs'} for {fqn}",
        {"public_key": public_key},
    )
