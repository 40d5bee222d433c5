import pytest
from mcp_types import ToolAnnotations

from nexus_tools.mcp_server.presentation import Presentation
from nexus_tools.tool import ToolFqn, with_annotations

READS = {"title": "Add two numbers", "readOnlyHint": True, "openWorldHint": False}


@pytest.fixture
def add(define):
    return define(input_schema=with_annotations({"type": "object"}, READS))


def test_author_annotations_are_listed_and_removed_from_the_schema(add):
    tool = Presentation().document(add)
    assert tool.annotations == ToolAnnotations(
        title="Add two numbers", read_only_hint=True, open_world_hint=False
    )
    assert tool.title == "Add two numbers (xyz.example.math.add@1)"
    assert tool.input_schema == {"type": "object", "properties": {}}


def test_tool_without_annotations_lists_none(define):
    assert Presentation().document(define()).annotations is None


def test_paid_call_is_neither_read_only_nor_idempotent(add):
    annotations = Presentation(is_paid=True).document(add).annotations
    assert annotations.read_only_hint is False
    assert annotations.destructive_hint is False
    assert annotations.idempotent_hint is False
    assert annotations.open_world_hint is False


def test_price_is_in_the_description_of_paid_calls_and_in_meta(add):
    paid = Presentation(is_paid=True).document(add, 10_000_000)
    assert paid.description == (
        "Adds two integers.\n\nA call costs 0.01 SUI plus the leader's fee and gas."
        " It first reserves more, and the unused part is refunded."
    )
    assert paid.meta["nexus/price_mist"] == 10_000_000
    free = Presentation().document(add, 10_000_000)
    assert free.description == "Adds two integers."
    assert free.meta["nexus/price_mist"] == 10_000_000


@pytest.mark.parametrize(
    ("fqn", "name"),
    [
        ("xyz.example.math.add@1", "math_add_v1"),
        ("xyz.example.add@1", "add_v1"),
        ("xyz.example.files.read_file@2", "files-read_file-v2"),
    ],
)
def test_names_omit_the_common_domain(fqn, name):
    assert Presentation("xyz.example").name(ToolFqn.parse(fqn)) == name
