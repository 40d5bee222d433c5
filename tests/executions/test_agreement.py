"""The chain and `workflow/semantics.py` produce the same executions in all situations.

With `NEXUS_TOOLS_DOCUMENTS=1000` and `--timeout=0`, this many documents of each kind are run.
"""

import os
import random
from dataclasses import replace

import pytest

from nexus_tools.workflow import find_structure
from tests.executions.conftest import DEAR
from tests.workflow.random_documents import grown, outcome_of, strewn

DOCUMENTS = int(os.environ.get("NEXUS_TOOLS_DOCUMENTS", "10"))
FIRST = int(os.environ.get("NEXUS_TOOLS_FIRST_DOCUMENT", "0"))


def priced(document, seed):
    """Return the document with some vertices whose tool is refused."""
    chance = random.Random(f"prices {seed}")
    vertices = (
        replace(vertex, fqn=DEAR) if chance.random() < 0.05 else vertex
        for vertex in document.vertices
    )
    return replace(document, vertices=tuple(vertices))


@pytest.mark.parametrize("make", [grown, strewn])
async def test_execution_on_chain_agrees_with_the_simulation_semantics(carrier, make):
    played, seed = 0, FIRST
    while played < DOCUMENTS:
        seed += 1
        document = priced(make(seed), seed)
        if find_structure(document).problems:
            continue
        try:
            execution = await carrier.begin(await carrier.publish(document))
            await execution.carry(outcome_of(document, seed), seed, disturbed=True)
        except Exception as error:
            error.add_note(f"{make.__name__}({seed})")
            raise
        played += 1
