import pytest

from nexus_tools.bridges.unstract.variables import RuntimeVariables, platform_variables
from nexus_tools.errors import ValidationError

# The runtime variables of the protocol's specification.
DOCUMENT = {
    "title": "Runtime Variables",
    "description": "Runtime Variables for translate",
    "type": "object",
    "required": ["GOOGLE_SERVICE_ACCOUNT"],
    "properties": {
        "GOOGLE_SERVICE_ACCOUNT": {
            "type": "string",
            "title": "Google Service Account",
            "description": "Google Service account",
        }
    },
}


def test_only_declared_variables_are_passed():
    variables = RuntimeVariables.parse(DOCUMENT)
    environment = {"GOOGLE_SERVICE_ACCOUNT": "me", "OTHER": "you"}
    assert variables.values(environment) == {"GOOGLE_SERVICE_ACCOUNT": "me"}


@pytest.mark.parametrize("environment", [{}, {"GOOGLE_SERVICE_ACCOUNT": ""}])
def test_required_variable_must_be_set(environment):
    variables = RuntimeVariables.parse(DOCUMENT)
    assert variables.checks(environment) == {"GOOGLE_SERVICE_ACCOUNT": False}
    assert variables.checks({"GOOGLE_SERVICE_ACCOUNT": "x"}) == {"GOOGLE_SERVICE_ACCOUNT": True}


def test_optional_variable_may_be_missing():
    assert RuntimeVariables.parse({"properties": {"HOST": {}}}).checks({}) == {"HOST": True}


def test_declaration_does_not_override_run_variables():
    names = ["HOME", "PATH", "TMPDIR", "XDG_CONFIG_HOME"]
    document = {"required": names, "properties": {name: {} for name in names}}
    variables = RuntimeVariables.parse(document)
    assert variables.values(dict.fromkeys(names, "/root")) == {}
    assert variables.checks({}) == {}


def test_required_variable_may_have_no_schema():
    variables = RuntimeVariables.parse({"required": ["KEY"]})
    assert variables.checks({}) == {"KEY": False}
    assert variables.values({"KEY": "x"}) == {"KEY": "x"}


def test_variable_matches_its_schema_as_text_or_as_json():
    variables = RuntimeVariables.parse(
        {
            "properties": {
                "PORT": {"type": "integer", "maximum": 65_535},
                "ON": {"type": "boolean"},
                "CODE": {"type": "string", "pattern": "^[0-9]+$"},
            }
        }
    )
    assert all(variables.checks({"PORT": "80", "ON": "True", "CODE": "12"}).values())
    assert not any(variables.checks({"PORT": "70000", "ON": "maybe", "CODE": "x"}).values())


def test_default_replaces_a_missing_value():
    variables = RuntimeVariables.parse(
        {"required": ["PORT"], "properties": {"PORT": {"type": "integer", "default": 80}}}
    )
    assert variables.values({}) == {"PORT": "80"}
    assert variables.checks({}) == {"PORT": True}


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"A=B": {}}},
        {"required": ["WITH SPACE"]},
        {"properties": {"KEY": {"type": "nothing"}}},
        {"properties": {"KEY": {"$ref": "#/$defs/other"}}, "$defs": {"other": {}}},
        {"type": "array"},
    ],
)
def test_invalid_names_and_schemas_are_refused(document):
    with pytest.raises(ValidationError) as caught:
        RuntimeVariables.parse(document)
    assert caught.value.code == "schema_invalid"


def test_every_tool_has_the_platform_services_that_the_operator_sets():
    """Unstract's tools use these for prompts, texts, and adapters without declaring them."""
    services = {
        f"{service}_{part}": "x"
        for service in ("PLATFORM_SERVICE", "X2TEXT", "PROMPT")
        for part in ("HOST", "PORT")
    }
    assert platform_variables({**services, "OTHER": "you"}) == services
