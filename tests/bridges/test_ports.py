import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nexus_tools.bridges.schemas.ports import map_ports, snake_case
from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_input_schema

# A failure is reported at once, because shrinking could take minutes.
DRAWN = settings(phases=(Phase.explicit, Phase.generate))
NUMBER = {"type": "integer"}


def an_object(**properties):
    return {"type": "object", "properties": properties}


def accepts(schema, value):
    return Draft202012Validator(schema).is_valid(value)


def refusal(schema):
    with pytest.raises(ValidationError) as caught:
        map_ports(schema)
    assert caught.value.code == "schema_invalid"
    [failure] = caught.value.details["failures"]
    return failure["pointer"], failure["message"]


# Untrusted schemas with few names and values, so that generated values often match.
NAMES = st.sampled_from(["a", "per_page", "perPage", "X-Api", "x_api", "größe", "2fa", "arguments"])
SCALARS = st.one_of(st.integers(-1, 1), st.sampled_from(["", "a"]), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def subschemas(names):
    """Return schemas of values that refer to a document with these properties."""
    targets = [
        "#",
        "#/$defs/d~1~0",
        "#/%24defs/d~1~0",
        "#name",
        *map("#/properties/{}".format, names),
    ]
    leaves = st.one_of(
        st.booleans(),
        st.sampled_from(targets).map(lambda target: {"$ref": target}),
        st.sampled_from(["integer", "string", "object", "array"]).map(lambda t: {"type": t}),
        SCALARS.map(lambda value: {"enum": [value, 1]}),
    )
    return st.recursive(leaves, within, max_leaves=4)


def within(inner):
    return st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"anyOf": parts}),
        objects(NAMES, inner),
    )


def objects(names, inner):
    lists = st.lists(names, unique=True, max_size=2)
    return st.fixed_dictionaries(
        {"properties": st.dictionaries(names, inner, max_size=4)},
        optional={
            "type": st.just("object"),
            "required": lists,
            "dependentRequired": st.dictionaries(names, lists, max_size=2),
            "additionalProperties": inner,
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
        },
    )


@st.composite
def argument_schemas(draw):
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    inner = subschemas(names)
    root = draw(objects(st.sampled_from(names), inner))
    root["properties"] = {name: draw(inner) for name in names}
    root["$defs"] = {"d/~": draw(inner), "n": {"$anchor": "name", "minimum": 0}}
    if draw(st.integers(0, 5)) == 0:
        root["anyOf"] = [draw(objects(NAMES, inner)), draw(inner)]
    if draw(st.integers(0, 9)) == 0:
        root["patternProperties"] = {"^x": draw(inner)}
    return root


@pytest.mark.long
@settings(DRAWN, max_examples=150)
@given(data=st.data())
def test_ports_are_accepted_exactly_when_the_foreign_schema_accepts_the_arguments(data):
    schema = data.draw(argument_schemas())
    mapping = map_ports(schema)
    foreign = Draft202012Validator(schema)
    names = st.sampled_from(list(schema["properties"])) | NAMES
    for arguments in data.draw(st.lists(st.dictionaries(names, VALUES, max_size=4), min_size=4)):
        ports = mapping.to_ports(arguments)
        assert mapping.to_arguments(ports) == arguments
        try:
            expected = foreign.is_valid(arguments)
        except RecursionError:  # it refers to itself in place, which is refused later
            return
        assert accepts(mapping.schema, ports) == expected


@settings(DRAWN, max_examples=50)
@given(schema=argument_schemas())
def test_ports_obey_the_rules_of_names_and_number_for_any_schema(schema):
    properties = map_ports(schema).schema["properties"]
    assert len(properties) <= 32
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in properties)


def test_valid_port_names_stay_with_their_constraints():
    schema = an_object(path={"type": "string"}, max_lines=NUMBER) | {
        "required": ["path"],
        "additionalProperties": False,
        "anyOf": [{"required": ["path"]}, {"required": ["max_lines"]}],
    }
    mapping = map_ports(schema)
    assert mapping.schema == schema
    assert mapping.to_arguments({"path": "x"}) == {"path": "x"}


def test_other_names_are_renamed_in_snake_case():
    mapping = map_ports(
        an_object(perPage=NUMBER, owner=NUMBER)
        | {"required": ["perPage"], "dependentRequired": {"owner": ["perPage"]}}
    )
    assert mapping.schema == an_object(per_page=NUMBER, owner=NUMBER) | {
        "required": ["per_page"],
        "dependentRequired": {"owner": ["per_page"]},
    }
    assert mapping.to_arguments({"per_page": 3, "owner": 4}) == {"perPage": 3, "owner": 4}
    assert mapping.to_ports({"perPage": 3, "owner": 4}) == {"per_page": 3, "owner": 4}


def test_undeclared_argument_named_like_a_port_is_not_lost():
    mapping = map_ports(an_object(perPage=NUMBER))
    arguments = {"perPage": 3, "per_page": "another"}
    assert mapping.to_arguments(mapping.to_ports(arguments)) == arguments


@pytest.mark.parametrize(
    ("name", "port"),
    [
        ("perPage", "per_page"),
        ("X-Api-Key", "x_api_key"),
        ("HTTPServer", "http_server"),
        ("user.name", "user_name"),
        ("Größe", "gro_e"),
        ("_private", "private"),
        ("2fa", "p_2fa"),
        ("v2Beta", "v2_beta"),
        ("名前", ""),
        ("--", ""),
        ("", ""),
    ],
)
def test_snake_case_converts_a_name(name, port):
    assert snake_case(name) == port


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(an_object(perPage=NUMBER, PerPage=NUMBER), id="two names that would be one"),
        pytest.param(an_object(perPage=NUMBER, per_page=NUMBER), id="a name that is taken"),
        pytest.param(an_object(名前=NUMBER), id="a name without a letter"),
        pytest.param(an_object(**{f"p{n}": NUMBER for n in range(33)}), id="33 properties"),
        pytest.param({"type": "object", "patternProperties": {"^x": NUMBER}}, id="patterns"),
        pytest.param({"type": "object", "propertyNames": {"maxLength": 3}}, id="propertyNames"),
        pytest.param({"oneOf": [an_object(a=NUMBER), an_object(b=NUMBER)]}, id="alternatives"),
        pytest.param(an_object(a=NUMBER) | {"if": {"required": ["b"]}}, id="a condition"),
        pytest.param(an_object(aB=NUMBER) | {"not": {"required": ["aB"]}}, id="a negation"),
        pytest.param(an_object(aB=NUMBER) | {"dependentSchemas": {"aB": True}}, id="dependents"),
        pytest.param({"type": "object", "enum": [{"a": 1}, {"b": 2}]}, id="values"),
        pytest.param(an_object(aB={"$ref": "#"}), id="itself, with its own names"),
        pytest.param(
            an_object(a=NUMBER)
            | {"allOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": an_object(b=NUMBER)}},
            id="properties by reference",
        ),
    ],
)
def test_non_plain_object_goes_into_one_port(schema):
    mapping = map_ports(schema)
    assert list(mapping.schema["properties"]) == ["arguments"]
    assert mapping.schema["required"] == ["arguments"]
    check_input_schema(mapping.schema)
    assert mapping.to_arguments({"arguments": {"a": 1}}) == {"a": 1}
    assert mapping.to_ports({"a": 1}) == {"arguments": {"a": 1}}


def test_single_port_has_the_given_name():
    mapping = map_ports({"type": "object", "patternProperties": {}}, wrapped="result")
    assert list(mapping.schema["properties"]) == ["result"]


def test_thirty_two_properties_are_ports():
    schema = an_object(**{f"p{n}": NUMBER for n in range(32)})
    assert map_ports(schema).schema == schema


def test_references_follow_a_renamed_property():
    schema = an_object(
        **{"a/b~c": an_object(x=NUMBER), "toB": {"$ref": "#/properties/a~1b~0c/properties/x"}}
    )
    renamed = map_ports(schema).schema
    assert renamed["properties"]["to_b"] == {"$ref": "#/properties/a_b_c/properties/x"}


def test_references_follow_a_wrapped_schema_and_definitions_stay_at_the_top():
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#"},
            "b": {"$ref": "#/properties/c"},
            "c": {"$ref": "#/$defs/d"},
        },
        "patternProperties": {"^x": {"$ref": "#/definitions/e%25"}},
        "$defs": {"d": NUMBER},
        "definitions": {"e%": NUMBER},
    }
    mapped = map_ports(schema).schema
    inner = mapped["properties"]["arguments"]
    assert inner["properties"] == {
        "a": {"$ref": "#/properties/arguments"},
        "b": {"$ref": "#/properties/arguments/properties/c"},
        "c": {"$ref": "#/$defs/d"},
    }
    assert inner["patternProperties"] == {"^x": {"$ref": "#/definitions/e%25"}}
    assert mapped["$defs"] == {"d": NUMBER}
    assert mapped["definitions"] == {"e%": NUMBER}


def test_schema_with_only_a_reference_is_replaced_by_its_definition():
    schema = {"$ref": "#/definitions/In", "definitions": {"In": an_object(perPage=NUMBER)}}
    mapping = map_ports(schema)
    assert mapping.schema["properties"] == {"per_page": NUMBER}
    assert mapping.to_arguments({"per_page": 1}) == {"perPage": 1}


def test_schema_without_a_type_is_an_object():
    assert map_ports({"properties": {"a": NUMBER}}).schema == an_object(a=NUMBER)
    assert map_ports({"type": ["object", "null"]}).schema == {"type": "object"}


@pytest.mark.parametrize("types", [{}, {"type": ["object", "integer"]}])
@pytest.mark.parametrize("name", ["a", "aB"])
def test_self_containing_schema_may_have_other_values_inside(types, name):
    mapping = map_ports({**types, "properties": {name: {"$ref": "#"}}})
    check_input_schema(mapping.schema)
    assert accepts(mapping.schema, mapping.to_ports({name: {name: 5}}))
    assert not accepts(mapping.schema, {"arguments": 5})


def test_non_object_schema_is_refused():
    assert refusal({"type": "array"}) == (
        "/type",
        "the schema must describe an object, because arguments have names",
    )


def test_unresolvable_reference_is_refused_with_its_location():
    pointer, message = refusal(an_object(a={"$ref": "#/components/b"}))
    assert pointer == "/properties/a/$ref"
    assert "#/components/b" in message


def test_external_reference_is_refused():
    pointer, _ = refusal(an_object(a={"$ref": "https://example.com/schema.json"}))
    assert pointer == "/properties/a/$ref"


def test_endless_schema_is_refused():
    schema = {}
    for _ in range(100_000):
        schema = {"items": schema}
    pointer, message = refusal(an_object(a=schema))
    assert (pointer, "nests deeper than 64" in message) == ("", True)


def test_given_schema_is_not_changed():
    schema = an_object(perPage={"$ref": "#/$defs/d"}) | {"$defs": {"d": {"$anchor": "x"}}}
    map_ports(schema)
    assert schema == an_object(perPage={"$ref": "#/$defs/d"}) | {"$defs": {"d": {"$anchor": "x"}}}
