"""The chain plays the stories of executions, and pays what the rules say.

With `NEXUS_TOOLS_DOCUMENTS=2000` each protocol plays 102 stories, a third at each gas price.
"""

import pytest

from tests.economics.execution_stories import DOCUMENTS, end, play, stories
from tests.economics.fee_rules import Fees
from tests.economics.gas_bounds import PROTOCOLS
from tests.economics.networks import network_of
from tests.economics.played_execution import TIMEOUT_MS, PlayedExecution
from tests.economics.test_execution_laws import PRICES


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    return request.param


@pytest.mark.parametrize("price", PRICES)
async def test_chain_pays_what_the_rules_say(protocol, price, linked):
    """The gas of each transaction is at most the bound that the laws are checked with."""
    number = PRICES.index(price)
    async with network_of(protocol, price, linked) as network:
        for story in [*stories(max(3, DOCUMENTS // 19))][number :: len(PRICES)]:
            await play_on_chain(network, story)


async def play_on_chain(network, story):
    """Play a story on chain and by the rules."""
    rules = story.ruled(Fees(network.price))
    rules.begin(story.values, **story.terms(rules.fees))
    workflow = await network.carrier.publish(story.document)
    execution = PlayedExecution(network, workflow, story, rules)
    await execution.begin()
    await play(story, rules, execution)
    await end(story, rules, execution)
    await execution.check_end()
    if execution.has_raised:
        await execution.raise_timeouts(TIMEOUT_MS)
