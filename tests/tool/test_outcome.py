from nexus_tools.tool import FailureReason, Outcome


def test_reasons_are_those_of_the_move_module():
    assert [reason.value for reason in FailureReason] == [
        "tool_not_registered",
        "definition_mismatch",
        "input_invalid",
        "unreachable",
        "timed_out",
        "http_error",
        "output_invalid",
        "output_too_large",
        "unauthorized",
    ]


def test_an_outcome_is_an_object_with_its_variant():
    assert Outcome("ok", {"sum": 3}).as_json() == {"ok": {"sum": 3}}


def test_a_variant_that_begins_with_err_is_an_error():
    assert Outcome("err_http", {}).is_error
    assert not Outcome("ok", {}).is_error
