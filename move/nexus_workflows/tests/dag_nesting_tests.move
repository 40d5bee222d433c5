/// Tests of checks of nested blocks, with workflows that have more nested blocks than `dag_runner`.
#[test_only]
module nexus_workflows::dag_nesting_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, Columns};

use fun need as Columns.need;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

// === Valid plans ===

#[test]
fun check_accepts_values_that_enter_two_regions_in_turn() {
    let mut columns = nested(true, true);
    columns.need(0, 1);
    columns.need(1, 1);
    columns.add_edge(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 1, NONE]);
    columns.add_edge(2, b"ok", vector[1, 1, 0, 1, 1, 0, 1, 1, NONE]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_lists_that_leave_two_regions_in_turn() {
    let mut columns = nested(true, true);
    columns.add_edge(1, b"ok", vector[0, 2, 0, 0, 1, 0, NONE, NONE, 1]);
    columns.add_edge(2, b"ok", vector[1, 3, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.add_list(1, vector[0, 2, 0, 0, 1, 0, NONE, NONE, 1], vector[1]);
    columns.add_list(0, vector[1, 3, 0, 0, 0, 0, NONE, NONE, 0], vector[2]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_list_into_a_region_inside_a_loop() {
    let mut columns = nested(false, true);
    columns.need(1, 1);
    *&mut columns.cursors()[1] = vector[1];
    *&mut columns.starts()[0] = vector[2, BLOCKS + 1];
    columns.add_edge(0, b"ok", vector[0, 1, 0, 1, 0, 1, 1, 1, NONE, 0]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_cursor_in_a_loop_that_opens_with_the_region() {
    let mut columns = nested(true, false);
    columns.need(0, 1);
    columns.need(1, 1);
    *&mut columns.cursors()[0] = vector[1];
    columns.add_edge(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 0, NONE, 1]);
    // A later round does not start the iteration again, whether or not the region needs the port.
    columns.add_port(1, b"last", 0);
    columns.add_edge(1, b"ok", vector[1, 1, 1, 2, 2, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_entering_two_loops_at_once() {
    let mut columns = nested(false, false);
    columns.add_edge(0, b"ok", vector[0, 1, 0, 0, 0, 2, NONE, NONE, NONE, 0, 1]);
    columns.add_edge(1, b"ok", vector[1, 2, 0, 3, 1, 0, NONE, NONE, NONE]);
    columns.add_edge(2, b"ok", vector[2, 3, 0, 3, 0, 0, NONE, NONE, NONE]);
    assert!(columns.is_published());
}

#[test]
fun check_accepts_a_static_value_in_the_outer_block() {
    let mut columns = nested(false, true);
    columns.need(0, 1);
    *&mut columns.flags()[1] = 4;
    columns.add_edge(0, b"ok", vector[0, 1, 0, 4, 0, 0, 0, NONE, NONE, 0]);
    assert!(columns.is_published());
}

// === Rejected plans ===

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_leaving_two_regions_at_once() {
    let mut columns = nested(true, true);
    columns.add_edge(1, b"ok", vector[0, 3, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.add_list(0, vector[0, 3, 0, 0, 0, 0, NONE, NONE, 0], vector[1]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_breaking_two_loops_at_once() {
    let mut columns = nested(false, false);
    columns.add_edge(1, b"ok", vector[0, 3, 0, 3, 0, 0, NONE, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_value_kept_in_the_inner_region() {
    let mut columns = nested(true, true);
    columns.need(1, 1);
    columns.add_edge(0, b"ok", vector[0, 1, 0, 0, 0, 0, 1, NONE, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_normal_value_kept_in_a_loop() {
    let mut columns = nested(true, false);
    columns.need(1, 1);
    columns.add_edge(2, b"ok", vector[0, 1, 0, 0, 1, 0, 1, NONE, NONE, 1]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_value_kept_in_the_inner_block() {
    let mut columns = nested(false, true);
    columns.need(1, 1);
    *&mut columns.flags()[1] = 4;
    columns.add_edge(0, b"ok", vector[0, 1, 0, 4, 0, 1, 1, NONE, NONE, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_for_each_at_the_outer_region() {
    let mut columns = nested(true, true);
    columns.need(0, 1);
    columns.add_edge(0, b"ok", vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_cursor_in_a_region_inside() {
    let mut columns = nested(true, true);
    *&mut columns.cursors()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_of_a_loop_inside() {
    let mut columns = nested(false, false);
    *&mut columns.starts()[0] = vector[BLOCKS + 1];
    columns.publish();
}

// === Setup ===

/// Return columns without edges. Vertices 0 and 3 are outside all blocks, vertex 2 is in the outer
/// block, and vertex 1 is in the inner block.
fun nested(is_outer_region: bool, is_inner_region: bool): Columns {
    let mut columns = columns();
    *columns.are_regions() = vector[is_outer_region, is_inner_region];
    *columns.enclosing() = vector[vector[], vector[0]];
    *columns.needs() = vector[vector[], vector[]];
    *columns.needed_ports() = vector[vector[], vector[]];
    *columns.cursors() = vector[vector[], vector[]];
    *columns.starts() = vector[vector[], vector[]];
    *columns.collect_blocks() = vector[];
    *columns.collect_edges() = vector[];
    *columns.collect_sources() = vector[];
    *columns.tools() = vector[0, 0, 0, 0];
    *columns.blocks() = vector[vector[], vector[0, 1], vector[0], vector[]];
    *columns.vertex_groups() = vector[vector[0], vector[], vector[], vector[]];
    *columns.attempts() = vector[1, 1, 1, 1];
    *columns.retry_after_ms() = vector[0, 0, 0, 0];
    *columns.parallel() = vector[1, 1, 1, 1];
    *columns.ports() = vector[0, 1, 2, 3];
    *columns.names() = vector[b"in", b"in", b"in", b"in"];
    *columns.flags() = vector[1, 0, 0, 0];
    *columns.source_vertices() = vector[];
    *columns.source_ports() = vector[];
    *columns.sources() = vector[];
    *columns.edge_vertices() = vector[];
    *columns.variants() = vector[];
    *columns.edges() = vector[];
    *columns.defaults() = vector[];
    columns
}

/// Make the first port of a vertex a required port of a block.
fun need(columns: &mut Columns, block: u64, vertex: u16) {
    columns.needs()[block].push_back(vertex);
    columns.needed_ports()[block].push_back(0);
}
