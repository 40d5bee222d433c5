import pytest

from nexus_tools.tool import (
    InterfaceValidator,
    annotations_of,
    check_input_schema,
    with_annotations,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
HINTS = {"title": "Read", "readOnlyHint": True, "destructiveHint": False}


def test_a_schema_carries_what_is_known_of_its_tool():
    carrying = with_annotations(SCHEMA, HINTS)
    check_input_schema(carrying)
    assert annotations_of(carrying) == HINTS


def test_a_schema_without_anything_known_stays_as_it_is():
    assert with_annotations(SCHEMA, None) == SCHEMA
    assert annotations_of(SCHEMA) == {}


def test_an_input_is_checked_as_without_it(define):
    definition = define(input_schema=with_annotations(SCHEMA, HINTS))
    InterfaceValidator(definition).check_input({"a": 1})


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({"readOnlyHint": "yes", "idempotentHint": 1, "other": True}, {}),
        ({"title": " \n "}, {}),
        ({"title": 3}, {}),
        ({"title": "one\n\ntwo\tthree"}, {"title": "one two three"}),
        ({"title": "x" * 500}, {"title": "x" * 200}),
        (["title"], {}),
        ("title", {}),
    ],
)
def test_of_a_strangers_annotations_only_what_is_one_is_kept(given, known):
    assert annotations_of(with_annotations(SCHEMA, given)) == known
