/// What each view says of an invocation in each of its states.
#[test_only]
module nexus_tools::state_tests;

use nexus_tools::state::{Self, State};
use nexus_tools::test_runner::{ok, port, sum};
use nexus_tools::value::{Self, Value};
use std::unit_test::assert_eq;

#[test]
fun what_is_requested_is_not_closed() {
    let state = state::requested();
    assert!(!state.is_closed());
    assert!(!state.is_settled());
}

#[test]
fun what_is_settled_has_its_answer() {
    let state = settled();
    assert!(state.is_closed());
    assert!(state.is_settled());
    assert_eq!(state.variant(), ok());
    assert_eq!(*state.ports(), port(b"result", b"3"));
    assert_eq!(output(&state, b"result"), value::inline(b"3"));
}

#[test]
fun state_has_the_bytes_of_what_it_came_to() {
    // Variant and ports: 2, and 1 + 7 + 3 of `{"result": 3}`.
    assert_eq!(settled().bytes(), 13);
    // `timed_out` and `5 s`.
    assert_eq!(failed().bytes(), 12);
    assert_eq!(state::expired().bytes(), 0);
    assert_eq!(state::requested().bytes(), 0);
}

#[test]
fun element_is_that_of_a_port_of_the_answer() {
    let list = value::none().with(b"a", value::inline_list(vector[vector[b"1", b"22"]]));
    let state = state::settled(ok(), list, @0x1.to_id(), 0);
    assert_eq!(state.element(&b"a".to_ascii_string(), 1), value::inline(b"22"));
}

#[test, expected_failure(abort_code = value::ENotAList)]
fun failure_has_no_elements() {
    failed().element(&b"reason".to_ascii_string(), 0);
}

#[test]
fun what_failed_has_its_reason_and_its_detail() {
    let state = failed();
    assert!(state.is_closed());
    assert!(!state.is_settled());
    assert_eq!(state.reason(), b"timed_out".to_ascii_string());
    assert_eq!(output(&state, b"reason"), value::inline(b"\"timed_out\""));
    assert_eq!(output(&state, b"detail"), value::inline(b"\"5 s\""));
}

#[test]
fun what_expired_has_that_for_its_reason_and_no_detail() {
    let state = state::expired();
    assert!(state.is_closed());
    assert!(!state.is_settled());
    assert_eq!(state.reason(), b"expired".to_ascii_string());
    assert_eq!(output(&state, b"reason"), value::inline(b"\"expired\""));
    assert_eq!(output(&state, b"detail"), value::inline(b"\"\""));
}

// === What there is not ===

#[test, expected_failure(abort_code = state::ENotSettled)]
fun what_is_requested_has_no_variant() {
    state::requested().variant();
}

#[test, expected_failure(abort_code = state::ENotSettled)]
fun what_failed_has_no_ports() {
    failed().ports();
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun what_is_settled_has_no_reason() {
    settled().reason();
}

#[test, expected_failure(abort_code = state::ENotFailed)]
fun what_is_requested_has_come_to_nothing() {
    output(&state::requested(), b"reason");
}

#[test, expected_failure(abort_code = value::EUnknownPort)]
fun answer_has_no_port_that_the_tool_did_not_give() {
    output(&settled(), b"reason");
}

// === Helpers ===

fun settled(): State { state::settled(ok(), sum(), @0x1EAD.to_id(), 7) }

fun failed(): State {
    state::failed(b"timed_out".to_ascii_string(), b"5 s".to_string(), @0x1EAD.to_id(), 7)
}

fun output(state: &State, name: vector<u8>): Value { state.output(&name.to_ascii_string()) }
