from time import monotonic

import pytest
from jsonschema import Draft202012Validator

from nexus_tools.bridges.sandbox import Limit, ProcessLimits, ProcessResult
from nexus_tools.bridges.schemas.ports import map_ports
from nexus_tools.bridges.schemas.variants import (
    closed_object_schema,
    error,
    error_schema,
    output_schema,
    process_limits,
    with_description,
)
from nexus_tools.errors import ValidationError
from nexus_tools.tool import check_output_schema

TEXT = {"type": "string"}


def a_run(**fields):
    ended = {"exit_code": 0, "stdout": b"", "stderr": b"", "reply": None, "limit": None}
    return ProcessResult(**{**ended, "elapsed_ms": 5, **fields})


def of_errors(**more):
    return Draft202012Validator(output_schema({"err": error_schema(**more)}))


def test_each_variant_is_a_branch_that_requires_only_itself():
    schema = output_schema({"ok": closed_object_schema({"a": TEXT}), "err": error_schema()})
    assert list(check_output_schema(schema).variants) == ["ok", "err"]
    judge = Draft202012Validator(schema)
    assert judge.is_valid({"ok": {"a": "x"}})
    assert judge.is_valid({"err": {"reason": "x"}})
    assert not judge.is_valid({"ok": {"a": "x"}, "err": {"reason": "x"}})
    assert not judge.is_valid({"ok": {"b": "x"}})
    assert not judge.is_valid({})


def test_object_has_only_the_named_properties():
    assert closed_object_schema({"a": TEXT}, required=["a"]) == {
        "type": "object",
        "properties": {"a": TEXT},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_shared_definitions_are_at_the_top_for_all_variants():
    shared = {"a/b": TEXT, "c": {"$ref": "#/$defs/a~1b"}}
    ports = closed_object_schema({"x": {"$ref": "#/$defs/c"}, "y": {"$ref": "#/$defs/a~1b"}})
    schema = output_schema({"ok": ports, "ok_too": ports}, definitions=shared)
    check_output_schema(schema)
    assert schema["$defs"] == shared
    assert Draft202012Validator(schema).is_valid({"ok_too": {"x": "", "y": ""}})
    assert not Draft202012Validator(schema).is_valid({"ok_too": {"x": 1}})


def test_internal_references_of_a_variant_move_along():
    tree = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "name": {"$ref": "#n"}, "b": {"$ref": "#/$defs/b"}},
        "$defs": {"n": {"$anchor": "n", **TEXT}, "b": {"type": "boolean"}},
    }
    # Two documents with equal definition names, and a third document that is shared.
    schema = output_schema({"ok": tree, "err": tree}, definitions={"b": TEXT})
    check_output_schema(schema)
    judge = Draft202012Validator(schema)
    for variant in ("ok", "err"):
        assert judge.is_valid({variant: {"child": {"child": {}, "name": "x", "b": True}}})
        assert not judge.is_valid({variant: {"child": {"child": {"name": 1}}}})
        assert not judge.is_valid({variant: {"b": "text"}})


def test_mapped_schema_can_be_a_variant():
    mapping = map_ports({"type": "object", "properties": {"aB": {"$ref": "#"}}}, wrapped="result")
    schema = output_schema({"ok": mapping.schema})
    check_output_schema(schema)
    judge = Draft202012Validator(schema)
    assert judge.is_valid({"ok": mapping.to_ports({"aB": {"aB": {}}})})
    assert not judge.is_valid({"ok": mapping.to_ports({"aB": {"aB": 1}})})


def test_unresolvable_reference_of_a_variant_is_refused():
    with pytest.raises(ValidationError) as caught:
        output_schema({"ok": closed_object_schema({"a": {"$ref": "#/$defs/a"}})})
    assert caught.value.code == "schema_invalid"


def test_error_has_a_reason_and_the_known_facts():
    output = error("it broke", type="OSError", logs=["a"], secret=None)
    assert output == {"err": {"reason": "it broke", "type": "OSError", "logs": ["a"]}}
    assert of_errors(logs={"type": "array"}).is_valid(output)


@pytest.mark.parametrize(
    ("finished", "ports"),
    [
        (a_run(), {}),
        (a_run(exit_code=3, stderr=b"oops"), {"exit_code": 3, "log": "oops"}),
        (a_run(exit_code=-9), {"exit_code": -9}),
        (a_run(exit_code=None, limit=Limit.TIME), {"limit": "time"}),
    ],
)
def test_error_reports_how_the_process_ended(finished, ports):
    output = error("it broke", finished=finished)
    assert output == {"err": {"reason": "it broke", **ports}}
    assert of_errors().is_valid(output)


@pytest.mark.parametrize("limit", list(Limit))
def test_each_limit_is_a_value_of_the_schema(limit):
    assert of_errors().is_valid(error("x", finished=a_run(exit_code=None, limit=limit)))


def test_error_without_a_reason_reports_a_failure():
    assert error("") == {"err": {"reason": "the tool failed"}}


def test_log_is_the_last_four_kibibytes():
    log = error("x", finished=a_run(exit_code=1, stderr=b"a" * 9_000 + b"b"))["err"]["log"]
    assert log == "a" * 4_095 + "b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("x" * 4_096, "x" * 4_096),
        ("x" * 4_097, "x" * 4_093 + "…"),
        ("é" * 2_049, "é" * 2_046 + "…"),
        ("half \ud800", "half ?"),
    ],
)
def test_description_is_truncated_to_4096_bytes(text, expected):
    assert with_description(text) == expected


@pytest.mark.parametrize(
    ("timeout_ms", "time_ms"),
    [(10_000, 9_000), (120_000, 118_000), (3_000, 2_500), (1_000, 500), (1_001, 501)],
)
def test_process_ends_a_tenth_of_its_time_before_the_server_gives_up(timeout_ms, time_ms):
    limits = ProcessLimits(time_ms=7, memory_bytes=1)
    assert process_limits(limits, timeout_ms) == ProcessLimits(time_ms=time_ms, memory_bytes=1)


def test_time_before_the_process_counts():
    spent_s = 4
    limits = process_limits(ProcessLimits(), 10_000).remaining_after(monotonic() - spent_s).time_ms
    assert 4_000 < limits <= 5_000
