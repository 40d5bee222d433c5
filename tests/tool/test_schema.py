import socket

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_input_schema, check_output_schema, is_error_variant, variants
from nexus_tools.tool.schemas import schema_document


def _pointers(check, schema):
    with pytest.raises(ValidationError) as caught:
        check(schema)
    assert caught.value.code == "schema_invalid"
    return [failure["pointer"] for failure in caught.value.details["failures"]]


def _input(**ports):
    return {"type": "object", "properties": ports}


def _output(*branches):
    return {"oneOf": list(branches)}


def _branch(name, ports=None):
    ports = ports or {"type": "object"}
    return {"type": "object", "properties": {name: ports}, "required": [name]}


def test_input_schema_may_have_no_ports():
    check_input_schema({"type": "object"})


def test_input_schema_may_be_a_reference():
    schema = {"$ref": "#/$defs/Ports", "$defs": {"Ports": _input(a={"type": "integer"})}}
    check_input_schema(schema)


@pytest.mark.parametrize("schema", [None, [], True, "object", 1])
def test_input_schema_must_be_an_object(schema):
    assert _pointers(check_input_schema, schema) == [""]


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": ["object", "null"]}])
def test_input_schema_must_describe_an_object(schema):
    assert _pointers(check_input_schema, schema) == [""]


@pytest.mark.parametrize("name", ["A", "a-b", "1a", "_a", "", "é", "a b", "a\n"])
def test_ports_are_named_in_snake_case(name):
    [pointer] = _pointers(check_input_schema, _input(**{name: {}}))
    assert pointer == f"/properties/{name}"


def test_schema_error_lists_all_locations():
    schema = _input(a={"type": "int"}, b={"minimum": "1"}, c={"required": "a"})
    found = _pointers(check_input_schema, schema)
    assert set(found) == {
        "/properties/a/type",
        "/properties/b/minimum",
        "/properties/c/required",
    }


def test_large_schema_error_describes_only_the_first_location(monkeypatch):
    def describe(_):
        raise AssertionError("it takes half a millisecond for each subschema")

    monkeypatch.setattr(schema_document, "_described", describe)
    ports = {f"p{number}": {} for number in range(1_000)}
    ports["a/b"] = {"anyOf": [{}, {"type": "w"}]}
    assert _pointers(check_input_schema, _input(**ports)) == ["/properties/a~1b/anyOf/1/type"]


@pytest.mark.parametrize("wrong", ["string", 1, None, []])
def test_port_that_is_not_a_schema_is_reported_once(wrong):
    assert _pointers(check_input_schema, _input(a=wrong)) == ["/properties/a"]


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema#", "https://example.com/own"]
)
def test_other_dialect_is_rejected(dialect):
    schema = {"$schema": dialect, "type": "object"}
    assert _pointers(check_input_schema, schema) == ["/$schema"]


def test_dialect_must_be_a_string():
    assert _pointers(check_input_schema, {"$schema": 1, "type": "object"}) == ["/$schema"]


def test_duplicate_anchor_is_rejected():
    schema = _input(a={"$anchor": "here"}, b={"$dynamicAnchor": "here"}, c={"$ref": "#here"})
    [pointer] = _pointers(check_input_schema, schema)
    assert pointer.endswith("nchor")


def test_dialect_2020_12_is_accepted():
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    check_input_schema(schema)


@pytest.mark.parametrize(
    "reference",
    ["https://example.com/schema", "other.json", "file:///etc/passwd", "//a.example/x", "/x"],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_references_out_of_the_document_are_refused(keyword, reference):
    schema = _input(a={keyword: reference})
    assert _pointers(check_input_schema, schema) == [f"/properties/a/{keyword}"]


def test_remote_reference_is_never_fetched():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        port = listener.getsockname()[1]
        _pointers(check_input_schema, _input(a={"$ref": f"http://127.0.0.1:{port}/schema"}))
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("reference", ["#/$defs/b", "#nowhere", "#/properties/a/default"])
def test_references_to_nothing_are_refused(reference):
    schema = _input(a={"$ref": reference, "default": {}}) | {"$defs": {"a": {}}}
    assert _pointers(check_input_schema, schema) == ["/properties/a/$ref"]


@pytest.mark.parametrize("reference", ["#/$defs/b%20c", "#named", "#/$defs/x~1y"])
def test_references_within_the_document_are_followed(reference):
    shared = {"b c": {}, "n": {"$anchor": "named"}, "x/y": {}}
    check_input_schema(_input(a={"$ref": reference}) | {"$defs": shared})


@pytest.mark.parametrize(
    "keyword", ["dependencies", "additionalItems", "$recursiveRef", "$recursiveAnchor"]
)
def test_keywords_that_validators_disagree_on_are_refused(keyword):
    values = {"dependencies": {}, "additionalItems": {}, "$recursiveRef": "#"}
    schema = _input(a={keyword: values.get(keyword, True)})
    assert _pointers(check_input_schema, schema)[0].startswith("/properties/a")


def test_embedded_document_is_rejected():
    schema = _input(a={"$id": "https://example.com/a"})
    assert _pointers(check_input_schema, schema) == ["/properties/a/$id"]


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?!a)", r"(a)\1", "(", "(a{1000}){1000}"])
def test_patterns_beyond_the_linear_engine_are_refused(pattern):
    schema = _input(a={"type": "string", "pattern": pattern})
    assert _pointers(check_input_schema, schema)[0].startswith("/properties/a/pattern")


def test_names_by_pattern_follow_the_same_rule():
    schema = _input(a={"type": "object", "patternProperties": {"(?=a)b": True}})
    assert _pointers(check_input_schema, schema)[0].startswith("/properties/a/patternProperties")


def test_patterns_are_counted():
    ports = {f"p{i}": {"type": "string", "pattern": f"^{i}$"} for i in range(101)}
    assert _pointers(check_input_schema, _input(**ports)) == [""]


def test_schema_size_is_limited():
    overhead = len('{"description":"","type":"object"}')
    check_input_schema({"type": "object", "description": "x" * (49_152 - overhead)})
    schema = {"type": "object", "description": "x" * (49_153 - overhead)}
    assert _pointers(check_input_schema, schema) == [""]


def test_schema_depth_is_limited():
    schema = {}
    for _ in range(100):
        schema = {"items": schema}
    assert _pointers(check_input_schema, _input(a=schema)) == [""]


def test_number_of_subschemas_is_limited():
    assert _pointers(check_input_schema, _input(**{f"p{i}": {} for i in range(2_000)})) == [""]


@pytest.mark.parametrize(
    "port",
    [{"$ref": "#/properties/a"}, {"allOf": [{"$ref": "#/properties/a"}]}],
)
def test_circular_reference_is_rejected(port):
    assert _pointers(check_input_schema, _input(a=port))[0].startswith("/properties/a")


def test_alternatives_that_double_at_each_level_are_refused():
    shared = {"a0": {"type": "string"}}
    for level in range(1, 40):
        below = {"$ref": f"#/$defs/a{level - 1}"}
        shared[f"a{level}"] = {"anyOf": [below, below]}
    schema = _input(a={"$ref": "#/$defs/a39"}) | {"$defs": shared}
    assert _pointers(check_input_schema, schema) == [""]


def test_recursive_tree_is_allowed():
    node = _input(children={"type": "array", "items": {"$ref": "#/$defs/Node"}})
    check_input_schema(_input(root={"$ref": "#/$defs/Node"}) | {"$defs": {"Node": node}})


def test_variants_are_read_in_order():
    schema = _output(_branch("ok", _input(a={})), _branch("err_http"))
    assert list(variants(schema).items()) == [
        ("ok", _input(a={})),
        ("err_http", {"type": "object"}),
    ]


def test_variants_may_be_described_by_reference():
    schema = _output({"$ref": "#/$defs/B"}) | {
        "$defs": {"B": _branch("ok", {"$ref": "#/$defs/P"}), "P": _input(a={})}
    }
    assert variants(schema) == {"ok": _input(a={})}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"anyOf": [_branch("ok")]}])
def test_output_schema_needs_one_of_at_the_top(schema):
    assert _pointers(check_output_schema, schema) == [""]


@pytest.mark.parametrize(
    "branch",
    [
        True,
        {"type": "object"},
        {"type": "string", "enum": ["ok"]},
        {"type": "object", "properties": {"ok": {"type": "object"}}},
        {"type": "object", "required": ["ok"]},
        {
            "type": "object",
            "properties": {"ok": {"type": "object"}, "more": {}},
            "required": ["ok"],
        },
        {
            "type": "object",
            "properties": {"ok": {"type": "object"}, "b": {"type": "object"}},
            "required": ["ok", "b"],
        },
    ],
)
def test_output_branch_must_be_an_object_with_one_required_property(branch):
    assert _pointers(check_output_schema, _output(_branch("err"), branch)) == ["/oneOf/1"]


@pytest.mark.parametrize("ports", [{"type": "string"}, {"items": {}}])
def test_variant_value_must_be_an_object_of_ports(ports):
    found = _pointers(check_output_schema, _output(_branch("ok", ports)))
    assert found == ["/oneOf/0/properties/ok"]


def test_duplicate_variant_is_rejected():
    found = _pointers(check_output_schema, _output(_branch("ok"), _branch("ok")))
    assert found == ["/oneOf/1"]


@pytest.mark.parametrize("name", ["Ok", "err-http", "1", ""])
def test_variants_are_named_in_snake_case(name):
    assert _pointers(check_output_schema, _output(_branch(name))) == ["/oneOf/0"]


def test_ports_of_variants_are_named_in_snake_case():
    found = _pointers(check_output_schema, _output(_branch("ok", _input(theSum={}))))
    assert found == ["/oneOf/0/properties/ok/properties/theSum"]


@pytest.mark.parametrize(
    ("name", "expected"), [("err", True), ("err_http", True), ("ok", False), ("failure", False)]
)
def test_error_variants_begin_with_err(name, expected):
    assert is_error_variant(name) is expected


def test_number_of_ports_is_limited_to_that_of_the_registry():
    ports = {f"port_{number}": {"type": "integer"} for number in range(33)}
    with pytest.raises(ValidationError) as caught:
        check_input_schema({"type": "object", "properties": ports})
    assert "33 ports, 32 are allowed" in caught.value.details["failures"][0]["message"]
    del ports["port_32"]
    check_input_schema({"type": "object", "properties": ports})


@pytest.mark.parametrize(
    ("check", "name", "schema"),
    [
        (check_input_schema, "input", {"type": "object", "properties": {"A": {}}}),
        (check_output_schema, "output", {"type": "object"}),
    ],
)
def test_schema_error_names_the_invalid_schema(check, name, schema):
    with pytest.raises(ValidationError) as caught:
        check(schema)
    assert caught.value.message.startswith(f"the {name} schema is invalid at ")
    assert caught.value.details["schema"] == name
