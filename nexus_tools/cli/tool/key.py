"""The command group `nexus-tools tool key`, for keys that sign a tool's responses."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import Session, complete_fqns, query_command, transaction_command
from nexus_tools.cli.shared.signing_key import KEY, print_keys, read_public_key, signing_key_group
from nexus_tools.cli.tool.roster import change_list, warn_of_unsigned_leaders

if TYPE_CHECKING:
    from nexus_tools.nexus import Nexus

_FQN = click.argument("fqn", shell_complete=complete_fqns)


def _parsed(text: str) -> str:
    from nexus_tools.tool import ToolFqn

    return str(ToolFqn.parse(text))


command = signing_key_group(
    "Manage the keys with which a tool signs its responses.",
    "FQN",
    _parsed,
    "nexus-tools tool key add FQN FILE",
    first="serve the tool with --network NAME --signing-key FILE, and then ",
)


@command.command()
@_FQN
@KEY
@transaction_command
async def add(session: Session, fqn: str, key: str) -> None:
    """Add a key that signs the responses of the tool FQN. Pass a key file or a public key.

    First serve the tool with the key, because leaders then reject unsigned answers. Leaders that do
    not sign their calls cannot call a tool with keys.
    """
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
@query_command
async def list_keys(session: Session, fqn: str) -> None:
    """List the on-chain keys of the tool FQN."""
    async with session.nexus(signing=False) as nexus:
        tool = await nexus.tools.get(fqn)
    print_keys(session, tool.keys.keys, fqn)


async def _change(session: Session, fqn: str, text: str, *, signs: bool) -> None:
    from nexus_tools.tool import format_public_key

    async def warn(nexus: "Nexus") -> None:
        await _warn_before_adding(session, nexus, fqn)

    key = read_public_key(text)
    public_key = format_public_key(key)
    await change_list(
        session,
        fqn,
        lambda tools: tools.add_key(fqn, key) if signs else tools.remove_key(fqn, key),
        f"{public_key} {'signs' if signs else 'no longer signs'} for {fqn}",
        {"public_key": public_key},
        before=warn if signs else None,
    )


async def _warn_before_adding(session: Session, nexus: "Nexus", fqn: str) -> None:
    """Warn about calls that fail with the new key: unsigned answers, and leaders without keys."""
    from nexus_tools.contracts.move_bindings.leader import Leader

    output = session.output
    tool = await nexus.tools.get(fqn)
    output.warn(
        f"with this key, leaders reject answers of {fqn} that are not signed. First serve the tool"
        " with --network NAME --signing-key FILE"
    )
    listed = await nexus.leaders.find_all(tool.leaders.entries, Leader)
    if not warn_of_unsigned_leaders(output, fqn, listed) and tool.accepts_any_leader:
        output.warn(
            f"{fqn} accepts any leader, but the calls of leaders that do not sign will fail. Run"
            f" `nexus-tools tool leaders add {fqn} LEADER` to accept only leaders that sign"
        )
    if not tool.requires_signed_outcome:
        output.note(
            f"afterwards, run `nexus-tools tool update {fqn} --require-signed-outcome`. Without it,"
            " a leader can settle an invocation without the tool's signature"
        )
