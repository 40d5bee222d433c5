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
from nexus_tools.workflow import Default, EntryGroup, InputPort, plan_of
from tests.registry.sums import ADD, TWICE, sums

SUM = ToolFqn.parse("xyz.example.sum@1")

MARK = b"{" + b" " * MAX_DOCUMENT_BYTES + b"}"


class Said:
    """A document that says other bytes than its own, with their digest."""

    def __init__(self, text):
        self._text = text

    def digest(self):
        return sha256(self._text).digest()


def saying(publication, text, packed=None):
    chunks = packed or zlib.compress(text)
    return dataclasses.replace(publication, document=Said(text), chunks=(chunks,))


def describing(publication, document):
    """The plan of a workflow, with the document of another."""
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
    "unpacked": lambda each: dataclasses.replace(each, chunks=(b"no document",)),
    "incomplete": lambda each: dataclasses.replace(each, chunks=(each.chunks[0][:-8],)),
    "none": lambda each: dataclasses.replace(each, chunks=()),
    "too long": lambda each: saying(each, MARK),
    "of another digest": lambda each: dataclasses.replace(
        each, chunks=(zlib.compress(sums("> one.a", "> one.b").canonical()),)
    ),
    "no JSON": lambda each: saying(each, b"{"),
    "no workflow": lambda each: saying(each, b"[]"),
    "spelt in another way": lambda each: saying(each, each.document.canonical() + b" "),
    "of many chunks": lambda each: dataclasses.replace(each, chunks=(b"",) * 301),
    "fewer vertices": lambda each: planned(
        each, vertices=(replace(each.encoded.vertices[0], variants=()),), defaults={}
    ),
    "a document of more edges": lambda each: describing(
        each, dataclasses.replace(each.document, edges=each.document.edges * 2)
    ),
    "a document of more vertices": lambda each: describing(
        each, sums(*TWICE, "> three.a", "three.b = 1")
    ),
    "an entry group of nobody": lambda each: describing(
        each,
        dataclasses.replace(each.document, entry_groups=(EntryGroup("all", ("nobody",)),)),
    ),
    "a default value of nobody": lambda each: describing(
        each,
        dataclasses.replace(
            each.document,
            defaults=(Default(InputPort("nobody", "b"), 7),),
        ),
    ),
    "another group": lambda each: planned(
        each, groups=(Group("other", each.encoded.groups[0].vertices),)
    ),
    "other tools": lambda each: planned(each, tools=(ADD, ADD)),
    "more attempts": lambda each: first_vertex(each, attempts=2),
    "another port": another_port,
    "another default value": lambda each: planned(each, defaults={1: ports_of({"b": 8})}),
    "more default values": lambda each: planned(each, defaults={1: ports_of({"b": 7, "c": 8})}),
}


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("change", CASES.values(), ids=CASES)
async def test_what_is_not_what_its_document_says_is_no_workflow(workflows, publish_plan, change):
    await publish_plan(change(Publication.of(sums(*TWICE), SUM, "")))
    with pytest.raises(ValidationError) as refused:
        await workflows.get(SUM)
    assert refused.value.code == "workflow_mismatch"
    assert refused.value.message.startswith(f"{SUM} is not what it says: ")


@pytest.mark.usefixtures("added")
async def test_what_is_published_unchanged_is_one(workflows, publish_plan):
    await publish_plan(Publication.of(sums(*TWICE), SUM, ""))
    found = await workflows.get(SUM)
    assert (found.document, found.plan) == (sums(*TWICE), plan_of(sums(*TWICE)))
