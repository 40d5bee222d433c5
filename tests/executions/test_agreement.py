"""The chain and `workflow/semantics.py` give the same executions, whatever happens in them.

With `NEXUS_TOOLS_DOCUMENTS=1000` and `--timeout=0` as many documents are played of each kind.
"""

import os
import random
from dataclasses import replace

import pytest

from nexus_tools.workflow import structure_of
from tests.executions.conftest import DEAR
from tests.workflow.random_documents import grown, outcome_of, strewn

DOCUMENTS = int(os.environ.get("NEXUS_TOOLS_DOCUMENTS", "10"))
FIRST = int(os.environ.get("NEXUS_TOOLS_FIRST_DOCUMENT", "0"))


def priced(document, seed):
    """The document, in which some vertices have a tool that is refused."""
    chance = random.Random(f"prices {seed}")
    vertices = (
        replace(vertex, fqn=DEAR) if chance.random() < 0.05 else vertex
        for vertex in document.vertices
    )
    return replace(document, vertices=tuple(vertices))


@pytest.mark.parametrize("make", [grown, strewn])
async def test_an_execution_on_chain_means_what_the_pure_semantics_means(carrier, make):
    played, seed = 0, FIRST
    while played < DOCUMENTS:
        seed += 1
        document = priced(make(seed), seed)
        if structure_of(document).problems:
            continue
        try:
            execution = await carrier.begin(await carrier.publish(document))
            await execution.carry(outcome_of(document, seed), seed, disturbed=True)
        except Exception as error:
            error.add_note(f"{make.__name__}({seed})")
            raise
        played += 1
