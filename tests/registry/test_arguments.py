"""Arguments of wrong types: services reject them with a message and send nothing."""

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.registry import Executions, Questions, Schedules
from nexus_tools.sui.types.address import Address
from tests.registry.sums import TWICE, sums

ID = Address(bytes(32))
SUM = "xyz.example.sum@1"


@pytest.fixture
def refused(workflows, user, chain):
    """Return a function that calls a method, and returns the message and hint of its error."""
    services = {
        "workflows": workflows,
        "executions": Executions(user, chain.deployment),
        "schedules": Schedules(user, chain.deployment),
        "asks": Questions(user, chain.deployment),
    }

    async def refused(name, *args, **kwargs):
        service, _, verb = name.partition(".")
        with pytest.raises(UsageError) as caught:
            await getattr(services[service], verb)(*args, **kwargs)
        assert caught.value.code == "argument_invalid"
        return caught.value.message, caught.value.hint

    return refused


async def test_publish_rejects_text_instead_of_document(refused):
    assert await refused("workflows.publish", "x", SUM) == (
        "publish: expected Document for document, got 'x'",
        "Parse text with read_document, or call the method document() of a Workflow.",
    )


async def test_begin_rejects_fqn_instead_of_workflow(refused):
    assert await refused("executions.start", SUM, {}) == (
        "start: expected PublishedWorkflow for workflow, got 'xyz.example.sum@1'",
        "Use `await nexus.workflows.get(fqn)` to find a workflow by its FQN.",
    )


async def test_create_rejects_text_instead_of_timing(refused, workflows, added):
    await workflows.publish(sums(*TWICE), SUM)
    workflow = await workflows.get(SUM)
    message, hint = await refused("schedules.create", workflow, {}, "1h", funds_mist=1)
    assert message == "create: expected Timing for timing, got '1h'"
    assert "Plan.Every" in hint


@pytest.mark.parametrize("amount", ["1", 0.5, -5, True, 2**64])
async def test_refill_rejects_amount_that_is_not_u64(refused, amount):
    assert await refused("executions.refill", ID, amount) == (
        f"refill: expected an integer from 0 to 2^64 - 1 for amount_mist, got {amount!r}",
        "Give the amount in MIST: 1 SUI is 1_000_000_000 MIST.",
    )


@pytest.mark.parametrize("verb", ["executions.cancel", "schedules.pause", "asks.open"])
async def test_methods_reject_text_instead_of_address(refused, verb):
    _, hint = await refused(verb, "0x5")
    assert hint == 'Use Address.parse_whole("0x…") for text.'


async def test_name_leaders_rejects_list_of_numbers(refused):
    message, _ = await refused("executions.set_leaders", ID, [5])
    assert message == "set_leaders: expected a list of Address or text for leaders, got [5]"


async def test_answer_rejects_none_for_approve(refused):
    message, _ = await refused("asks.answer", ID, approve=None)
    assert message == "answer: expected True or False for approve, got None"


async def test_checked_method_keeps_docstring_and_signature():
    assert Executions.refill.__doc__.startswith("Add to the funds")
    with pytest.raises(TypeError, match="amount_mist"):
        await Executions.refill(None, ID)
