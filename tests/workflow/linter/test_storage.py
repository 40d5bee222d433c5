"""Values that are not in the document: leaders may fetch them, and nobody takes them for inline."""

import json

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.workflow import read_document, simulate
from tests.workflow.notation import errors, flow, warnings

POINTER = "/default_values/0/value/storage"


@pytest.fixture
def remote():
    """A document whose one default value is on Walrus."""
    document = flow("> a.x", "a.ok.y -> b.x", 'b.y = "blob"')
    document["default_values"][0]["value"]["storage"] = "walrus"
    return document


def test_a_value_on_walrus_is_fetched_by_some_leaders(remote):
    why = "a run fails unless its leader fetches values from there"
    assert errors(remote) == []
    assert warnings(remote) == [
        ("remote_value", f"The value of b.y is in walrus, and {why}.", POINTER)
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda vertex: vertex["kind"].update(variant="on_chain"), "an on-chain tool takes what"),
        (lambda vertex: vertex.update(verifier="registered_key"), "a tool signs for what"),
    ],
)
def test_what_a_contract_has_to_see_is_on_chain(remote, change, why):
    [vertex] = [each for each in remote["vertices"] if each["name"] == "b"]
    change(vertex)
    message = (
        f"The value of b.y is in walrus, and {why} is on chain: write the value itself, as"
        " `inline`."
    )
    assert errors(remote) == [("remote_value", message, POINTER)]


@pytest.mark.parametrize("data", ["a-Z_0.~9", ["a", "b"], []])
def test_a_key_is_a_text_or_a_list_of_texts(remote, data):
    remote["default_values"][0]["value"]["data"] = data
    assert errors(remote) == []


@pytest.mark.parametrize(
    "data", ["", "..", "../../x", "%2e%2e", "a b", "http://a.example/", 7, None, {"k": 1}, ["a", 7]]
)
def test_what_no_leader_could_fetch_is_refused(remote, data):
    remote["default_values"][0]["value"]["data"] = data
    message = (
        "The data of b.y are no key of walrus, nor a list of keys: a key is a text of letters,"
        " digits and -._~, but neither . nor .."
    )
    assert errors(remote) == [("remote_value", message, "/default_values/0/value/data")]


async def test_a_value_on_walrus_is_not_simulated_as_if_it_were_inline(remote):
    document, _ = read_document(json.dumps(remote))
    with pytest.raises(ValidationError) as caught:
        await simulate(document, {"x": 1})
    assert caught.value.code == "remote_value_unavailable"
    assert caught.value.message == "the value of b.y is in walrus, and a simulation fetches nothing"
