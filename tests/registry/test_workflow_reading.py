import dataclasses
import zlib
from hashlib import sha256

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.workflows.dag import Group
from nexus_tools.errors import ValidationError
from nexus_tools.registry.workflows.limits import MAX_DOCUMENT_BYTES
from nexus_tools.registry.workflows.publication import Publication
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import Default, EntryGroup, InputPort, create_plan
from tests.registry.sums import ADD, TWICE, sums

SUM = ToolFqn.parse("xyz.example.sum@1")

MARK = b"{" + b" " * MAX_DOCUMENT_BYTES + b"}"


class Said:
    """A document with other canonical bytes than its own, and their digest."""

    def __init__(self, text):
        self._text = text

    def digest(self):
        return sha256(self._text).digest()


def saying(publication, text, packed=None):
    chunks = packed or zlib.compress(text)
    return dataclasses.replace(publication, document=Said(text), chunks=(chunks,))


def describing(publication, document):
    """Return the plan of a workflow, with the document of another one."""
    return saying(publication, document.canonical())


def planned(publication, **changes):
    plan = dataclasses.replace(publication.encoded, **changes)
    return dataclasses.replace(publication, encoded=plan)


def first_vertex(publication, **changes):
    first, *others = publication.encoded.vertices
    return planned(publication, vertices=(replace(first, **changes), *others))


def another_port(publication):
    [variant] = publication.encoded.vertices[0].variants
    [edge] = variant.edges
    other = replace(variant, edges=(replace(edge, input=1),))
    return first_vertex(publication, variants=(other,))


CASES = {
    "unpacked": lambda publication: dataclasses.replace(publication, chunks=(b"no document",)),
    "incomplete": lambda publication: dataclasses.replace(
        publication, chunks=(publication.chunks[0][:-8],)
    ),
    "none": lambda publication: dataclasses.replace(publication, chunks=()),
    "too long": lambda publication: saying(publication, MARK),
    "of another digest": lambda publication: dataclasses.replace(
        publication, chunks=(zlib.compress(sums("> one.a", "> one.b").canonical()),)
    ),
    "no JSON": lambda publication: saying(publication, b"{"),
    "no workflow": lambda publication: saying(publication, b"[]"),
    "spelt in another way": lambda publication: saying(
        publication, publication.document.canonical() + b" "
    ),
    "of many chunks": lambda publication: dataclasses.replace(publication, chunks=(b"",) * 301),
    "fewer vertices": lambda publication: planned(
        publication, vertices=(replace(publication.encoded.vertices[0], variants=()),), defaults={}
    ),
    "a document of more edges": lambda publication: describing(
        publication, dataclasses.replace(publication.document, edges=publication.document.edges * 2)
    ),
    "a document of more vertices": lambda publication: describing(
        publication, sums(*TWICE, "> three.a", "three.b = 1")
    ),
    "an entry group of nobody": lambda publication: describing(
        publication,
        dataclasses.replace(publication.document, entry_groups=(EntryGroup("all", ("nobody",)),)),
    ),
    "a default value of nobody": lambda publication: describing(
        publication,
        dataclasses.replace(
            publication.document,
            defaults=(Default(InputPort("nobody", "b"), 7),),
        ),
    ),
    "another group": lambda publication: planned(
        publication, groups=(Group("other", publication.encoded.groups[0].vertices),)
    ),
    "other tools": lambda publication: planned(publication, tools=(ADD, ADD)),
    "more attempts": lambda publication: first_vertex(publication, attempts=2),
    "another port": another_port,
    "another default value": lambda publication: planned(
        publication, defaults={1: ports_of({"b": 8})}
    ),
    "more default values": lambda publication: planned(
        publication, defaults={1: ports_of({"b": 7, "c": 8})}
    ),
}


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("change", CASES.values(), ids=CASES)
async def test_get_rejects_workflow_that_differs_from_its_document(workflows, publish_plan, change):
    await publish_plan(change(Publication.of(sums(*TWICE), SUM, "")))
    with pytest.raises(ValidationError) as refused:
        await workflows.get(SUM)
    assert refused.value.code == "workflow_mismatch"
    assert refused.value.message.startswith(f"{SUM} is inconsistent: ")


@pytest.mark.usefixtures("added")
async def test_get_accepts_unchanged_workflow(workflows, publish_plan):
    await publish_plan(Publication.of(sums(*TWICE), SUM, ""))
    workflow = await workflows.get(SUM)
    assert (workflow.document, workflow.plan) == (sums(*TWICE), create_plan(sums(*TWICE)))
