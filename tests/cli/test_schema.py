import json
import re
from pathlib import Path

import jsonschema_rs
import pytest

from nexus_tools import __version__
from nexus_tools.bridges.hyperpocket.auth import configuration_schema
from nexus_tools.bridges.mcp import declaration_schema
from nexus_tools.cli.schema import KINDS
from nexus_tools.settings import settings_schema
from nexus_tools.tool import definition_schema

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs/guides/editors.md").read_text().split())
RULES = (definition_schema, settings_schema, declaration_schema, configuration_schema)


def test_schema_lists_the_kinds_of_files(home):
    rows = home.json("schema")
    assert [row["name"] for row in rows] == ["tool", "workflow", "settings", "hyperpocket", "mcp"]
    assert all(row["title"] and row["files"] for row in rows)


@pytest.mark.parametrize("name", KINDS)
def test_schema_is_printed_with_its_dialect_and_version(home, name):
    schema = home.run("schema", name).document
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:nexus-tools:{__version__}:schema:{name}"
    assert home.json("schema", name) == schema
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize("name", KINDS)
def test_references_lead_to_definitions(home, name):
    schema = home.json("schema", name)
    references = re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(schema))
    assert set(references) == set(schema.get("$defs", {}))


@pytest.mark.parametrize("name", KINDS)
def test_fields_have_a_description_for_editors(home, name):
    schema = home.json("schema", name)
    fields = {name: field for name, field in _fields(schema) if field not in (True, False)}
    assert len(fields) > 4
    assert {name for name, field in fields.items() if not _is_described(field, schema)} == set()


def _fields(schema):
    """Yield the fields of all objects that users write, with their names."""
    for key, member in schema.items() if isinstance(schema, dict) else enumerate(schema):
        # Commands write the deployments, and the others repeat a field for a rule.
        if key in ("if", "then", "output", "ports", "deployments", "upgrade_locks"):
            continue
        if key == "properties" and schema.get("type") == "object":
            yield from member.items()
        if isinstance(member, dict | list):
            yield from _fields(member)


def _is_described(field, root):
    """Return whether a field has a description, or the definition that it refers to has one."""
    if "description" in field or field.keys() <= {"const", "type"}:
        return True
    if "$ref" in field:
        return _is_described(root["$defs"][field["$ref"].removeprefix("#/$defs/")], root)
    return any(_is_described(member, root) for member in field.get("anyOf", ()))


def test_output_writes_all_schemas_into_a_folder(home, tmp_path):
    folder = tmp_path / "new" / "schemas"
    written = home.json("schema", "--output", folder)["files"]
    assert written == [str(folder / f"{name}.schema.json") for name in KINDS]
    for name, path in zip(KINDS, written, strict=True):
        assert json.loads(Path(path).read_text()) == home.json("schema", name)


def test_output_writes_one_schema(home, tmp_path):
    home.json("schema", "mcp", "-o", tmp_path)
    assert [path.name for path in tmp_path.glob("*.json")] == ["mcp.schema.json"]


def test_unknown_kind_of_file_is_rejected(home):
    result = home.run("schema", "workflows", "--json")
    assert (result.code, result.error["code"]) == (2, "usage")
    assert "Did you mean workflow?" in result.error["message"]


@pytest.mark.parametrize(
    "rule", [rule for module in RULES for rule in module.UNSTATED_RULES.values()]
)
def test_page_lists_each_rule_that_a_schema_does_not_state(rule):
    assert rule in PAGE
