/// Tests of plans that `check_page` rejects. Each test changes one number of a valid plan.
#[test_only]
module nexus_workflows::dag_check_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, publish_with};

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;
const NUMBER: u64 = 0;
const VERTEX: u64 = 1;
const INPUT: u64 = 2;
const KIND: u64 = 3;
const PREFIX_LENGTH: u64 = 4;
const ZEROS: u64 = 5;
const SCOPE: u64 = 6;
const ELEMENT: u64 = 7;
const LEFT_REGION: u64 = 8;
const ROUND: u64 = 9;
const EACH: u64 = 0;
const ENTER: u64 = 1;
const AGAIN: u64 = 2;
const BREAK: u64 = 3;
const COLLECT: u64 = 4;
const STATIC: u64 = 6;
const EACH_INSIDE: u64 = 7;

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_edge_to_a_missing_vertex() {
    publish_with(EACH, VERTEX, 7);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_edge_to_a_missing_port() {
    publish_with(EACH, INPUT, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_prefix_beyond_the_shared_blocks() {
    publish_with(AGAIN, PREFIX_LENGTH, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_too_many_zeros() {
    publish_with(ENTER, ZEROS, 2);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_duplicate_edge_number() {
    publish_with(BREAK, NUMBER, 2);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_for_each_at_an_outer_block() {
    publish_with(EACH_INSIDE, ELEMENT, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_for_each_without_an_element() {
    publish_with(EACH, ELEMENT, NONE);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_element_of_a_normal_edge() {
    publish_with(ENTER, ELEMENT, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_entering_a_region_without_scope() {
    publish_with(EACH, SCOPE, NONE);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_another_region_as_scope() {
    publish_with(EACH, SCOPE, 3);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_loop_as_scope() {
    publish_with(ENTER, SCOPE, 2);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_zeros_in_a_region() {
    publish_with(EACH, ZEROS, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_entering_a_loop_without_a_zero() {
    publish_with(ENTER, ZEROS, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_wrong_rounds() {
    publish_with(ENTER, ROUND, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_edge_to_a_normal_port() {
    publish_with(STATIC, INPUT, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_normal_edge_to_a_static_port() {
    publish_with(STATIC, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_static_edge_that_enters_no_block() {
    publish_with(COLLECT, KIND, 4);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_zeros_of_a_static_edge() {
    publish_with(STATIC, ZEROS, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_leaving_a_loop_without_break() {
    publish_with(BREAK, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_break_that_stays() {
    publish_with(EACH_INSIDE, KIND, 3);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_leaving_a_region_without_collect() {
    publish_with(COLLECT, LEFT_REGION, NONE);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_that_splits_a_list() {
    publish_with(COLLECT, KIND, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_from_another_region() {
    publish_with(COLLECT, LEFT_REGION, 1);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_from_a_loop() {
    publish_with(BREAK, LEFT_REGION, 2);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_collect_that_enters_a_block() {
    publish_with(ENTER, LEFT_REGION, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_do_while_that_enters_a_loop() {
    publish_with(ENTER, KIND, 2);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_zeros_outside_blocks() {
    publish_with(5, VERTEX, 0);
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_for_each_that_enters_no_region() {
    let mut columns = columns();
    // The edge leads from the head of the loop to itself, but also leaves and enters the region
    // around it.
    *&mut columns.edges()[ENTER] = vector[1, 3, 0, 1, 1, 0, NONE, 0, NONE];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_scope_outside_blocks() {
    let mut columns = columns();
    columns.edges().push_back(vector[11, 4, 1, 0, 0, 0, 0, NONE, NONE]);
    columns.edge_vertices().push_back(0);
    columns.variants().push_back(b"ok");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_do_while_in_a_region() {
    let mut columns = columns();
    columns.edges().push_back(vector[10, 1, 0, 2, 1, 0, NONE, NONE, NONE]);
    columns.edge_vertices().push_back(1);
    columns.variants().push_back(b"ok");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_entering_a_block_without_its_need() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector[3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_edge_to_an_unneeded_port_of_a_cursor() {
    let mut columns = columns();
    columns.edges().push_back(vector[10, 1, 1, 0, 1, 0, NONE, NONE, NONE]);
    columns.edge_vertices().push_back(3);
    columns.variants().push_back(b"more");
    columns.ports().push_back(1);
    columns.names().push_back(b"late");
    columns.flags().push_back(0);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_an_edge_to_a_static_port_of_a_cursor() {
    let mut columns = columns();
    *&mut columns.flags()[1] = 4;
    *&mut columns.edges()[EACH] = vector[0, 1, 0, 4, 0, 0, 0, NONE, NONE];
    columns.edges().push_back(vector[10, 1, 0, 0, 1, 0, NONE, NONE, NONE]);
    columns.edge_vertices().push_back(3);
    columns.variants().push_back(b"more");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_without_its_source() {
    let mut columns = columns();
    *&mut columns.collect_sources()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_missing_list_source() {
    let mut columns = columns();
    *&mut columns.collect_sources()[0] = vector[3, 7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_without_sources() {
    let mut columns = columns();
    columns.edges().pop_back();
    columns.edge_vertices().pop_back();
    columns.variants().pop_back();
    *&mut columns.collect_sources()[1] = vector[];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_source_listed_twice() {
    let mut columns = columns();
    *&mut columns.collect_sources()[0] = vector[3, 3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_list_sources_in_descending_order() {
    let mut columns = columns();
    *&mut columns.collect_sources()[0] = vector[3, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_with_another_target() {
    let mut columns = columns();
    *&mut columns.collect_edges()[0][INPUT] = 1;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_of_another_region() {
    let mut columns = columns();
    *&mut columns.collect_edges()[1][LEFT_REGION] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_two_lists_for_one_port() {
    let mut columns = columns();
    columns.collect_blocks().push_back(0);
    columns.collect_edges().push_back(vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collect_sources().push_back(vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_list_of_a_loop() {
    let mut columns = columns();
    columns.collect_blocks().push_back(1);
    columns.collect_edges().push_back(vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collect_sources().push_back(vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_cursors_of_a_loop() {
    let mut columns = columns();
    *&mut columns.cursors()[1] = vector[5];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_starts_of_a_region() {
    let mut columns = columns();
    *&mut columns.starts()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_cursor_outside_its_region() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_missing_cursor() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_duplicate_cursor() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[1, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_cursor_in_an_inner_region() {
    let mut columns = columns();
    // This change turns the loop around the region into a region.
    *&mut columns.are_regions()[1] = true;
    *&mut columns.starts()[1] = vector[];
    *&mut columns.cursors()[1] = vector[6];
    *&mut *columns.edges() = vector[];
    *&mut *columns.edge_vertices() = vector[];
    *&mut *columns.variants() = vector[];
    *&mut *columns.collect_blocks() = vector[];
    *&mut *columns.collect_edges() = vector[];
    *&mut *columns.collect_sources() = vector[];
    *&mut *columns.source_vertices() = vector[];
    *&mut *columns.source_ports() = vector[];
    *&mut *columns.sources() = vector[];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_loop_that_opens_after_its_region() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[1, 2];
    *&mut columns.needs()[0] = vector[1, 2];
    *&mut columns.needed_ports()[0] = vector[0, 0];
    *&mut columns.needs()[2] = vector[2];
    *&mut columns.needed_ports()[2] = vector[1];
    columns.ports().push_back(2);
    columns.names().push_back(b"kept");
    columns.flags().push_back(0);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_need_outside_the_block() {
    let mut columns = columns();
    *&mut columns.needs()[3] = vector[6, 5];
    *&mut columns.needed_ports()[3] = vector[0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_need_of_a_missing_port() {
    let mut columns = columns();
    *&mut columns.needs()[3] = vector[6, 6];
    *&mut columns.needed_ports()[3] = vector[0, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_outside_the_loop() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_of_a_missing_block() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[BLOCKS + 4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_of_a_loop() {
    let mut columns = columns();
    *&mut columns.starts()[2] = vector[BLOCKS + 2];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_of_a_region_outside() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[BLOCKS + 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_start_inside_an_inner_region() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[6];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_group_with_a_missing_vertex() {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_group_vertex_without_the_group() {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_vertex_that_its_group_omits() {
    let mut columns = columns();
    *&mut columns.vertex_groups()[4] = vector[0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_missing_group() {
    let mut columns = columns();
    *&mut columns.vertex_groups()[0] = vector[0, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_vertex_without_default_values() {
    let mut columns = columns();
    columns.defaults().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_port_without_its_default_value() {
    let mut columns = columns();
    *&mut columns.flags()[4] = 2;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_defaults_rejects_a_second_call() {
    let mut columns = columns();
    columns.defaults().push_back(4);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_source_with_a_missing_vertex() {
    let mut columns = columns();
    *&mut columns.sources()[0][0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_source_with_a_missing_block() {
    let mut columns = columns();
    *&mut columns.sources()[0][0] = BLOCKS + 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun check_rejects_a_do_while_source_outside_loops() {
    let mut columns = columns();
    *&mut columns.source_vertices()[1] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_a_missing_tool() {
    let mut columns = columns();
    *&mut columns.tools()[0] = 1;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_zero_attempts() {
    let mut columns = columns();
    *&mut columns.attempts()[0] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_zero_parallel_iterations() {
    let mut columns = columns();
    *&mut columns.parallel()[0] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_a_missing_block() {
    let mut columns = columns();
    *&mut columns.blocks()[1] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_blocks_rejects_an_outer_block_added_later() {
    let mut columns = columns();
    *&mut columns.enclosing()[2] = vector[3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_another_outer_block() {
    let mut columns = columns();
    *&mut columns.blocks()[2] = vector[1, 2];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPlan)]
fun add_vertices_rejects_a_missing_outer_block() {
    let mut columns = columns();
    *&mut columns.blocks()[2] = vector[2];
    columns.publish();
}
