/// Tests of the view functions of an invocation in each state.
#[test_only]
module nexus_tools::state_tests;

use nexus_tools::state::{Self, State};
use nexus_tools::test_runner::{ok, port, sum};
use nexus_tools::value::{Self, Value};
use std::unit_test::assert_eq;

#[test]
fun is_closed_returns_false_for_a_request() {
    let state = state::requested();
    assert!(!state.is_closed());
    assert!(!state.is_settled());
}

#[test]
fun variant_and_ports_return_the_answer() {
    let state = settled();
    assert!(state.is_closed());
    assert!(state.is_settled());
    assert_eq!(state.variant(), ok());
    assert_eq!(*state.ports(), port(b"result", b"3"));
    assert_eq!(output(&state, b"result"), value::inline(b"3"));
}

#[test]
fun size_is_that_of_the_answer_or_failure() {
    // The variant has 2 bytes, and the ports `{"result": 3}` have 1 + 7 + 3 bytes.
    assert_eq!(settled().size(), 13);
    // The reason is `timed_out` and the detail is `5 s`.
    assert_eq!(failed().size(), 12);
    assert_eq!(state::expired().size(), 0);
    assert_eq!(state::requested().size(), 0);
}

#[test]
fun element_returns_an_element_of_the_answer() {
    let list = value::empty_ports().with(b"a", value::inline_list(vector[vector[b"1", b"22"]]));
    let state = state::settled(ok(), list, @0x1.to_id(), 0);
    assert_eq!(state.element(&b"a".to_ascii_string(), 1), value::inline(b"22"));
}

#[test, expected_failure(abort_code = value::ENotAList)]
fun element_aborts_for_a_failure() {
    failed().element(&b"reason".to_ascii_string(), 0);
}

#[test]
fun output_returns_reason_and_detail_of_a_failure() {
    let state = failed();
    assert!(state.is_closed());
    assert!(!state.is_settled());
    assert_eq!(state.reason(), b"timed_out".to_ascii_string());
    assert_eq!(output(&state, b"reason"), value::inline(b"\"timed_out\""));
    assert_eq!(output(&state, b"detail"), value::inline(b"\"5 s\""));
}

#[test]
fun output_returns_expired_and_an_empty_detail() {
    let state = state::expired();
    assert!(state.is_closed());
    assert!(!state.is_settled());
    assert_eq!(state.reason(), b"expired".to_ascii_string());
    assert_eq!(output(&state, b"reason"), value::inline(b"\"expired\""));
    assert_eq!(output(&state, b"detail"), value::inline(b"\"\""));
}

// === Missing values ===

#[test, expected_failure(abort_code = state::ENotSettled)]
fun variant_aborts_for_a_request() {
    state::requested().variant();
}

#[test, expected_failure(abort_code = state::ENotSettled)]
fun ports_aborts_for_a_failure() {
    failed().ports();
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun reason_aborts_for_an_answer() {
    settled().reason();
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun output_aborts_for_a_request() {
    output(&state::requested(), b"reason");
}

#[test, expected_failure(abort_code = value::EUnknownPort)]
fun output_aborts_for_an_unknown_port() {
    output(&settled(), b"reason");
}

// === Helpers ===

fun settled(): State { state::settled(ok(), sum(), @0x1EAD.to_id(), 7) }

fun failed(): State {
    state::failed(b"timed_out".to_ascii_string(), b"5 s".to_string(), @0x1EAD.to_id(), 7)
}

fun output(state: &State, name: vector<u8>): Value { state.output(&name.to_ascii_string()) }
