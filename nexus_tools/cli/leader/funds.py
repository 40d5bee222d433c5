"""Detection of leaders whose workers cannot pay for a transaction."""

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
    """A leader whose workers lack SUI for gas, and the command that funds one of the workers."""

    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message}: run `{self.remedy}`"


async def shortages(client: "SuiClient", leaders: "Sequence[Leader]") -> tuple[Shortage, ...]:
    """Return a shortage for each active leader without a worker that can close an invocation.

    The worker needs SUI for the gas. Leaders without any worker have no shortage.
    """
    able = [leader for leader in leaders if leader.is_active and leader.workers.entries]
    if not able:
        return ()
    price = await client.gas_price()
    found = await asyncio.gather(*(_shortage(client, leader, price) for leader in able))
    return tuple(item for item in found if item is not None)


async def _shortage(client: "SuiClient", leader: "Leader", price: int) -> Shortage | None:
    from nexus_tools.leader import funding_command, minimum_balance_mist, spendable_mist

    workers = leader.workers.entries
    balances = await asyncio.gather(*map(client.balance_parts, workers))
    usable = dict(zip(workers, map(spendable_mist, balances), strict=True))
    richest, has_mist = max(usable.items(), key=lambda entry: entry[1])
    needs_mist = minimum_balance_mist(price)
    if has_mist >= needs_mist:
        return None
    message = (
        f"leader {leader.name} cannot pay for gas: its richest worker {richest} has"
        f" {units.sui(has_mist)}, but closing an invocation needs {units.sui(needs_mist)}"
    )
    return Shortage(message, funding_command(client.network, richest, needs_mist - has_mist))
