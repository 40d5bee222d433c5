"""What is no argument of a verb is told in words, and nothing is sent."""

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.registry import Asks, Executions, Schedules
from nexus_tools.sui.types.address import Address
from tests.registry.sums import TWICE, sums

ID = Address(bytes(32))
SUM = "xyz.example.sum@1"


@pytest.fixture
def refused(workflows, user, chain):
    """Calls a verb, and gives the message and the hint with which it refuses."""
    services = {
        "workflows": workflows,
        "executions": Executions(user, chain.deployment),
        "schedules": Schedules(user, chain.deployment),
        "asks": Asks(user, chain.deployment),
    }

    async def refused(name, *args, **kwargs):
        service, _, verb = name.partition(".")
        with pytest.raises(UsageError) as caught:
            await getattr(services[service], verb)(*args, **kwargs)
        assert caught.value.code == "argument_invalid"
        return caught.value.message, caught.value.hint

    return refused


async def test_text_in_place_of_a_document_is_refused(refused):
    assert await refused("workflows.publish", "x", SUM) == (
        "publish takes Document as document, not 'x'",
        "read_document reads text, and a Workflow has a document()",
    )


async def test_the_fqn_of_a_workflow_is_not_yet_the_workflow(refused):
    assert await refused("executions.begin", SUM, {}) == (
        "begin takes PublishedWorkflow as workflow, not 'xyz.example.sum@1'",
        "`await nexus.workflows.get(fqn)` finds it by its FQN",
    )


async def test_text_in_place_of_a_timing_is_refused(refused, workflows, added):
    await workflows.publish(sums(*TWICE), SUM)
    workflow = await workflows.get(SUM)
    message, hint = await refused("schedules.create", workflow, {}, "1h", funds_mist=1)
    assert message == "create takes Timing as timing, not '1h'"
    assert "Plan.Every" in hint


@pytest.mark.parametrize("amount", ["1", 0.5, -5, True, 2**64])
async def test_amounts_are_whole_numbers_of_mist(refused, amount):
    assert await refused("executions.refill", ID, amount) == (
        f"refill takes a whole number from 0 to 2^64 - 1 as amount_mist, not {amount!r}",
        "amounts are in MIST: 1 SUI is 1_000_000_000",
    )


@pytest.mark.parametrize("verb", ["executions.cancel", "schedules.pause", "asks.open"])
async def test_text_in_place_of_an_address_is_refused(refused, verb):
    _, hint = await refused(verb, "0x5")
    assert hint == 'Address.parse_whole("0x…") reads text'


async def test_leaders_are_a_list_of_ids_or_names(refused):
    message, _ = await refused("executions.name_leaders", ID, [5])
    assert message == "name_leaders takes a list of Address or text as leaders, not [5]"


async def test_who_neither_approves_nor_rejects_does_not_reject(refused):
    message, _ = await refused("asks.answer", ID, approve=None)
    assert message == "answer takes True or False as approve, not None"


async def test_a_verb_still_says_what_it_takes():
    assert Executions.refill.__doc__.startswith("Add to the funds")
    with pytest.raises(TypeError, match="amount_mist"):
        await Executions.refill(None, ID)
