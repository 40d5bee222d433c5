"""The command group `nexus-tools leader key`, for keys that sign a leader's tool calls."""

import shlex
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session, network_command, transaction_command
from nexus_tools.cli.leader.own import LEADER, change_leader, own_leader
from nexus_tools.cli.shared.signing_key import KEY, print_keys, read_public_key, signing_key_group
from nexus_tools.settings.environment import LEADER_PREFIX

if TYPE_CHECKING:
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry


def _leader(text: str) -> str:
    from nexus_tools.sui.types.address import Address

    return str(Address.parse(text))


command = signing_key_group(
    "Manage the keys with which a leader signs its tool calls.",
    "LEADER",
    _leader,
    "nexus-tools leader key add FILE",
)


@command.command()
@KEY
@LEADER
@transaction_command
async def add(session: Session, key: str, leader_name: str | None) -> None:
    """Add a key that signs the leader's tool calls. Pass a key file or a public key.

    A Leader signs with the key of the file in NEXUS_TOOLS_LEADER_SIGNING_KEY, which it reads at its
    start.
    """
    await _change(session, key, leader_name, signs=True)
    if not session.dry_run:
        file = "FILE" if key.startswith("ed25519:") else shlex.quote(key)
        session.output.note(
            f"next: set {LEADER_PREFIX}SIGNING_KEY={file} on each machine that runs the Leader, and"
            " start the Leader again"
        )


@command.command()
@KEY
@LEADER
@transaction_command
async def remove(session: Session, key: str, leader_name: str | None) -> None:
    """Remove a key of the leader.

    Add the leader's next key first, and wait until tools accept it.
    """
    await _change(session, key, leader_name, signs=False)


@command.command("list")
@LEADER
@network_command
async def list_keys(session: Session, leader_name: str | None) -> None:
    """List the on-chain keys of the leader."""
    async with session.nexus(signing=False) as nexus:
        found = await own_leader(session, nexus.leaders, leader_name)
    print_keys(session, found.keys.keys, f"the leader {found.name}")


async def _change(session: Session, text: str, leader_name: str | None, *, signs: bool) -> None:
    from nexus_tools.tool import format_public_key

    key = read_public_key(text)
    public_key = format_public_key(key)

    def describe(_: "LeaderRegistry", __: "Sent", subject: str) -> tuple[str, dict[str, Any]]:
        signs_now = "signs" if signs else "no longer signs"
        return f"{public_key} {signs_now} for {subject}", {"public_key": public_key}

    await change_leader(
        session,
        leader_name,
        lambda leaders, leader: (
            leaders.add_key(leader, key) if signs else leaders.remove_key(leader, key)
        ),
        describe,
    )
