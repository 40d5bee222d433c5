"""The words of definitions, which come from untrusted authors."""

import json

import pytest
from msgspec.structs import replace

from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.index.definitions import MAX_WORDS, definition_words
from nexus_tools.registry import Registration
from tests.index.conftest import ADD

pytestmark = pytest.mark.anyio


@pytest.fixture
async def words_with(history):
    """Return a function that returns the words of a tool with another input schema."""
    await history.tools.register(Registration(history.define(ADD)))
    tool = await history.tools.get(ADD)
    value = await history.clients["user"].object(tool.id)

    def words_with(input_schema):
        text = (
            input_schema if isinstance(input_schema, bytes) else json.dumps(input_schema).encode()
        )
        changed = replace(tool, definition=replace(tool.definition, input_schema=text))
        contents = Tool.bcs.encode(changed)
        changed_value = replace(value, data=replace(value.data, contents=contents))
        return definition_words(history.deployment, changed_value)

    return words_with


def schema(title="", **ports):
    return json.dumps({"type": "object", "title": title, "properties": ports}).encode()


async def test_words_are_names_titles_and_descriptions(words_with):
    city = {"type": "string", "title": "City", "description": "Where it rains."}
    words = words_with(schema("Weather", city=city, day={"type": "integer"}))
    assert words.split("\n") == [
        *("Weather", "city", "City", "Where it rains.", "day", "ok", "result")
    ]


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"null", b"\xff", b"{", b"[" * 100_000, b'{"properties": 7}', b'{"type": 7}'],
    ids=lambda text: repr(text[:10]),
)
async def test_words_of_an_invalid_schema_do_not_raise(words_with, text):
    assert set(words_with(text).split("\n")) <= {"", "ok", "result"}


async def test_hostile_words_can_be_stored(words_with):
    surrogate = b'{"type": "object", "properties": {"\\ud800": {"description": "a\\u0000b"}}}'
    words_with(surrogate).encode()
    huge = schema(port={"type": "string", "description": "x" * 100_000})
    assert len(words_with(huge)) <= MAX_WORDS
