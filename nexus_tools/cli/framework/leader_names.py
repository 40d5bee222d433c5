"""Which leaders are meant: by their ids, or by the names that they gave themselves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.types.address import Address

NAMED = click.option(
    "--leader",
    "named",
    multiple=True,
    metavar="LEADER",
    help="A leader by its id, or by its name where only one has it; may be repeated.",
)
"""The option of commands that name leaders of anybody."""


async def find_leaders(leaders: "LeaderRegistry", texts: Sequence[str]) -> "tuple[Address, ...]":
    """The ids of the leaders that are named, each once. Raises as `LeaderRegistry.find`."""
    everybody = None if all(each.startswith("0x") for each in texts) else await leaders.list()
    found = [(await leaders.find(each, everybody)).id for each in texts]
    return tuple(dict.fromkeys(found))
