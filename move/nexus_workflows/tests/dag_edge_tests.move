/// What is told of edges and lists once everything else is right, beside what is just so allowed.
#[test_only]
module nexus_workflows::dag_edge_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, publish_with};

const NONE: u16 = 0xFFFF;
const KIND: u64 = 3;
const ZEROS: u64 = 5;
const EACH: u64 = 0;
const COLLECT: u64 = 4;

// === What is sound ===

#[test]
fun a_static_port_gets_values_from_inside() {
    let mut columns = columns();
    columns.lead(5, b"more", vector[11, 5, 1, 2, 1, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun what_comes_from_inside_comes_second() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 1, 0, 0, 1, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun a_list_has_several_sources() {
    let mut columns = columns();
    columns.lead(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collected()[0] = vector[1, 3];
    assert!(columns.is_published());
}

#[test]
fun a_list_has_a_source_by_two_of_its_variants() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collected()[0] = vector[3, 3];
    assert!(columns.is_published());
}

#[test]
fun a_region_gives_several_lists() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0]);
    columns.collect(0, vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0], vector[3]);
    assert!(columns.is_published());
}

// === Edges that are refused ===

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_does_not_lead_into_a_block_beside() {
    let mut columns = columns();
    columns.lead(5, b"more", vector[11, 3, 0, 0, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_edge_does_not_lead_to_another_port() {
    let mut columns = columns();
    *&mut columns.flags()[7] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_port_gets_no_list_from_outside() {
    let mut columns = columns();
    *&mut columns.flags()[1] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_edge_does_not_stay_in_a_block() {
    let mut columns = columns();
    columns.lead(1, b"more", vector[11, 3, 0, 4, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_edge_does_not_stay_in_a_block_for_a_static_port() {
    let mut columns = columns();
    columns.port(3, b"kept", 4);
    columns.lead(1, b"more", vector[11, 3, 1, 4, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_that_is_normal_splits_no_list_of_a_region() {
    publish_with(EACH, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_is_collected_breaks_nothing() {
    publish_with(COLLECT, KIND, 3);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_break_does_not_stay_in_a_block() {
    let mut columns = columns();
    columns.lead(1, b"more", vector[11, 3, 0, 3, 1, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_break_does_not_leave_a_region() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 4, 2, 3, 0, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_collect_leaves_no_region_beside() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 5, 2, 0, 0, 1, NONE, NONE, 3, 0]);
    *&mut columns.collected()[1] = vector[3, 6];
    columns.publish();
}

// === Lists that are refused ===

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_tells_all_its_sources() {
    let mut columns = columns();
    columns.lead(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_tells_a_source_by_two_variants_twice() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_does_not_tell_its_sources_in_disorder() {
    let mut columns = columns();
    columns.lead(1, b"more", vector[11, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    *&mut columns.collected()[0] = vector[3, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_is_collected_for_another_port_is_gathered() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 4, 2, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_is_collected_for_another_vertex_is_gathered() {
    let mut columns = columns();
    columns.lead(3, b"more", vector[11, 0, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_leaves_the_region() {
    let mut columns = columns();
    // What breaks the loop brings something there, but leaves no region.
    columns.collect(0, vector[11, 3, 0, 0, 1, 0, NONE, NONE, NONE], vector[2]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_enters_no_loop_that_is_not_there() {
    let mut columns = columns();
    *&mut columns.collects()[0][ZEROS] = 1;
    columns.publish();
}
