"""The option `--leader`, which names leaders by ID or by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address

LEADERS_OPTION = click.option(
    "--leader",
    "leader_names",
    multiple=True,
    metavar="LEADER",
    help="Leader, by its ID or its unique name. May be repeated.",
)
"""The option of commands that name leaders of any owner."""


async def find_leaders(leaders: "LeaderRegistry", texts: Sequence[str]) -> "tuple[Address, ...]":
    """Return the unique IDs of the named leaders. Raises the errors of `LeaderRegistry.find`."""
    return tuple(leader.id for leader in await leaders.get_all(await leaders.ids(texts)))
