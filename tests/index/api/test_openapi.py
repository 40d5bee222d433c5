"""The OpenAPI document."""

import openapi_spec_validator
import pytest

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
