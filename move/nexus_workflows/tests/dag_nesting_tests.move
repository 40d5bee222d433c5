/// What the checks say of blocks in blocks: the usual workflow has few of them.
#[test_only]
module nexus_workflows::dag_nesting_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, Columns};

use fun need as Columns.need;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

// === What is sound ===

#[test]
fun values_enter_two_regions_one_after_the_other() {
    let mut columns = nested(true, true);
    columns.need(0, 1);
    columns.need(1, 1);
    columns.lead(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 1, NONE]);
    columns.lead(2, b"ok", vector[1, 1, 0, 1, 1, 0, 1, 1, NONE]);
    assert!(columns.is_published());
}

#[test]
fun lists_leave_two_regions_one_after_the_other() {
    let mut columns = nested(true, true);
    columns.lead(1, b"ok", vector[0, 2, 0, 0, 1, 0, NONE, NONE, 1]);
    columns.lead(2, b"ok", vector[1, 3, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collect(1, vector[0, 2, 0, 0, 1, 0, NONE, NONE, 1], vector[1]);
    columns.collect(0, vector[1, 3, 0, 0, 0, 0, NONE, NONE, 0], vector[2]);
    assert!(columns.is_published());
}

#[test]
fun a_list_goes_through_a_loop_into_a_region() {
    let mut columns = nested(false, true);
    columns.need(1, 1);
    *&mut columns.cursors()[1] = vector[1];
    *&mut columns.starts()[0] = vector[2, BLOCKS + 1];
    columns.lead(0, b"ok", vector[0, 1, 0, 1, 0, 1, 1, 1, NONE, 0]);
    assert!(columns.is_published());
}

#[test]
fun iterations_begin_in_a_loop_that_opens_with_the_region() {
    let mut columns = nested(true, false);
    columns.need(0, 1);
    columns.need(1, 1);
    *&mut columns.cursors()[0] = vector[1];
    columns.lead(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 0, NONE, 1]);
    // Another round is no other way to begin, be the port needed or not.
    columns.port(1, b"last", 0);
    columns.lead(1, b"ok", vector[1, 1, 1, 2, 2, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun two_loops_are_entered_at_once_and_left_one_after_the_other() {
    let mut columns = nested(false, false);
    columns.lead(0, b"ok", vector[0, 1, 0, 0, 0, 2, NONE, NONE, NONE, 0, 1]);
    columns.lead(1, b"ok", vector[1, 2, 0, 3, 1, 0, NONE, NONE, NONE]);
    columns.lead(2, b"ok", vector[2, 3, 0, 3, 0, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun a_static_value_is_kept_in_the_outer_block() {
    let mut columns = nested(false, true);
    columns.need(0, 1);
    *&mut columns.flags()[1] = 4;
    columns.lead(0, b"ok", vector[0, 1, 0, 4, 0, 0, 0, NONE, NONE, 0]);
    assert!(columns.is_published());
}

// === What is refused ===

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun two_regions_are_not_left_at_once() {
    let mut columns = nested(true, true);
    columns.lead(1, b"ok", vector[0, 3, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collect(0, vector[0, 3, 0, 0, 0, 0, NONE, NONE, 0], vector[1]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun two_loops_are_not_broken_at_once() {
    let mut columns = nested(false, false);
    columns.lead(1, b"ok", vector[0, 3, 0, 3, 0, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_value_is_not_kept_in_the_inner_region() {
    let mut columns = nested(true, true);
    columns.need(1, 1);
    columns.lead(0, b"ok", vector[0, 1, 0, 0, 0, 0, 1, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_value_that_is_not_static_is_not_kept_in_a_loop() {
    let mut columns = nested(true, false);
    columns.need(1, 1);
    columns.lead(2, b"ok", vector[0, 1, 0, 0, 1, 0, 1, NONE, NONE, 1]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_value_is_not_kept_in_the_inner_block() {
    let mut columns = nested(false, true);
    columns.need(1, 1);
    *&mut columns.flags()[1] = 4;
    columns.lead(0, b"ok", vector[0, 1, 0, 4, 0, 1, 1, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_is_not_split_at_the_outer_region() {
    let mut columns = nested(true, true);
    columns.need(0, 1);
    columns.lead(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun iterations_do_not_begin_in_a_region_inside() {
    let mut columns = nested(true, true);
    *&mut columns.cursors()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_no_loop_inside() {
    let mut columns = nested(false, false);
    *&mut columns.starts()[0] = vector[BLOCKS + 1];
    columns.publish();
}

// === Making ===

/// Vertex 0 and 3 lie outside, 2 in the outer block, and 1 in the inner one, too. No edge leads
/// anywhere.
fun nested(is_outer_region: bool, is_inner_region: bool): Columns {
    let mut columns = columns();
    *columns.are_regions() = vector[is_outer_region, is_inner_region];
    *columns.around() = vector[vector[], vector[0]];
    *columns.needs() = vector[vector[], vector[]];
    *columns.needed_ports() = vector[vector[], vector[]];
    *columns.cursors() = vector[vector[], vector[]];
    *columns.starts() = vector[vector[], vector[]];
    *columns.collecting() = vector[];
    *columns.collects() = vector[];
    *columns.collected() = vector[];
    *columns.tools() = vector[0, 0, 0, 0];
    *columns.blocks() = vector[vector[], vector[0, 1], vector[0], vector[]];
    *columns.beginning() = vector[vector[0], vector[], vector[], vector[]];
    *columns.attempts() = vector[1, 1, 1, 1];
    *columns.retry_after_ms() = vector[0, 0, 0, 0];
    *columns.parallel() = vector[1, 1, 1, 1];
    *columns.ports() = vector[0, 1, 2, 3];
    *columns.names() = vector[b"in", b"in", b"in", b"in"];
    *columns.flags() = vector[1, 0, 0, 0];
    *columns.fed() = vector[];
    *columns.fed_ports() = vector[];
    *columns.sources() = vector[];
    *columns.leading() = vector[];
    *columns.variants() = vector[];
    *columns.edges() = vector[];
    *columns.defaults() = vector[];
    columns
}

/// The block needs the first port of a vertex.
fun need(columns: &mut Columns, block: u64, vertex: u16) {
    columns.needs()[block].push_back(vertex);
    columns.needed_ports()[block].push_back(0);
}
