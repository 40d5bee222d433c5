import pytest

from nexus_tools.tool import SchemaDocument
from nexus_tools.workflow.interfaces import ANY, TEXT, JsonTypes


def shape(schema):
    return JsonTypes.of(SchemaDocument.parse(schema))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, "any"),
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "null | string"),
        ({"type": "number"}, "number"),
        ({"const": "a"}, "string"),
        ({"enum": ["a", 1, None]}, "integer | null | string"),
        ({"enum": [True, [], {}]}, "array | boolean | object"),
        ({"const": 1.5}, "number"),
        ({"const": 2.0}, "integer"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "integer | string"),
        ({"oneOf": [{"type": "string"}, {"const": None}]}, "null | string"),
        ({"allOf": [{"type": ["string", "null"]}, {"type": ["null", "array"]}]}, "null"),
        ({"type": "string", "enum": [1]}, "never"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, "object"),
        ({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [True]}}}, "any"),
        ({"not": {"type": "string"}}, "any"),
    ],
)
def test_json_types_are_those_that_the_schema_accepts(schema, types):
    assert str(shape(schema)) == types


def test_schema_that_refers_to_itself_accepts_anything():
    assert str(shape({"anyOf": [{"$ref": "#"}]})) == "any"


def test_integer_and_number_are_compatible():
    assert shape({"type": "integer"}).may_be(shape({"type": "number"}))
    assert shape({"type": "number"}).may_be(shape({"type": "integer"}))


def test_fraction_is_not_an_integer():
    assert not shape({"const": 1.5}).may_be(shape({"type": "integer"}))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "array", "items": {"type": "string"}}, "string"),
        ({"type": "array"}, "any"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, "any"),
        ({"anyOf": [{"type": "array", "items": {"const": 1}}, {"type": "null"}]}, "integer"),
        ({"anyOf": [{"type": "array", "items": {"const": 1}}, {"type": "array"}]}, "any"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"const": "a"}}}}, "string"),
        ({"items": {"$ref": "#"}}, "any"),
    ],
)
def test_array_elements_have_json_types(schema, types):
    assert str(shape(schema).element) == types


def test_list_of_types_has_them_as_its_element():
    assert str(JsonTypes.list_of(TEXT)) == "array"
    assert JsonTypes.list_of(TEXT).element is TEXT


def test_union_has_the_types_of_both():
    either = TEXT | JsonTypes.list_of(TEXT)
    assert str(either) == "array | string"
    assert not either.may_be(shape({"type": "object"}))
    assert str(ANY | TEXT) == "any"
