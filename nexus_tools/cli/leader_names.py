"""Which leaders are meant: by their ids, or by the names that they gave themselves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from nexus_tools.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from nexus_tools.package.move.leader import Leader
    from nexus_tools.registry import LeaderRegistry
    from nexus_tools.sui.address import Address

NAMED = click.option(
    "--leader",
    "named",
    multiple=True,
    metavar="LEADER",
    help="A leader by its id, or by its name where only one has it; may be repeated.",
)
"""The option of commands that name leaders of anybody."""


async def find_leader(
    leaders: "LeaderRegistry", text: str, among: "Sequence[Leader] | None" = None
) -> "Leader":
    """The leader with an id, or with a name that it alone has `among` these, or among all.

    What begins with 0x is an id, whatever leaders call themselves. Raises `unknown_leader` or
    `leader_ambiguous`.
    """
    from nexus_tools.sui.address import Address

    if text.startswith("0x"):
        return await leaders.get(Address.parse(text))
    meant = await leaders.list() if among is None else among
    found = [each for each in meant if each.name == text]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(
            "unknown_leader",
            f"no leader is called {text[:80]!r}",
            hint="`nexus-tools leader list` shows which there are",
        )
    raise UsageError(
        "leader_ambiguous",
        f"{len(found)} leaders call themselves {text[:80]!r}",
        hint=f"name one by its id: {', '.join(str(each.id) for each in found)}",
    )


async def find_leaders(leaders: "LeaderRegistry", texts: Sequence[str]) -> "tuple[Address, ...]":
    """The ids of the leaders that are named, each once. Raises as `find_leader`."""
    everybody = None if all(each.startswith("0x") for each in texts) else await leaders.list()
    found = [(await find_leader(leaders, each, everybody)).id for each in texts]
    return tuple(dict.fromkeys(found))
