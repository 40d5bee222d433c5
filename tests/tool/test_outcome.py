from nexus_tools.tool import Answer, FailureReason


def test_failure_reasons_match_the_move_module():
    written = [reason.value for reason in FailureReason if reason is not FailureReason.EXPIRED]
    assert written == [
        "tool_not_registered",
        "definition_mismatch",
        "input_invalid",
        "unreachable",
        "timed_out",
        "http_error",
        "output_invalid",
        "output_too_large",
        "unauthorized",
        "refused",
        "overloaded",
        "aborted",
    ]


def test_answer_is_an_object_with_its_variant():
    assert Answer("ok", {"sum": 3}).as_json() == {"ok": {"sum": 3}}


def test_variant_that_starts_with_err_is_an_error():
    assert Answer("err_http", {}).is_error
    assert not Answer("ok", {}).is_error
