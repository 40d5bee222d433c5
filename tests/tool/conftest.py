"""Schemas that tests vary."""

import pytest


@pytest.fixture
def output_schema():
    ok = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    error = {"type": "object", "properties": {"reason": {"type": "string"}}}
    return {
        "type": "object",
        "oneOf": [
            {"type": "object", "properties": {"ok": ok}, "required": ["ok"]},
            {"type": "object", "properties": {"err": error}, "required": ["err"]},
        ],
    }


@pytest.fixture
def input_schema():
    ports = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    return {"type": "object", "properties": ports, "required": ["a", "b"]}


@pytest.fixture
def document(input_schema, output_schema):
    return {
        "fqn": "xyz.taluslabs.math.i64.add@1",
        "type": "offchain",
        "url": "https://tools.example.com/add",
        "description": "Adds two integers.",
        "timeout": 5000,
        "input_schema": input_schema,
        "output_schema": output_schema,
    }
