/// Tests of edges and lists in an otherwise valid plan. Some edges and lists are allowed at a
/// limit, and the others are rejected.
#[test_only]
module nexus_workflows::dag_edge_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, publish_with};

const NONE: u16 = 0xFFFF;
const KIND: u64 = 3;
const ZEROS: u64 = 5;
const EACH: u64 = 0;
const COLLECT: u64 = 4;

// === Valid plans ===

#[test]
fun check_accepts_a_value_from_inside_for_a_static_port() {
    let mut columns = columns();
    columns.add_edge(5, b"more", vector[11, 5, 1, 2, 1, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_second_value_from_inside() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 1, 0, 0, 1, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_list_with_several_sources() {
    let mut columns = columns();
    columns.add_edge(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collect_sources()[0] = vector[1, 3];
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_list_source_with_two_variants() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collect_sources()[0] = vector[3, 3];
    assert!(columns.is_published());
}

#[test]
fun check_accepts_several_lists_of_a_region() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0]);
    columns.add_list(0, vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0], vector[3]);
    assert!(columns.is_published());
}

// === Rejected edges ===

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_edge_into_a_sibling_block() {
    let mut columns = columns();
    columns.add_edge(5, b"more", vector[11, 3, 0, 0, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_edge_to_a_port_without_the_flag() {
    let mut columns = columns();
    *&mut columns.flags()[7] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_from_outside_for_a_static_port() {
    let mut columns = columns();
    *&mut columns.flags()[1] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_edge_inside_one_block() {
    let mut columns = columns();
    columns.add_edge(1, b"more", vector[11, 3, 0, 4, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_edge_inside_one_block_to_a_static_port() {
    let mut columns = columns();
    columns.add_port(3, b"kept", 4);
    columns.add_edge(1, b"more", vector[11, 3, 1, 4, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_normal_edge_with_an_element() {
    publish_with(EACH, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_as_break() {
    publish_with(COLLECT, KIND, 3);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_break_inside_one_block() {
    let mut columns = columns();
    columns.add_edge(1, b"more", vector[11, 3, 0, 3, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_break_from_a_region() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 4, 2, 3, 0, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_from_a_sibling_region() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 5, 2, 0, 0, 1, NONE, NONE, 3, 0]);
    *&mut columns.collect_sources()[1] = vector[3, 6];
    columns.publish();
}

// === Rejected lists ===

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_without_all_sources() {
    let mut columns = columns();
    columns.add_edge(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_source_with_two_variants_listed_once() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_unordered_list_sources() {
    let mut columns = columns();
    columns.add_edge(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collect_sources()[0] = vector[3, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_for_an_unlisted_port() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_for_an_unlisted_vertex() {
    let mut columns = columns();
    columns.add_edge(3, b"more", vector[11, 0, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_that_stays_in_the_region() {
    let mut columns = columns();
    // The `break` edge of the loop leads to the same port, but does not leave a region.
    columns.add_list(0, vector[11, 3, 0, 0, 1, 0, NONE, NONE, NONE], vector[2]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_zeros_of_a_list_outside_loops() {
    let mut columns = columns();
    *&mut columns.collect_edges()[0][ZEROS] = 1;
    columns.publish();
}
