"""The OpenAPI document."""

import json
from pathlib import Path

import jsonschema
import openapi_spec_validator
import pytest

from nexus_tools.index import LeaderSort, ToolSort
from nexus_tools.index.api.cursors import CursorCodec
from nexus_tools.index.api.parameters import MAX_FQN, ToolsParameters
from tests.index.api.conftest import DOCUMENT

pytestmark = pytest.mark.anyio


async def test_served_document_describes_every_route(synthetic, serve):
    client = await serve(synthetic.index)
    assert (await client.get("/openapi.json")).json() == DOCUMENT


def test_document_is_valid_openapi():
    openapi_spec_validator.validate(DOCUMENT)


def test_operations_have_unique_names_and_only_read():
    operations = [operation for path in DOCUMENT["paths"].values() for operation in path.items()]
    assert {method for method, _ in operations} == {"get"}
    names = [operation["operationId"] for _, operation in operations]
    assert len(set(names)) == len(names)


def test_parameters_have_limits():
    for path in DOCUMENT["paths"].values():
        for parameter in path["get"]["parameters"]:
            schema = parameter["schema"]
            is_text = schema.get("type") == "string" and parameter["in"] == "query"
            assert not is_text or {"maxLength", "pattern"} & set(schema), parameter
            assert schema.get("type") != "integer" or {"minimum", "maximum"} <= set(schema)


def test_document_describes_the_snapshot_and_refers_to_all_schemas():
    assert "/snapshot.json" in DOCUMENT["paths"]
    text = json.dumps(DOCUMENT)
    unused = [
        name
        for name in DOCUMENT["components"]["schemas"]
        if f'"#/components/schemas/{name}"' not in text
    ]
    assert unused == []


def test_document_has_a_license_tags_and_the_absence_of_authentication():
    assert DOCUMENT["info"]["license"]["identifier"] == "Apache-2.0"
    assert DOCUMENT["security"] == []
    names = {tag["name"] for tag in DOCUMENT["tags"]}
    used = [tuple(path["get"]["tags"]) for path in DOCUMENT["paths"].values()]
    assert {name for (name,) in used} == names


def test_descriptions_are_not_indented():
    schemas = DOCUMENT["components"]["schemas"].values()
    assert [schema for schema in schemas if "\n  " in schema.get("description", "")] == []


def cursor_schema(path):
    [schema] = [
        parameter["schema"]
        for parameter in DOCUMENT["paths"][path]["get"]["parameters"]
        if parameter["name"] == "after"
    ]
    return schema


@pytest.mark.parametrize("position", ["0", "999", json.dumps([2**63 - 1, 2**63 - 1]), "[1.5, 7]"])
def test_cursors_match_their_schema(position):
    codec = CursorCodec("generation", "tools", ToolsParameters())
    jsonschema.validate(codec.encode(position), cursor_schema("/api/tools"))


def test_longest_cursor_matches_its_schema():
    codec = CursorCodec("generation", "tools", ToolsParameters(sort=ToolSort.NAME))
    cursor = codec.encode(json.dumps(["x" * MAX_FQN]))
    schema = cursor_schema("/api/tools")
    assert len(cursor) == schema["maxLength"]
    jsonschema.validate(cursor, schema)


@pytest.mark.parametrize(
    "text", ["", "0" * 11, "0" * 13, "0" * 1_000, "0" * 14 + "=", "é" * 12, "A" * 13 + "B"]
)
def test_schema_refuses_texts_that_are_not_cursors(text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(text, cursor_schema("/api/executions"))


def test_guide_lists_the_values_of_sort():
    guide = (Path(__file__).parents[3] / "docs/guides/index.md").read_text()
    [paragraph] = [part for part in guide.split("\n\n") if part.startswith("`sort` orders")]
    assert [value for value in (*ToolSort, *LeaderSort) if f"`{value}`" not in paragraph] == []
