"""The commands `nexus-tools leader activate` and `deactivate`."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, transaction_command
from nexus_tools.cli.leader.own import LEADER, change_leader

if TYPE_CHECKING:
    from nexus_tools.cli.leader.own import DescribeResult
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry


@click.command()
@LEADER
@transaction_command
async def activate(session: Session, leader_name: str | None) -> None:
    """Activate the leader, so that new invocations can name it."""
    await change_leader(
        session, leader_name, lambda leaders, leader: leaders.activate(leader), _told("active")
    )


@click.command()
@LEADER
@transaction_command
async def deactivate(session: Session, leader_name: str | None) -> None:
    """Stop accepting new invocations. Existing invocations that name the leader stay valid."""
    await change_leader(
        session, leader_name, lambda leaders, leader: leaders.deactivate(leader), _told("inactive")
    )


def _told(state: str) -> "DescribeResult":
    def describe(_: "LeaderRegistry", __: "Sent", subject: str) -> tuple[str, dict[str, Any]]:
        return f"{subject} is {state}", {"state": state}

    return describe
