"""The commands `nexus-tools leader activate` and `deactivate`."""

from typing import TYPE_CHECKING, Any

import click

from nexus_tools.cli.framework import Session, writes
from nexus_tools.cli.leader.own import LEADER, act

if TYPE_CHECKING:
    from nexus_tools.cli.leader.own import Tell
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import LeaderRegistry


@click.command()
@LEADER
@writes
async def activate(session: Session, which: str | None) -> None:
    """Activate the leader, so that new invocations can name it."""
    await act(session, which, lambda leaders, leader: leaders.activate(leader), _told("active"))


@click.command()
@LEADER
@writes
async def deactivate(session: Session, which: str | None) -> None:
    """Stop accepting new invocations. Existing invocations that name the leader stay."""
    await act(session, which, lambda leaders, leader: leaders.deactivate(leader), _told("inactive"))


def _told(state: str) -> "Tell":
    def tell(_: "LeaderRegistry", __: "Sent", whose: str) -> tuple[str, dict[str, Any]]:
        return f"{whose} is {state}", {"state": state}

    return tell
