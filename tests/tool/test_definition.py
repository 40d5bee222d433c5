import json

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolDefinition, ToolType

ON_CHAIN = {
    "type": "onchain",
    "url": "0x2::math::add",
    "function": {
        "witness": f"0x{'0' * 63}2::math::Add",
        "type_arguments": [],
        "objects": [f"0x{'0' * 63}6"],
        "gas": 1_000_000,
        "closed_by": "leaders",
    },
}


def test_definition_is_written_as_it_was_parsed(document):
    assert ToolDefinition.parse(document).as_json() == document


def test_definition_without_type_is_offchain(document):
    del document["type"]
    assert ToolDefinition.parse(document).type is ToolType.OFFCHAIN


def test_description_is_empty_and_timeout_ten_seconds_by_default(document):
    del document["description"], document["timeout"]
    definition = ToolDefinition.parse(document)
    assert (definition.description, definition.timeout_ms) == ("", 10_000)


def test_onchain_definition_has_a_move_function_as_url(document):
    document |= ON_CHAIN | {"url": "0x2::math::add"}
    assert ToolDefinition.parse(document).type is ToolType.ONCHAIN


def test_onchain_definition_is_written_as_it_was_parsed(document):
    document |= ON_CHAIN
    assert ToolDefinition.parse(document).as_json() == document


def test_addresses_in_a_function_are_written_with_all_their_digits(document):
    function = {"witness": "0x2::badge::Add<0x2::face::SUI>", "objects": ["0x6"]}
    parsed = ToolDefinition.parse(document | ON_CHAIN | {"function": function}).function
    two = f"{'0' * 63}2"
    assert parsed.witness == f"0x{two}::badge::Add<0x{two}::face::SUI>"
    assert parsed.type_name == f"{two}::badge::Add<{two}::face::SUI>"
    assert parsed.objects == (f"0x{'0' * 63}6",)
    assert (parsed.gas_mist, parsed.closable_by_anyone) == (10_000_000, False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"witness": "Add"}, "invalid type"),
        ({"objects": ["6"]}, "expected an address"),
        ({"objects": ["0x6"] * 17}, "at most 16"),
        ({"type_arguments": ["u64"] * 9}, "at most 8"),
        ({"gas": 50_000_001}, "0 to 50000000"),
        ({"gas": 1.5}, "an integer"),
        ({"closed_by": "nobody"}, "'leaders' or 'anyone'"),
        ({"package": "0x2"}, "unknown fields: package"),
    ],
)
def test_invalid_function_is_rejected_with_reason(document, changes, words):
    document |= ON_CHAIN | {"function": ON_CHAIN["function"] | changes}
    with pytest.raises(ValidationError, match=words) as caught:
        ToolDefinition.parse(document)
    assert caught.value.code == "definition_invalid"


def test_function_is_required_for_onchain_tools_only(document):
    for wrong in ({"type": "onchain", "url": "0x2::math::add"}, {"function": {"witness": "x"}}):
        with pytest.raises(ValidationError, match="must have a function"):
            ToolDefinition.parse(document | wrong)


@pytest.mark.parametrize(
    ("closed_by", "longest"), [("leaders", 120_000), ("anyone", 7_776_000_000)]
)
def test_timeout_is_90_days_if_closable_by_anyone(document, closed_by, longest):
    document |= ON_CHAIN | {"function": ON_CHAIN["function"] | {"closed_by": closed_by}}
    assert ToolDefinition.parse(document | {"timeout": longest}).timeout_ms == longest
    with pytest.raises(ValidationError, match="timeout"):
        ToolDefinition.parse(document | {"timeout": longest + 1})


@pytest.mark.parametrize("name", ["fqn", "url", "input_schema", "output_schema"])
def test_missing_field_is_named(document, name):
    del document[name]
    with pytest.raises(ValidationError, match=f"{name} is missing"):
        ToolDefinition.parse(document)


def test_unknown_fields_are_named(document):
    document |= {"timeout_ms": 1, "kind": "x"}
    with pytest.raises(ValidationError, match="timeout_ms, kind are unknown") as caught:
        ToolDefinition.parse(document)
    assert caught.value.code == "definition_invalid"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_definition_must_be_an_object(value):
    with pytest.raises(ValidationError, match="expected a JSON object"):
        ToolDefinition.parse(value)


@pytest.mark.parametrize("timeout", [999, 120_001, 5000.0, True, "5000", None])
def test_timeouts_out_of_range_are_refused(document, timeout):
    document["timeout"] = timeout
    with pytest.raises(ValidationError, match="timeout"):
        ToolDefinition.parse(document)


@pytest.mark.parametrize("timeout", [1_000, 120_000])
def test_timeout_bounds_are_allowed(document, timeout):
    document["timeout"] = timeout
    assert ToolDefinition.parse(document).timeout_ms == timeout


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "https://tools.example.com/",
        "https://[2001:db8::1]:8443/a/b",
        "https://tools.example.com/xyz.example.add@1",
        "https://t.example/" + "a" * 2_030,
    ],
)
def test_absolute_http_urls_are_allowed(document, url):
    document["url"] = url
    assert ToolDefinition.parse(document).url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "tools.example.com",
        "//tools.example.com/add",
        "ftp://tools.example.com",
        "file:///etc/passwd",
        "https://",
        "https:///add",
        "https://user:secret@tools.example.com",
        "https://user@tools.example.com",
        "https://tools.example.com/?a=1",
        "https://tools.example.com/?",
        "https://tools.example.com/#a",
        "https://tools.example.com:99999",
        "https://tools.example.com:0",
        "https://tools.example.com:",
        "https://[::1",
        "https://tools.example.com/a b",
        "https://tools.example.com/\n",
        "https://tools.example.com\\@evil.example",
        "https://tööls.example.com",
        "https://a..example",
        "https://xn--a.example",
        f"https://{'a' * 64}.example",
        "https://t.example/" + "a" * 2_031,
        "0x2::math::add",
    ],
)
def test_invalid_urls_are_rejected(document, url):
    document["url"] = url
    with pytest.raises(ValidationError) as caught:
        ToolDefinition.parse(document)
    assert caught.value.code == "definition_invalid"


@pytest.mark.parametrize("url", ["0x2::math", "math::add", "0x::math::add", "https://a.example"])
def test_onchain_definition_rejects_other_urls(document, url):
    document |= ON_CHAIN | {"url": url}
    with pytest.raises(ValidationError, match="package::module::function"):
        ToolDefinition.parse(document)


def test_descriptions_are_measured_in_bytes(document):
    document["description"] = "é" * 2_048
    assert ToolDefinition.parse(document)
    document["description"] += "x"
    with pytest.raises(ValidationError, match="got 4097"):
        ToolDefinition.parse(document)


@pytest.mark.parametrize("kind", ["", "OFFCHAIN", None, 1, ["offchain"]])
def test_unknown_types_are_rejected(document, kind):
    document["type"] = kind
    with pytest.raises(ValidationError, match="must be 'offchain' or 'onchain'"):
        ToolDefinition.parse(document)


def test_invalid_schema_error_has_field_and_pointer(document):
    document["input_schema"]["properties"]["a"]["type"] = "int"
    with pytest.raises(ValidationError) as caught:
        ToolDefinition.parse(document)
    assert caught.value.code == "schema_invalid"
    assert caught.value.details["field"] == "input_schema"
    assert caught.value.details["failures"][0]["pointer"] == "/properties/a/type"


def test_interface_does_not_depend_on_the_order_of_names(document):
    shuffled = json.loads(json.dumps(document, sort_keys=True))
    shuffled["url"] = "https://elsewhere.example"
    one, other = ToolDefinition.parse(document), ToolDefinition.parse(shuffled)
    assert one.has_same_interface(other)


def test_interface_changes_with_a_port(document):
    one = ToolDefinition.parse(document)
    document["input_schema"] = {"type": "object", "properties": {"c": {}}}
    assert not one.has_same_interface(ToolDefinition.parse(document))
