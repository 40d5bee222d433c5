"""Ports on one line."""

import pytest

from nexus_tools.tool import port_summary

NULL = {"type": "null"}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("port", "kind"),
    [
        (TEXT, "string"),
        (True, "any"),
        ({}, "any"),
        (TEXTS, "array of string"),
        ({"anyOf": [TEXT, NULL]}, "string or null"),
        ({"oneOf": [NULL, TEXT]}, "string or null"),
        ({"anyOf": [TEXTS, NULL], "default": None}, "array of string or null"),
        ({"type": ["integer", "null"]}, "integer or null"),
        ({"type": ["array", "null"], "items": TEXT}, "array of string or null"),
        ({"type": "array", "items": {"anyOf": [TEXT, NULL]}}, "array of (string or null)"),
        (
            {"anyOf": [TEXTS, {"type": "array", "items": {"type": "integer"}}]},
            "array of string or array of integer",
        ),
        ({"anyOf": [TEXT, TEXT]}, "string"),
        ({"anyOf": [{"$ref": "#/$defs/Unit"}, NULL]}, "Unit or null"),
        ({"enum": ["a", 1, None, True]}, "a | 1 | null | true"),
        ({"const": 5}, "5"),
        ({"anyOf": [{"const": number} for number in range(9)]}, "0 or 1 or 2 or 3 or 4 or more"),
    ],
)
def test_port_summary_names_types(port, kind):
    assert port_summary({"properties": {"port": port}}) == f"port?: {kind}"


def test_port_summary_shows_the_values_of_an_enum():
    ending = {"enum": ["rising", "falling"]}
    port = {"$ref": "#/$defs/Ending"}
    ports = {
        "ending": port,
        "all": {"type": "array", "items": port},
        "other": {"$ref": "#/$defs/O"},
    }
    kinds = "ending?: rising | falling, all?: array of rising | falling, other?: O"
    schema = {"properties": ports, "$defs": {"Ending": ending, "O": {"type": "object"}}}
    assert port_summary(schema) == kinds
    assert port_summary({"properties": ports}, {"Ending": ending}) == kinds


def test_port_summary_reports_omitted_values_of_an_enum():
    summary = port_summary({"properties": {"port": {"enum": list(range(99))}}})
    assert summary == "port?: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | more"


def test_port_summary_marks_optional_ports():
    schema = {"properties": {"text": TEXT, "word": TEXT}, "required": ["text"]}
    assert port_summary(schema) == "text: string, word?: string"


def test_port_summary_ends_for_endless_alternatives():
    port = {"anyOf": []}
    for _ in range(1_000):
        port = {"anyOf": [port, NULL]}
    assert port_summary({"properties": {"port": port}}).endswith("any or null")
