import re

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from nexus_tools.export import export_tools

DOCUMENT = "urn:document"


def resolved(document, pointer):
    """Return a validator of the schema at a pointer that resolves references in the document."""
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry = Registry().with_resource(DOCUMENT, resource)
    return Draft202012Validator({"$ref": f"{DOCUMENT}#{pointer}"}, registry=registry)


def references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from references(inner)


def found(document, reference):
    place = document
    for part in reference.removeprefix("#/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        place = place[int(key)] if isinstance(place, list) else place[key]
    return place


@pytest.fixture
def document(define):
    """Return the export of two tools, one of which has references of each kind."""
    tree = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/tree",
        "properties": {
            "tree": {"$ref": "#/$defs/tree"},
            "same": {"$ref": "#/properties/tree"},
            "named": {"$ref": "#leaf"},
        },
        "$defs": {
            "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "leaf": {"$anchor": "leaf", "type": "string"},
        },
    }
    tools = [
        define("xyz.example.math.add@1", url="https://one.example.com/add"),
        define("xyz.example.tree.cut@2", url="https://two.example.com/t/cut/", input_schema=tree),
    ]
    return export_tools(tools, "openapi").document


def test_document_has_the_required_fields(document):
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert {"title", "version"} <= document["info"].keys()
    assert document["jsonSchemaDialect"] == "https://json-schema.org/draft/2020-12/schema"
    for path, item in document["paths"].items():
        assert path.startswith("/")
        assert item.keys() == {"servers", "post"}
        assert all(re.fullmatch(r"[1-5](\d\d|XX)", code) for code in item["post"]["responses"])
    for kind in document["components"].values():
        assert all(re.fullmatch(r"[a-zA-Z0-9._-]+", key) for key in kind)
    for answer in document["components"]["responses"].values():
        assert answer["description"]


def test_each_tool_is_a_post_to_its_url(document):
    called = {
        item["servers"][0]["url"] + path: item["post"]["operationId"]
        for path, item in document["paths"].items()
    }
    assert called == {
        "https://one.example.com/add/invoke": "xyz_example_math_add_v1",
        "https://two.example.com/t/cut/invoke": "xyz_example_tree_cut_v2",
    }


def test_operation_takes_ports_and_returns_a_variant_or_a_problem(document):
    operation = document["paths"]["/add/invoke"]["post"]
    schemas = "#/components/schemas/xyz_example_math_add_v1"
    assert operation["requestBody"] == {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": f"{schemas}_input"}}},
    }
    answer = operation["responses"]["200"]["content"]["application/json"]
    assert answer == {"schema": {"$ref": f"{schemas}_output"}}
    assert {"422", "429", "4XX", "5XX"} <= operation["responses"].keys()
    for code in ("422", "429", "4XX", "5XX"):
        problem = found(document, operation["responses"][code]["$ref"])
        schema = problem["content"]["application/problem+json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Problem"}


def test_schemas_are_unchanged_from_the_registration(define):
    definition = define(input_schema={"properties": {"a": {"type": "integer", "minimum": 1}}})
    schemas = export_tools([definition], "openapi").document["components"]["schemas"]
    assert schemas["xyz_example_math_add_v1_input"] == definition.input_schema
    assert schemas["xyz_example_math_add_v1_output"] == definition.output_schema


def test_every_reference_resolves_in_the_document(document):
    everywhere = list(references(document))
    assert len(everywhere) > 10
    assert all(found(document, reference) is not None for reference in everywhere)


@pytest.mark.parametrize(
    ("ports", "fits"),
    [
        ({"tree": [[], [[]]], "same": [], "named": "x"}, True),
        ({"tree": [[1]]}, False),
        ({"same": [[1]]}, False),
        ({"named": 1}, False),
    ],
)
def test_references_keep_their_meaning_in_the_document(document, ports, fits):
    pointer = "/components/schemas/xyz_example_tree_cut_v2_input"
    assert resolved(document, pointer).is_valid(ports) is fits


def test_schemas_are_draft_2020_12_without_a_base_uri(document):
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
        assert not {"$id", "$schema"} & schema.keys()


def test_own_problem_documents_match_their_schema(document):
    problem = {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "the input does not match",
        "code": "input_invalid",
        "errors": [{"pointer": "#/a", "detail": "it is no integer"}],
    }
    assert resolved(document, "/components/schemas/Problem").is_valid(problem)


def test_on_chain_tools_are_skipped_with_a_warning(define):
    function = {"witness": "0x2::math::Add"}
    on_chain = define(
        "xyz.example.move.add@1", type="onchain", url="0x2::math::add", function=function
    )
    done = export_tools([define(), on_chain], "openapi")
    assert list(done.names()) == ["xyz_example_math_add_v1"]
    [warning] = done.warnings
    assert warning == "xyz.example.move.add@1 is skipped: it is an on-chain tool"


def test_common_path_on_two_hosts_is_split_if_possible(define):
    tools = [
        define("xyz.example.aa.add@1", url="https://one.example.com/math/add"),
        define("xyz.example.bb.add@1", url="https://two.example.com/math/add"),
    ]
    done = export_tools(tools, "openapi")
    servers = {path: item["servers"][0]["url"] for path, item in done.document["paths"].items()}
    assert servers == {
        "/math/add/invoke": "https://one.example.com",
        "/add/invoke": "https://two.example.com/math",
    }
    assert done.warnings == ()


def test_tool_without_a_unique_path_is_skipped_with_a_warning(define):
    tools = [
        define("xyz.example.aa.add@1", url="https://one.example.com"),
        define("xyz.example.bb.add@1", url="https://two.example.com"),
    ]
    done = export_tools(tools, "openapi")
    assert list(done.names()) == ["xyz_example_aa_add_v1"]
    assert done.warnings[0].startswith("xyz.example.bb.add@1 is skipped")
