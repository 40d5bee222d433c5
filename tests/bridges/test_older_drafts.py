import json

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)

from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_input_schema

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
# A failure is reported at once, because shrinking could take minutes.
DRAWN = settings(phases=(Phase.explicit, Phase.generate))
VALIDATORS = {
    DRAFT_4: Draft4Validator,
    "http://json-schema.org/draft-06/schema#": Draft6Validator,
    DRAFT_7: Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
}
NUMBER = {"type": "integer"}


def refusal(schema):
    with pytest.raises(ValidationError) as caught:
        upgrade_schema(schema)
    assert caught.value.code == "schema_invalid"
    [failure] = caught.value.details["failures"]
    return failure["pointer"], failure["message"]


NAMES = st.sampled_from(["a", "b", "x/y"])
SCALARS = st.one_of(st.integers(-1, 3), st.sampled_from(["", "a"]), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SMALL = st.integers(0, 2)
NAME_LISTS = st.lists(NAMES, unique=True, min_size=1, max_size=2)
# The definitions of the schemas below; each draft has another keyword for inner definitions.
TARGETS = ["d", "l", "l/items", "t/items/0", "t/additionalItems", "e/dependencies/x~1y"]
PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "string", "array", "object", "null"]),
        "enum": st.lists(st.integers(0, 1) | st.just("a"), unique=True, min_size=1),
        "const": SCALARS,
        "minimum": SMALL,
        "nullable": st.booleans(),
        "minItems": SMALL,
        "maxProperties": SMALL,
        "required": NAME_LISTS,
    },
)


def keywords(inner):
    """Return keywords with subschemas, for each draft and for all drafts together."""
    return st.fixed_dictionaries(
        {},
        optional={
            "items": st.lists(inner, min_size=1, max_size=2) | inner,
            "additionalItems": inner | st.booleans(),
            "contains": inner,
            "minContains": SMALL,
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "propertyNames": st.sampled_from([{"maxLength": 1}, {"type": "string"}]),
            "dependencies": st.dictionaries(NAMES, inner | NAME_LISTS, max_size=2),
            "dependentRequired": st.dictionaries(NAMES, NAME_LISTS, max_size=1),
            "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
            "unevaluatedProperties": st.booleans(),
            "if": inner,
            "then": inner,
            "else": inner,
            "not": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
        },
    )


def schemas(dialect):
    """Return schemas of this draft; targets of references have no references, so all end."""
    bounds = {"exclusiveMaximum": SMALL}
    if dialect == DRAFT_4:
        bounds = {"exclusiveMaximum": st.booleans(), "maximum": SMALL}
    leaves = PLAIN | st.fixed_dictionaries(bounds)
    targets = TARGETS[: 5 if "2019" in dialect else 6]
    references = st.sampled_from(targets).map(lambda place: {"$ref": f"#/definitions/{place}"})
    inner = st.recursive(leaves | references, keywords, max_leaves=4)
    definitions = st.fixed_dictionaries(
        {
            "d": leaves,
            "t": st.fixed_dictionaries(
                {"items": st.tuples(leaves).map(list), "additionalItems": leaves}
            ),
            "l": st.fixed_dictionaries({"items": leaves}),
            "e": leaves.map(lambda leaf: {"dependencies": {"x/y": leaf}}),
        }
    )
    head = st.fixed_dictionaries({"$schema": st.just(dialect), "definitions": definitions})
    return st.tuples(head, keywords(inner)).map(lambda parts: parts[0] | parts[1])


OLDER = {dialect: schemas(dialect) for dialect in list(VALIDATORS)[:4]}
# .ci/run draws schemas of all other drafts.
USUAL = list(OLDER)[-1:]


def is_misjudged(schema):
    """Return whether jsonschema may misjudge a schema of draft 2019-09.

    Its `unevaluatedProperties` compares properties with the keywords of `additionalProperties`.
    """
    text = json.dumps(schema)
    return '"unevaluatedProperties"' in text and '"additionalProperties": {' in text


@pytest.mark.parametrize(
    "dialect",
    [
        pytest.param(dialect, marks=() if dialect in USUAL else pytest.mark.long)
        for dialect in OLDER
    ],
)
@settings(DRAWN, max_examples=120)
@given(data=st.data())
def test_converted_schema_accepts_the_same_values_as_in_its_own_draft(dialect, data):
    schema = data.draw(OLDER[dialect])
    assume(not is_misjudged(schema))
    value = data.draw(VALUES)
    converted = upgrade_schema(schema)
    Draft202012Validator.check_schema(converted)
    accepted = Draft202012Validator(converted).is_valid(value)
    assert accepted == VALIDATORS[dialect](schema).is_valid(value)


def converted(**schema):
    return upgrade_schema(schema)


def test_newest_draft_schema_changes_only_its_header():
    members = {"$ref": "#/$defs/a", "minimum": 1, "dependencies": {}, "nullable": True}
    assert (
        upgrade_schema(
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://a.example/b",
            }
            | members
        )
        == members
    )


def test_undeclared_draft_schema_keeps_keywords_of_the_newest_draft():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/b", "description": "b", "maximum": 3}},
        "required": ["a"],
        "dependentRequired": {"a": ["b"]},
        "$defs": {"b": {"prefixItems": [NUMBER], "items": False, "exclusiveMinimum": 0}},
    }
    assert upgrade_schema(schema) == schema


def test_required_on_properties_is_moved_up_at_every_depth():
    inner = {"type": "object", "required": True, "properties": {"c": {"required": True}}}
    assert converted(properties={"a": inner, "b": {"required": False}}, required=["b"]) == {
        "properties": {
            "a": {"type": "object", "properties": {"c": {}}, "required": ["c"]},
            "b": {},
        },
        "required": ["b", "a"],
    }


def test_nullable_adds_null_to_its_type():
    assert converted(type="string", nullable=True) == {"type": ["string", "null"]}
    assert converted(type=["string", "null"], nullable=True) == {"type": ["string", "null"]}
    assert converted(type="string", nullable=False) == {"type": "string"}
    assert converted(nullable=True) == {}


def test_nullable_has_no_effect_in_a_json_schema_draft():
    assert converted(**{"$schema": DRAFT_7, "type": "string", "nullable": True})["type"] == "string"


def test_boolean_exclusive_bounds_become_bounds():
    assert converted(minimum=1, exclusiveMinimum=True) == {"exclusiveMinimum": 1}
    assert converted(maximum=1, exclusiveMaximum=False) == {"maximum": 1}
    assert converted(exclusiveMaximum=True) == {}


def test_list_of_items_becomes_prefix_items_and_additional_items_the_rest():
    assert converted(items=[NUMBER], additionalItems=False) == {
        "prefixItems": [NUMBER],
        "items": False,
    }
    assert converted(items=[], additionalItems=False) == {"items": False}
    assert converted(items=NUMBER, additionalItems=False) == {"items": NUMBER}


def test_dependencies_are_split_by_their_values():
    assert converted(dependencies={"a": ["b"], "c": {"required": ["d"]}}) == {
        "dependentRequired": {"a": ["b"]},
        "dependentSchemas": {"c": {"required": ["d"]}},
    }


def test_dependencies_beside_their_replacements_are_refused():
    pointer, _ = refusal({"not": {"dependencies": {}, "dependentRequired": {}}})
    assert pointer == "/not/dependencies"


def test_references_follow_moved_subschemas():
    schema = {
        "definitions": {"p/q": {"items": [NUMBER], "additionalItems": {"items": [NUMBER]}}},
        "anyOf": [
            {"$ref": "#/definitions/p~1q/items/0"},
            {"$ref": "#/definitions/p%7E1q/additionalItems/items/0"},
            {"$ref": "#/definitions/p~1q"},
        ],
    }
    assert upgrade_schema(schema)["anyOf"] == [
        {"$ref": "#/definitions/p~1q/prefixItems/0"},
        {"$ref": "#/definitions/p~1q/items/prefixItems/0"},
        {"$ref": "#/definitions/p~1q"},
    ]


@pytest.mark.parametrize("reference", ["#/definitions/a", "b.json#/definitions/a"])
@pytest.mark.parametrize("keyword", ["id", "$id"])
def test_reference_to_the_schemas_own_uri_is_local(keyword, reference):
    schema = {keyword: "https://a.example/b.json", "$ref": reference, "definitions": {"a": NUMBER}}
    assert upgrade_schema(schema) == {"$ref": "#/definitions/a", "definitions": {"a": NUMBER}}


@pytest.mark.parametrize("reference", ["https://a.example/c.json#", "//[", "c.json"])
def test_external_reference_stays_for_the_check_of_the_result(reference):
    schema = {"$id": "https://a.example/b.json", "not": {"$ref": reference}}
    assert upgrade_schema(schema) == {"not": {"$ref": reference}}


def test_fragment_identifier_becomes_an_anchor():
    schema = {"$schema": DRAFT_7, "$ref": "#x", "definitions": {"a": {"$id": "#x", **NUMBER}}}
    assert upgrade_schema(schema)["definitions"] == {"a": {"$anchor": "x", **NUMBER}}
    schema = {"$schema": DRAFT_4, "definitions": {"a": {"id": "#x", **NUMBER}}}
    assert upgrade_schema(schema)["definitions"] == {"a": {"$anchor": "x", **NUMBER}}


def test_recursive_reference_refers_to_the_root():
    recursive = {"$recursiveRef": "#", "$recursiveAnchor": True}
    assert converted(items=recursive) == {"items": {"$ref": "#"}}
    schema_with_both = {"$ref": "#/$defs/a", **recursive}
    assert converted(items=schema_with_both)["items"] == {
        "$ref": "#/$defs/a",
        "allOf": [{"$ref": "#"}],
    }


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-03/schema#", "my own", 7, []])
def test_unknown_dialect_is_refused(dialect):
    pointer, message = refusal({"$schema": dialect})
    assert pointer == "/$schema"
    assert "is not a supported draft (4 to 2020-12)" in message


def test_latest_draft_alias_is_read_like_an_undeclared_draft():
    latest = "http://json-schema.org/schema#"
    assert converted(**{"$schema": latest, "nullable": True, "type": "null"}) == {"type": "null"}


def test_endless_schema_is_refused():
    schema = {}
    for _ in range(100_000):
        schema = {"items": [schema]}
    pointer, message = refusal(schema)
    assert (pointer, "nests deeper than 64" in message) == ("", True)


KEYWORDS = [
    *("$ref", "$id", "id", "$recursiveRef", "type", "nullable", "minimum", "exclusiveMinimum"),
    *("items", "additionalItems", "properties", "required", "allOf", "dependencies"),
]
JUNK = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
    ),
)


@settings(DRAWN, max_examples=200)
@given(root=st.dictionaries(st.sampled_from(["properties", "$defs", "items", "not"]), JUNK))
def test_invalid_schema_is_converted_or_refused_without_a_crash(root):
    try:
        converted = upgrade_schema(root)
    except ValidationError as error:
        converted = error.code
    assert converted == "schema_invalid" or isinstance(converted, dict)


def test_given_schema_is_not_changed():
    schema = {"id": "x", "properties": {"a": {"required": True, "items": [{}]}}}
    upgrade_schema(schema)
    assert schema == {"id": "x", "properties": {"a": {"required": True, "items": [{}]}}}


# The output of `z.toJSONSchema` for zod 4's `z.email()`.
EMAIL = (
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]"
    r"@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)


def test_unsupported_pattern_is_left_to_the_tool():
    schema = {"type": "object", "properties": {"to": {"type": "string", "pattern": EMAIL}}}
    email = upgrade_schema(schema)["properties"]["to"]
    assert email == {"type": "string", "$comment": f"The tool checks the pattern {EMAIL}"}
    check_input_schema({**upgrade_schema(schema), "additionalProperties": False})


@pytest.mark.parametrize("keyword", ["not", "if", "contains"])
def test_pattern_stays_where_its_removal_would_accept_less(keyword):
    assert upgrade_schema({keyword: {"pattern": EMAIL}}) == {keyword: {"pattern": EMAIL}}
    assert upgrade_schema({"oneOf": [{"pattern": EMAIL}]}) == {"oneOf": [{"pattern": EMAIL}]}


def test_supported_pattern_stays():
    assert upgrade_schema({"pattern": "^a+$"}) == {"pattern": "^a+$"}
