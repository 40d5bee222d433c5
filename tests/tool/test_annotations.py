import pytest

from nexus_tools.tool import (
    InterfaceValidator,
    check_input_schema,
    read_annotations,
    with_annotations,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
HINTS = {"title": "Read", "readOnlyHint": True, "destructiveHint": False}


def test_schema_contains_annotations():
    carrying = with_annotations(SCHEMA, HINTS)
    check_input_schema(carrying)
    assert read_annotations(carrying) == HINTS


def test_schema_without_annotations_is_unchanged():
    assert with_annotations(SCHEMA, None) == SCHEMA
    assert read_annotations(SCHEMA) == {}


def test_annotations_do_not_change_input_validation(define):
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
def test_invalid_annotations_are_dropped(given, known):
    assert read_annotations(with_annotations(SCHEMA, given)) == known
