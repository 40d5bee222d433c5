"""The gateway that shows the chain as it was some time ago."""

from time import monotonic

import pytest

from benchmarks.lagging_node import LaggingNode
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

LAG_S = 3_600


async def test_lagging_node_shows_earlier_state(session_localnet):
    owner = Address.of(0xA11CE)
    session_localnet.fund(owner, 1_000)
    born = {}
    async with (
        SuiClient(session_localnet.network) as direct,
        LaggingNode(session_localnet.network.url, LAG_S, born).running() as lagging,
        SuiClient(lagging.network) as client,
    ):
        height = await client.latest_checkpoint()
        session_localnet.fund(owner, 1_000)
        assert await direct.latest_checkpoint() > height
        assert await client.latest_checkpoint() == height
        assert await client.now_ms() <= await direct.now_ms() - LAG_S * 1_000
        old, young = [coin.reference.object_id for coin in await direct.coins(owner)]
        born[young] = monotonic()
        found = await client.objects([old, young])
        assert found == (await direct.object(old), None)
