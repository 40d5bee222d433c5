import dataclasses

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.registry.workflows.limits import MAX_DOCUMENT_BYTES
from nexus_tools.registry.workflows.publication import Progress, Publication, batches
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import DIALECT, EntryGroup
from tests.registry.sums import TWICE, sums

SUM = ToolFqn.parse("xyz.example.sum@1")


def fan(width, port="result"):
    """Return a document in which one result goes to `width` other vertices."""
    edges = (f"one.ok.{port} -> v{number}.a" for number in range(width))
    return sums("> one.a", "> one.b", *edges, dialect=DIALECT)


def many(count):
    return sums(*(f"> v{number}.a" for number in range(count)))


def grouped(*groups):
    return dataclasses.replace(many(129), entry_groups=groups)


CASES = {
    "2049 vertices": many(2_049),
    "33 edges from a variant 'ok'": fan(33),
    f"name '{'p' * 33}' is not ASCII or is longer than 32 characters": fan(1, "p" * 33),
    "name 'größe' is not ASCII or is longer than 32 characters": fan(1, "größe"),
    "33 input ports of a vertex": sums(*(f"> one.p{number}" for number in range(33))),
    "33 variants of a vertex with edges": sums(
        "> one.a", *(f"one.v{number}.x -> t{number}.a" for number in range(33))
    ),
    "129 vertices in the group 'all'": grouped(
        EntryGroup("all", tuple(f"v{number}" for number in range(129)))
    ),
    "257 entry groups": grouped(*(EntryGroup(f"g{number}", ("v0",)) for number in range(257))),
    "33 ports of a region that get values from outside": sums(
        "> one.a",
        *(f"one.ok.list for_each v{number}.a" for number in range(1)),
        *(f"v{number}.ok.result -> v{number + 1}.b" for number in range(33)),
        *(f"one.x{number % 2}.result -> v{number + 1}.a" for number in range(32)),
        dialect=DIALECT,
    ),
    "bytes in its document": sums(
        *(f'v{number}.a = "{"x" * 70_000}"' for number in range(MAX_DOCUMENT_BYTES // 70_000 + 1))
    ),
    "bytes in vertices 0 to 63, and the limit is 65536": sums(
        *(f"> v{number // 31}.p{number % 31:02}{'x' * 29}" for number in range(64 * 31))
    ),
    "bytes in its tools and entry groups, and the limit is 60416": grouped(
        *(
            EntryGroup(f"group{number}", tuple(f"v{vertex}" for vertex in range(128)))
            for number in range(240)
        )
    ),
    "bytes in the default values of a vertex": sums(
        *(f'one.p{number} = "{"x" * 30_000}"' for number in range(9))
    ),
}


@pytest.mark.parametrize(("message", "document"), CASES.items(), ids=CASES)
def test_publication_rejects_workflow_beyond_limits(message, document):
    with pytest.raises(ValidationError) as refused:
        Publication.of(document, SUM, "")
    assert refused.value.code == "workflow_too_large"
    assert message in refused.value.message


def test_publication_rejects_description_beyond_4096_bytes():
    Publication.of(sums(*TWICE), SUM, "ü" * 2_048)
    with pytest.raises(ValidationError, match="4097 bytes in its description"):
        Publication.of(sums(*TWICE), SUM, "ü" * 2_048 + "!")


async def test_batches_rejects_step_beyond_transaction_size(workflows):
    large = sums(*(f'one.p{number} = "{"x" * 30_000}"' for number in range(8)))
    steps = Publication.of(large, SUM, "").steps(Progress())
    with pytest.raises(ValidationError, match="the limit of a transaction is 112640") as refused:
        batches(steps, workflows.deployment)
    assert refused.value.code == "workflow_too_large"


@pytest.mark.usefixtures("added")
async def test_columns_beyond_argument_size_are_divided(workflows, publish_plan):
    ports = [f"> v{v}.port_number_{p:02}_of_thirty" for v in range(40) for p in range(30)]
    document = sums(*ports)
    await publish_plan(Publication.of(document, SUM, ""))
    assert (await workflows.get(SUM)).document == document


@pytest.mark.usefixtures("added")
async def test_many_regions_need_several_pages_of_blocks(workflows, publish_plan):
    document = sums(
        "> one.a",
        *(
            line
            for number in range(70)
            for line in (
                f"one.v{number // 8}.list for_each each{number}.a",
                f"each{number}.ok.result collect all{number}.a",
            )
        ),
        dialect=DIALECT,
    )
    publication = Publication.of(document, SUM, "")
    assert len(publication.encoded.blocks) == 70
    await publish_plan(publication)
    assert (await workflows.get(SUM)).document == document
