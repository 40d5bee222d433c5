"""The chain plays the stories of executions, and pays by the rules.

With `NEXUS_TOOLS_DOCUMENTS=2000` each protocol plays 105 stories of executions and 52 of schedules,
a third at each gas price. Otherwise two networks play a few.
"""

from itertools import product

import pytest

from nexus_tools.errors import ValidationError
from tests.economics.execution_stories import DOCUMENTS, end, play, stories
from tests.economics.fee_rules import Fees
from tests.economics.gas_bounds import PROTOCOLS
from tests.economics.networks import network_of
from tests.economics.played_execution import TIMEOUT_MS, PlayedExecution
from tests.economics.played_schedules import PlayedKeeping
from tests.economics.schedule_stories import play_schedules, schedule_stories
from tests.economics.test_execution_laws import PRICES

FEW = [(105, 1_000), pytest.param(140, 5_000, marks=pytest.mark.long)]
NETWORKS = [*product(PROTOCOLS, PRICES)] if DOCUMENTS > 100 else FEW


@pytest.mark.long
@pytest.mark.parametrize(("protocol", "price"), NETWORKS)
async def test_chain_pays_leaders_by_the_rules(protocol, price, linked):
    """The gas of each transaction is at most the bound that the laws are checked with."""
    number = PRICES.index(price)
    async with network_of(protocol, price, linked) as network:
        for story in [*stories(max(3, DOCUMENTS // 19))][number :: len(PRICES)]:
            await play_on_chain(network, story)


@pytest.mark.parametrize(("protocol", "price"), NETWORKS)
async def test_chain_pays_keepers_by_the_rules(protocol, price, linked):
    """The payment covers the gas of each transaction that starts an execution."""
    number = PRICES.index(price)
    async with network_of(protocol, price, linked) as network:
        for story in [*schedule_stories(max(3, DOCUMENTS // 38))][number :: len(PRICES)]:
            await keep_on_chain(network, story)


async def keep_on_chain(network, story):
    """Play the schedules of a story on chain and by the rules."""
    rules = story.ruled(Fees(network.price), network.clock(0))
    workflow = await publish_workflow(network, story.story.document)
    if workflow is None:
        return
    keeping = PlayedKeeping(network, workflow, story, rules)
    await play_schedules(story, rules, keeping)
    await keeping.check_end()


async def publish_workflow(network, document):
    """Return the workflow of a document, or None if a step is larger than the chain accepts."""
    try:
        return await network.carrier.publish(document)
    except ValidationError as error:
        if "but the limit is 8000" not in error.message:
            raise
    return None


async def play_on_chain(network, story):
    """Play a story on chain and by the rules."""
    rules = story.ruled(Fees(network.price))
    rules.begin(story.values, **story.terms(rules.fees))
    workflow = await publish_workflow(network, story.document)
    if workflow is None:
        return
    execution = PlayedExecution(network, workflow, story, rules)
    await execution.begin()
    await play(story, rules, execution)
    await end(story, rules, execution)
    await execution.check_end()
    if execution.has_raised:
        await execution.raise_timeouts(TIMEOUT_MS)
