/// What the checks of a workflow refuse: one number of a sound one is changed.
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
const KEEPS: u64 = 4;
const ZEROS: u64 = 5;
const SCOPE: u64 = 6;
const ELEMENT: u64 = 7;
const LEFT: u64 = 8;
const ROUND: u64 = 9;
const EACH: u64 = 0;
const ENTER: u64 = 1;
const AGAIN: u64 = 2;
const BREAK: u64 = 3;
const COLLECT: u64 = 4;
const STATIC: u64 = 6;
const EACH_INSIDE: u64 = 7;

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_leads_to_a_vertex() {
    publish_with(EACH, VERTEX, 7);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_leads_to_a_port() {
    publish_with(EACH, INPUT, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_keeps_what_both_ends_share() {
    publish_with(AGAIN, KEEPS, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_enters_no_more_than_there_is() {
    publish_with(ENTER, ZEROS, 2);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_has_a_number_of_its_own() {
    publish_with(BREAK, NUMBER, 2);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_is_split_at_the_innermost_region() {
    publish_with(EACH_INSIDE, ELEMENT, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_is_split_at_a_region() {
    publish_with(EACH, ELEMENT, NONE);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_normal_edge_splits_nothing() {
    publish_with(ENTER, ELEMENT, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_region_is_entered_by_its_scope() {
    publish_with(EACH, SCOPE, NONE);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_scope_is_where_the_zeros_end() {
    publish_with(EACH, SCOPE, 3);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_is_no_scope() {
    publish_with(ENTER, SCOPE, 2);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_region_has_no_first_round() {
    publish_with(EACH, ZEROS, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_is_entered_in_its_first_round() {
    publish_with(ENTER, ZEROS, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_value_serves_the_first_round_alone() {
    publish_with(ENTER, ROUND, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_edge_leads_to_a_static_port() {
    publish_with(STATIC, INPUT, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_port_gets_static_values_from_outside() {
    publish_with(STATIC, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_edge_enters_a_block() {
    publish_with(COLLECT, KIND, 4);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_static_value_is_kept_in_the_first_block() {
    publish_with(STATIC, ZEROS, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_break_leaves_a_loop() {
    publish_with(BREAK, KIND, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_stays_breaks_nothing() {
    publish_with(EACH_INSIDE, KIND, 3);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_region_is_left_by_collect() {
    publish_with(COLLECT, LEFT, NONE);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_region_is_not_broken() {
    publish_with(COLLECT, KIND, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_collect_leaves_its_own_region() {
    publish_with(COLLECT, LEFT, 1);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_is_not_collected() {
    publish_with(BREAK, LEFT, 2);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_entered_block_is_not_left() {
    publish_with(ENTER, LEFT, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_next_round_stays_in_the_loop() {
    publish_with(ENTER, KIND, 2);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun outside_all_blocks_nothing_is_kept() {
    publish_with(5, VERTEX, 0);
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_split_list_enters_a_region() {
    let mut columns = columns();
    // From the head of the loop back to itself, in the region around.
    *&mut columns.edges()[ENTER] = vector[1, 3, 0, 1, 1, 0, NONE, 0, NONE];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_edge_to_a_vertex_outside_is_plain() {
    let mut columns = columns();
    columns.edges().push_back(vector[11, 4, 1, 0, 0, 0, 0, NONE, NONE]);
    columns.leading().push_back(0);
    columns.variants().push_back(b"ok");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_next_round_is_that_of_a_loop() {
    let mut columns = columns();
    columns.edges().push_back(vector[10, 1, 0, 2, 1, 0, NONE, NONE, NONE]);
    columns.leading().push_back(1);
    columns.variants().push_back(b"ok");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_enters_is_needed() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector[3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_iteration_begins_in_one_way() {
    let mut columns = columns();
    columns.edges().push_back(vector[10, 1, 1, 0, 1, 0, NONE, NONE, NONE]);
    columns.leading().push_back(3);
    columns.variants().push_back(b"more");
    columns.ports().push_back(1);
    columns.names().push_back(b"late");
    columns.flags().push_back(0);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun an_iteration_begins_with_what_is_not_static() {
    let mut columns = columns();
    *&mut columns.flags()[1] = 4;
    *&mut columns.edges()[EACH] = vector[0, 1, 0, 4, 0, 0, 0, NONE, NONE];
    columns.edges().push_back(vector[10, 1, 0, 0, 1, 0, NONE, NONE, NONE]);
    columns.leading().push_back(3);
    columns.variants().push_back(b"more");
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_is_collected_is_gathered() {
    let mut columns = columns();
    *&mut columns.collected()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_source_of_a_list_exists() {
    let mut columns = columns();
    *&mut columns.collected()[0] = vector[3, 7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_has_a_source() {
    let mut columns = columns();
    columns.edges().pop_back();
    columns.leading().pop_back();
    columns.variants().pop_back();
    *&mut columns.collected()[1] = vector[];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_source_of_a_list_is_told_as_often_as_it_has_edges() {
    let mut columns = columns();
    *&mut columns.collected()[0] = vector[3, 3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun the_sources_of_a_list_ascend() {
    let mut columns = columns();
    *&mut columns.collected()[0] = vector[3, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_leads_where_its_edges_do() {
    let mut columns = columns();
    *&mut columns.collects()[0][INPUT] = 1;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_list_is_that_of_the_region() {
    let mut columns = columns();
    *&mut columns.collects()[1][LEFT] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_port_gets_one_list_of_a_region() {
    let mut columns = columns();
    columns.collecting().push_back(0);
    columns.collects().push_back(vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collected().push_back(vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_collects_nothing() {
    let mut columns = columns();
    columns.collecting().push_back(1);
    columns.collects().push_back(vector[4, 4, 0, 0, 0, 0, NONE, NONE, 0]);
    columns.collected().push_back(vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_has_no_iterations() {
    let mut columns = columns();
    *&mut columns.cursors()[1] = vector[5];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_region_starts_by_its_iterations() {
    let mut columns = columns();
    *&mut columns.starts()[0] = vector[1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun iterations_begin_with_a_vertex_inside() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun iterations_begin_with_a_vertex() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun iterations_begin_with_a_vertex_once() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector[1, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun iterations_begin_in_the_innermost_region() {
    let mut columns = columns();
    // The loop around the region becomes one.
    *&mut columns.are_regions()[1] = true;
    *&mut columns.starts()[1] = vector[];
    *&mut columns.cursors()[1] = vector[6];
    *&mut *columns.edges() = vector[];
    *&mut *columns.leading() = vector[];
    *&mut *columns.variants() = vector[];
    *&mut *columns.collecting() = vector[];
    *&mut *columns.collects() = vector[];
    *&mut *columns.collected() = vector[];
    *&mut *columns.fed() = vector[];
    *&mut *columns.fed_ports() = vector[];
    *&mut *columns.sources() = vector[];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_between_opens_with_the_region() {
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

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_a_block_needs_is_inside() {
    let mut columns = columns();
    *&mut columns.needs()[3] = vector[6, 5];
    *&mut columns.needed_ports()[3] = vector[0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun what_a_block_needs_is_a_port() {
    let mut columns = columns();
    *&mut columns.needs()[3] = vector[6, 6];
    *&mut columns.needed_ports()[3] = vector[0, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_what_is_inside() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_blocks_that_exist() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[BLOCKS + 4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_regions() {
    let mut columns = columns();
    *&mut columns.starts()[2] = vector[BLOCKS + 2];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_regions_inside() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[BLOCKS + 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_loop_starts_nothing_in_a_region_inside() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector[6];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_group_names_vertices() {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 7];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_vertex_knows_the_groups_that_begin_with_it() {
    let mut columns = columns();
    *&mut columns.groups()[0] = vector[0, 4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_group_begins_with_the_vertices_that_say_so() {
    let mut columns = columns();
    *&mut columns.beginning()[4] = vector[0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_vertex_names_groups() {
    let mut columns = columns();
    *&mut columns.beginning()[0] = vector[0, 1];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_default_value_exists() {
    let mut columns = columns();
    columns.defaults().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_default_value_is_that_of_the_port() {
    let mut columns = columns();
    *&mut columns.flags()[4] = 2;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun default_values_are_given_once() {
    let mut columns = columns();
    columns.defaults().push_back(4);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_source_is_a_vertex() {
    let mut columns = columns();
    *&mut columns.sources()[0][0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_source_is_a_block() {
    let mut columns = columns();
    *&mut columns.sources()[0][0] = BLOCKS + 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_source_brings_again_in_a_loop() {
    let mut columns = columns();
    *&mut columns.fed()[1] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_tool_is_one_of_those_named() {
    let mut columns = columns();
    *&mut columns.tools()[0] = 1;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_vertex_is_tried_at_least_once() {
    let mut columns = columns();
    *&mut columns.attempts()[0] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun one_iteration_at_least_is_under_way() {
    let mut columns = columns();
    *&mut columns.parallel()[0] = 0;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_block_around_a_vertex_exists() {
    let mut columns = columns();
    *&mut columns.blocks()[1] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun a_block_around_a_block_comes_before_it() {
    let mut columns = columns();
    *&mut columns.around()[2] = vector[3];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun blocks_lie_in_each_other() {
    let mut columns = columns();
    *&mut columns.blocks()[2] = vector[1, 2];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPlan)]
fun all_blocks_around_are_named() {
    let mut columns = columns();
    *&mut columns.blocks()[2] = vector[2];
    columns.publish();
}
