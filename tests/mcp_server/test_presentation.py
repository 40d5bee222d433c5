import pytest
from mcp_types import ToolAnnotations

from nexus_tools.mcp_server.presentation import Presentation
from nexus_tools.tool import ToolFqn, with_annotations

READS = {"title": "Add two numbers", "readOnlyHint": True, "openWorldHint": False}


@pytest.fixture
def add(define):
    return define(input_schema=with_annotations({"type": "object"}, READS))


def test_what_the_author_says_of_a_tool_is_told_and_its_schema_is_without_it(add):
    tool = Presentation().document(add)
    assert tool.annotations == ToolAnnotations(
        title="Add two numbers", read_only_hint=True, open_world_hint=False
    )
    assert tool.title == "Add two numbers (xyz.example.math.add@1)"
    assert tool.input_schema == {"type": "object", "properties": {}}


def test_nothing_that_is_said_is_no_annotation(define):
    assert Presentation().document(define()).annotations is None


def test_a_call_that_is_paid_changes_something_and_is_not_repeated_for_nothing(add):
    annotations = Presentation(is_paid=True).document(add).annotations
    assert annotations.read_only_hint is False
    assert annotations.destructive_hint is False
    assert annotations.idempotent_hint is False
    assert annotations.open_world_hint is False


def test_the_price_stands_in_the_description_of_who_pays_and_in_meta(add):
    paid = Presentation(is_paid=True).document(add, 10_000_000)
    assert paid.description == "Adds two integers.\n\nA call costs 0.01 SUI, and gas."
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
def test_names_leave_out_the_domain_that_all_tools_are_in(fqn, name):
    assert Presentation("xyz.example").name(ToolFqn.parse(fqn)) == name
