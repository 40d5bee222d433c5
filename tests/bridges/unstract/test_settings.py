import pytest

from nexus_tools.bridges.unstract.properties import read_adapters
from nexus_tools.bridges.unstract.settings import Settings
from nexus_tools.errors import ValidationError

# The settings form of the protocol's specification.
SPEC = {
    "title": "Document Indexer",
    "description": "Index documents based on their semantic content",
    "type": "object",
    "required": ["embeddingTransformer", "vectorStore"],
    "properties": {
        "embeddingTransformer": {
            "type": "string",
            "title": "Embeddings",
            "enum": ["Azure OpenAI"],
            "default": "Azure OpenAI",
        },
        "vectorStore": {
            "type": "string",
            "enum": ["Postgres pg_vector"],
            "default": "Postgres pg_vector",
        },
        "overwrite": {"type": "boolean", "default": False},
        "useCache": {"type": "boolean", "default": True},
    },
}


def test_settings_are_filled_with_their_defaults():
    assert Settings.parse(SPEC).filled({"overwrite": True}) == {
        "embeddingTransformer": "Azure OpenAI",
        "vectorStore": "Postgres pg_vector",
        "overwrite": True,
        "useCache": True,
    }


def test_nested_settings_are_filled():
    inner = {"type": "object", "properties": {"size": {"default": 3}, "name": {}}}
    settings = Settings.parse({"properties": {"chunk": inner}})
    assert settings.filled({"chunk": {"name": "a"}}) == {"chunk": {"name": "a", "size": 3}}
    assert settings.filled({}) == {}


def test_filling_changes_neither_input_nor_schema():
    settings = Settings.parse({"properties": {"tags": {"default": []}}})
    given = {}
    settings.filled(given)["tags"].append("x")
    assert given == {}
    assert settings.filled({}) == {"tags": []}


def test_setting_with_a_default_is_optional():
    assert not Settings.parse(SPEC).are_required
    settings = Settings.parse({"required": ["a", "b"], "properties": {"b": {"default": 1}}})
    assert settings.are_required
    assert settings.schema["required"] == ["a"]


def test_adapters_are_added_as_settings():
    adapters = read_adapters(
        {
            "languageModels": [{"isEnabled": True, "isRequired": True}],
            "embeddingServices": [{"isEnabled": True}],
            "vectorStores": [{"isEnabled": True}],
            "textExtractors": [{"isEnabled": True}],
            "ocrs": [{"isEnabled": True}],
        }
    )
    schema = Settings.parse({"required": ["bins"], "properties": {"bins": {}}}, adapters).schema
    assert schema["required"] == ["bins", "llmAdapterId"]
    assert set(schema["properties"]) == {
        *("bins", "llmAdapterId", "embeddingAdapterId", "vectorDbAdapterId"),
        *("x2TextAdapterId", "ocrAdapterId"),
    }
    assert schema["properties"]["llmAdapterId"]["type"] == "string"


def test_spec_overrides_an_adapter_setting():
    adapters = read_adapters({"ocrs": [{"isEnabled": True}]})
    spec = {"properties": {"ocrAdapterId": {"enum": ["one"]}}}
    assert Settings.parse(spec, adapters).schema["properties"] == spec["properties"]


@pytest.mark.parametrize(
    "spec", [{"type": "string"}, {"properties": []}, {"required": "a"}, {"required": [[]]}]
)
def test_settings_must_be_an_object(spec):
    with pytest.raises(ValidationError) as caught:
        Settings.parse(spec)
    assert caught.value.code == "schema_invalid"


@pytest.mark.parametrize(
    ("name", "schema", "is_secret"),
    [
        ("apiKey", {"type": "string"}, True),
        ("db_password", {}, True),
        ("login", {"format": "password"}, True),
        ("login", {"writeOnly": True}, True),
        ("login", {}, False),
    ],
)
def test_secret_settings_are_known_by_schema_or_name(name, schema, is_secret):
    settings = Settings.parse({"properties": {name: schema}})
    assert list(settings.secrets({name: "value"})) == (["value"] if is_secret else [])


def test_nested_settings_may_be_secret():
    login = {"type": "object", "properties": {"password": {}, "user": {}}}
    settings = Settings.parse({"properties": {"login": login}})
    assert list(settings.secrets({"login": {"password": "p", "user": "u"}})) == ["p"]


def test_settings_with_schema_alternatives_are_required():
    assert Settings.parse({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}).are_required


def test_only_strings_are_secret():
    assert list(Settings.parse({"properties": {"max_tokens": {}}}).secrets({"max_tokens": 9})) == []
