"""Leaders that cannot work because none of their workers can pay for a closing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.sui.client import SuiClient


@dataclass(frozen=True, slots=True)
class Shortage:
    """A leader without money for gas, and the command that sends some to one of its workers."""

    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message}: run `{self.remedy}`"


async def shortages(client: "SuiClient", leaders: "Sequence[Leader]") -> tuple[Shortage, ...]:
    """Return the active leaders that have workers, none of which can pay for one closing."""
    able = [each for each in leaders if each.is_active and each.workers.entries]
    if not able:
        return ()
    price = await client.gas_price()
    found = await asyncio.gather(*(_shortage(client, each, price) for each in able))
    return tuple(each for each in found if each is not None)


async def _shortage(client: "SuiClient", leader: "Leader", price: int) -> Shortage | None:
    from nexus_tools.leader import command_to_send, least_mist, usable_mist

    workers = leader.workers.entries
    balances = await asyncio.gather(*map(client.balance_parts, workers))
    usable = dict(zip(workers, map(usable_mist, balances), strict=True))
    richest, has_mist = max(usable.items(), key=lambda each: each[1])
    needs_mist = least_mist(price)
    if has_mist >= needs_mist:
        return None
    message = (
        f"the leader {leader.name} cannot pay for gas: its richest worker {richest} can spend"
        f" {units.sui(has_mist)}, and one closing needs {units.sui(needs_mist)}"
    )
    return Shortage(message, command_to_send(client.network, richest, needs_mist - has_mist))
