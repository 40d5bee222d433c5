"""Remote values: leaders may fetch them, and no rule treats them as inline values."""

import json

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.workflow import read_document, simulate
from tests.workflow.notation import errors, flow, warnings

POINTER = "/default_values/0/value/storage"


@pytest.fixture
def walrus_document():
    """A document whose one default value is on Walrus."""
    document = flow("> a.x", "a.ok.y -> b.x", 'b.y = "blob"')
    document["default_values"][0]["value"]["storage"] = "walrus"
    return document


def test_walrus_value_is_a_warning(walrus_document):
    why = "a run fails unless its leader fetches remote values"
    assert errors(walrus_document) == []
    assert warnings(walrus_document) == [
        ("remote_value", f"The value of b.y is stored in walrus, but {why}.", POINTER)
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda vertex: vertex["kind"].update(variant="on_chain"), "an on-chain tool accepts"),
        (
            lambda vertex: vertex.update(verifier="registered_key"),
            "a tool signs",
        ),
    ],
)
def test_walrus_value_for_an_on_chain_reader_is_an_error(walrus_document, change, reason):
    [vertex] = [each for each in walrus_document["vertices"] if each["name"] == "b"]
    change(vertex)
    message = f"The value of b.y is stored in walrus, but {reason} only inline values."
    assert errors(walrus_document) == [("remote_value", message, POINTER)]


@pytest.mark.parametrize("data", ["a-Z_0.~9", ["a", "b"], []])
def test_walrus_key_is_a_string_or_a_list_of_strings(walrus_document, data):
    walrus_document["default_values"][0]["value"]["data"] = data
    assert errors(walrus_document) == []


@pytest.mark.parametrize(
    "data", ["", "..", "../../x", "%2e%2e", "a b", "http://a.example/", 7, None, {"k": 1}, ["a", 7]]
)
def test_invalid_walrus_key_is_an_error(walrus_document, data):
    walrus_document["default_values"][0]["value"]["data"] = data
    message = (
        "The data of b.y must be a key of walrus, or a list of keys. A key contains letters, digits"
        " and -._~, and is neither . nor .."
    )
    assert errors(walrus_document) == [("remote_value", message, "/default_values/0/value/data")]


async def test_walrus_value_is_rejected_in_a_simulation(walrus_document):
    document, _ = read_document(json.dumps(walrus_document))
    with pytest.raises(ValidationError) as caught:
        await simulate(document, {"x": 1})
    assert caught.value.code == "remote_value_unavailable"
    message = "the value of b.y is stored in walrus, but a simulation cannot fetch it"
    assert caught.value.message == message
