"""The chain means what `workflow/semantics.py` means, whatever the document and the order.

Some 1 300 random documents were carried so when this was written; here are the first of them.
"""

import pytest

from nexus_tools.workflow import structure_of
from tests.workflow.random_documents import grown, outcome_of, strewn

CHUNKS = [(grown, range(6)), (grown, range(6, 12)), (strewn, range(80))]


@pytest.mark.parametrize(
    ("make", "seeds"), CHUNKS, ids=[f"{make.__name__}-{seeds.start}" for make, seeds in CHUNKS]
)
async def test_random_documents_are_carried_as_the_semantics_says(make, seeds, carried):
    for seed in seeds:
        document = make(seed)
        if structure_of(document).problems:
            continue
        one = await carried(document, outcome_of(document, seed), f"{make.__name__}-{seed}")
        await one.begin()
        await one.carry()


@pytest.mark.parametrize("steps", [0, 1, 4, 9])
async def test_what_is_under_way_when_an_execution_is_cancelled_is_closed_and_brings_nothing(
    steps, carried
):
    document = grown(2)
    one = await carried(document, outcome_of(document, 2), f"cancelled-{steps}x")
    await one.begin()
    await one.carry(cancel_after=steps)


async def test_no_mist_is_lost_and_nothing_is_left_when_an_execution_is_cleaned_up(
    carried, executions, user, leader, owner
):
    async def total():
        return sum([await each.balance(each.address) for each in (user, leader, owner)])

    document = grown(5)
    one = await carried(document, outcome_of(document, 5), "grown-clean")
    before = await total()
    await one.begin()
    await one.carry()
    assert before - await total() == one.spent_mist
    cleaned = await executions.clean(one.execution)
    spent = one.spent_mist + sum(each.cost.net for each in cleaned.sent)
    assert before - await total() == spent
    assert await executions.find(one.execution) is None
