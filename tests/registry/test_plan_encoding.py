import pytest

from nexus_tools.registry.workflows.publication import Publication
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import find_structure
from tests.workflow.random_documents import Grown

SEEDS = 4, 25


@pytest.mark.parametrize("part", range(SEEDS[0]))
async def test_chain_accepts_plans_of_nested_documents(registry, define, part, publish_plan):
    await registry.register(define("xyz.example.any@1"))
    _, size = SEEDS
    documents = [Grown(seed).document() for seed in range(part * size, (part + 1) * size)]
    nested = [document for document in documents if not find_structure(document).problems]
    assert len(nested) > size // 2
    for number, document in enumerate(nested):
        fqn = ToolFqn.parse(f"xyz.example.flow{number}@1")
        await publish_plan(Publication.of(document, fqn, "Grown by chance."))
