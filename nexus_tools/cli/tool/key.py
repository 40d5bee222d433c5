"""`nexus-tools tool key`: the keys with which a tool signs its responses."""

import click

from nexus_tools.cli.framework import Session, complete_fqns, reads, writes
from nexus_tools.cli.shared.signing_key import KEY, key_group, print_keys, read_public_key
from nexus_tools.cli.tool.roster import change

_FQN = click.argument("fqn", shell_complete=complete_fqns)


def _parsed(text: str) -> str:
    from nexus_tools.tool import ToolFqn

    return str(ToolFqn.parse(text))


command = key_group(
    "Make keys with which a tool signs its responses, and list them on chain for leaders.",
    "leaders its public half",
    "FQN",
    _parsed,
    "nexus-tools tool key add FQN FILE",
)


@command.command()
@_FQN
@KEY
@writes
async def add(session: Session, fqn: str, key: str) -> None:
    """Let the key in a FILE, or with a public half, sign the responses of the tool FQN."""
    await _change(session, fqn, key, signs=True)


@command.command()
@_FQN
@KEY
@writes
async def remove(session: Session, fqn: str, key: str) -> None:
    """Let the key sign no longer. Add the next one first, and wait until leaders know it."""
    await _change(session, fqn, key, signs=False)


@command.command("list")
@_FQN
@reads
async def list_keys(session: Session, fqn: str) -> None:
    """List the keys of the tool FQN that the chain has."""
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
    print_keys(session, tool.keys.keys, fqn)


async def _change(session: Session, fqn: str, text: str, *, signs: bool) -> None:
    from nexus_tools.tool import public_key_text

    key = read_public_key(text)
    public_key = public_key_text(key)
    await change(
        session,
        fqn,
        lambda tools: tools.add_key(fqn, key) if signs else tools.remove_key(fqn, key),
        f"{public_key} {'signs' if signs else 'no longer signs'} for {fqn}",
        {"public_key": public_key},
    )
