from dataclasses import dataclass

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    Answer,
    InterfaceValidator,
    ToolDefinition,
    check_input_schema,
    measure,
)
from nexus_tools.tool.schemas.validation_cost import MAX_STEPS


@dataclass(frozen=True)
class Interface:
    input_schema: dict
    output_schema: dict


class CheckedSteps:
    """The steps that a schema of the port `a` takes: the bound, and as they are counted."""

    def __init__(self, schema):
        self._cost = check_input_schema({"type": "object", "properties": {"a": schema}}).cost

    def of(self, value):
        return self._cost.bound(measure({"a": value}))

    def counted(self, value):
        return self._cost.count_nodes({"a": value})


@pytest.fixture
def validator(document):
    return InterfaceValidator(ToolDefinition.parse(document))


@pytest.fixture
def for_port(output_schema):
    """A validator of an input with one port `a` of the given schema."""

    def build(schema, **root):
        ports = {"type": "object", "properties": {"a": schema}, **root}
        return InterfaceValidator(Interface(ports, output_schema))

    return build


def _failures(check, value):
    with pytest.raises(ValidationError) as caught:
        check(value)
    found = [(f["pointer"], f["message"]) for f in caught.value.details["failures"]]
    return caught.value.code, found


def test_valid_input_passes(validator):
    validator.check_input({"a": 1, "b": -2})


def test_input_failures_have_pointers(validator):
    code, found = _failures(validator.check_input, {"a": "x", "b": 1.5})
    assert code == "input_invalid"
    assert [pointer for pointer, _ in found] == ["/a", "/b"]
    assert 'not of type "integer"' in found[0][1]


def test_missing_port_is_named(validator):
    _, found = _failures(validator.check_input, {"a": 1})
    assert found == [("", '"b" is a required property')]


def test_messages_never_repeat_the_value(validator):
    _, found = _failures(validator.check_input, {"a": "my password", "b": 1})
    assert "my password" not in str(found)


def test_valid_output_is_an_answer(validator):
    assert validator.check_output({"ok": {"sum": 3}}) == Answer("ok", {"sum": 3})


def test_variants_are_known_by_name(validator):
    assert validator.variants == ("ok", "err")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({}, ""),
        ([], ""),
        ("ok", ""),
        ({"ok": {"sum": 1}, "err": {}}, ""),
        ({"ko": {}}, ""),
        ({"ok": {}}, "/ok"),
        ({"ok": {"sum": "1"}}, "/ok/sum"),
        ({"ok": None}, "/ok"),
        ({"err": {"reason": 1}}, "/err/reason"),
    ],
)
def test_invalid_output_is_rejected(validator, value, pointer):
    code, found = _failures(validator.check_output, value)
    assert code == "output_invalid"
    assert [place for place, _ in found] == [pointer]


def test_closest_alternative_is_described(for_port):
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    validator = for_port({"anyOf": [{"type": "null"}, point]})
    _, found = _failures(validator.check_input, {"a": {"x": "far"}})
    assert [pointer for pointer, _ in found] == ["/a/x"]


def test_failures_are_listed_up_to_a_number(for_port):
    validator = for_port({"items": {"type": "integer"}})
    _, found = _failures(validator.check_input, {"a": ["x"] * 100})
    assert len(found) == 20


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", object(), {1: 2}])
def test_invalid_json_value_is_rejected(for_port, value):
    code, _ = _failures(for_port(True).check_input, {"a": value})
    assert code == "input_invalid"


def test_half_a_surrogate_pair_is_refused(for_port):
    code, _ = _failures(for_port({"type": "string"}).check_input, {"a": "\ud800"})
    assert code == "input_invalid"


def test_deep_value_is_rejected_without_recursion(for_port):
    value = []
    for _ in range(200_000):
        value = [value]
    validator = for_port(
        {"$ref": "#/$defs/L"}, **{"$defs": {"L": {"items": {"$ref": "#/$defs/L"}}}}
    )
    _, found = _failures(validator.check_input, {"a": value})
    assert "deeper than 64" in found[0][1]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", r"^(\w+\s?)*$"])
def test_patterns_that_backtrack_elsewhere_are_decided(for_port, pattern):
    validator = for_port({"type": "string", "pattern": pattern})
    code, _ = _failures(validator.check_input, {"a": "a" * 50_000 + "!"})
    assert code == "input_invalid"


def test_value_is_rejected_if_validation_is_too_expensive(for_port):
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, "left": {"$ref": "#/$defs/Tree"}},
            "required": ["kind", "left"],
        }
        for kind in ("a", "b", "c", "d")
    ]
    shared = {"$defs": {"Tree": {"anyOf": [{"type": "number"}, *kinds]}}}
    validator = for_port({"$ref": "#/$defs/Tree"}, **shared)
    shallow = deep = 1
    for _ in range(4):
        shallow = {"kind": "d", "left": shallow}
    for _ in range(40):
        deep = {"kind": "d", "left": deep}
    validator.check_input({"a": shallow})
    _, found = _failures(validator.check_input, {"a": deep})
    assert "too large or too deep" in found[0][1]


# `(a|b)*a(a|b){1900}c` compiles to 256 KiB at most: 32 768 steps for each 8 bytes of text.
COSTLY = "(a|b)*a(a|b){1900}c"


def test_text_is_checked_up_to_the_limit_of_its_pattern_and_refused_beyond(for_port):
    validator = for_port({"not": {"pattern": COSTLY}})
    steps = CheckedSteps({"not": {"pattern": COSTLY}})
    # 254 stretches of text and the text itself take 32 768 steps each, nodes and keywords 13.
    last = 2_039
    assert steps.counted("a" * last) == 255 * 32_768 + 13
    assert steps.counted("a" * last) <= MAX_STEPS < steps.counted("a" * (last + 1))
    validator.check_input({"a": "a" * last})
    _, found = _failures(validator.check_input, {"a": "a" * (last + 1)})
    assert "too large or too deep" in found[0][1]


def test_schema_with_too_expensive_patterns_is_rejected(for_port):
    patterns = [{"pattern": f"{COSTLY}{i}"} for i in range(10)]
    with pytest.raises(ValidationError, match="could take too long") as caught:
        for_port({"anyOf": patterns})
    assert caught.value.code == "schema_invalid"


def test_long_text_is_checked_next_to_a_port_with_a_pattern(output_schema):
    ports = {"id": {"pattern": COSTLY}, "document": {"type": "string"}}
    schema = {"type": "object", "properties": ports}
    validator = InterfaceValidator(Interface(schema, output_schema))
    validator.check_input({"document": "a" * 5_000_000})
    code, _ = _failures(validator.check_input, {"id": "a" * 5_000_000})
    assert code == "input_invalid"


@pytest.mark.parametrize(
    ("schema", "value", "name"),
    [
        ({"propertyNames": {"not": {"pattern": COSTLY}}}, {"a" * 8_000: 1}, "names"),
        ({"patternProperties": {COSTLY: True}}, {"a" * 8_000: 1}, "names of patterns"),
        ({"not": {"pattern": COSTLY}}, "\U0001d11e" * 600, "bytes, not characters"),
        ({"allOf": [{"minimum": 0}] * 100}, 10**4_000, "large integers"),
        ({"allOf": [{"multipleOf": 0.1}] * 100}, [1e300] * 10_000, "fractions"),
        ({"allOf": [{"uniqueItems": True}] * 50}, [i / 7 for i in range(50_000)], "comparisons"),
        ({"items": {"anyOf": [{"const": i / 7} for i in range(20)]}}, [0.5] * 20_000, "constants"),
        ({"items": {"enum": [i / 7 for i in range(20)]}}, [0.5] * 20_000, "enumerations"),
        ({"items": {"allOf": [{"minimum": 0.25}] * 20}}, [0.5] * 20_000, "bounds"),
    ],
)
def test_work_beyond_the_limit_is_refused(for_port, schema, value, name):
    if name == "fractions":
        schema = {"items": schema}
    _, found = _failures(for_port(schema).check_input, {"a": value})
    assert "too large or too deep" in found[0][1]


@pytest.mark.parametrize(
    "schema",
    [{"enum": [i / 7 for i in range(20)]}, {"allOf": [{"minimum": 0.25}] * 20}, {"minimum": 1}],
)
def test_long_lists_of_numbers_are_checked(for_port, schema):
    values = [5 / 7] * 5_000 if schema != {"minimum": 1} else [5] * 200_000
    for_port({"items": schema}).check_input({"a": values})


def test_counting_does_not_depend_on_values_seen_before(for_port):
    schema = {"additionalProperties": {"items": {"pattern": "^[a-z]{1,8}$"}}}
    steps = CheckedSteps(schema)
    value = {"x": ["a" * 100] * 3, "y": [1, 2.5, None, {}]}
    first = steps.counted(value)
    steps.counted({"z": [["deeper"]]})
    assert steps.counted(value) == first <= steps.of(value)


def test_long_lists_of_plain_values_are_checked(for_port):
    for_port({"type": "array", "items": {"type": "integer"}}).check_input({"a": [1] * 100_000})


def test_format_is_an_annotation(for_port):
    for_port({"type": "string", "format": "date"}).check_input({"a": "tomorrow"})


def test_dollar_in_a_pattern_matches_only_the_end_of_the_text(for_port):
    # ECMA-262, which JSON Schema follows; Python's own `$` also matches before a last newline.
    validator = for_port({"type": "string", "pattern": "^a$"})
    validator.check_input({"a": "a"})
    assert _failures(validator.check_input, {"a": "a\n"})[0] == "input_invalid"
