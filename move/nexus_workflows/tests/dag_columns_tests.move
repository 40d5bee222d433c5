/// Which columns cannot be added to a workflow.
#[test_only]
module nexus_workflows::dag_columns_tests;

use nexus_workflows::dag;
use nexus_workflows::dag_runner::{columns, publish_with};
use nexus_workflows::plan;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;
const NUMBER: u64 = 0;
const INPUT: u64 = 2;
const KIND: u64 = 3;
const EACH: u64 = 0;
const COLLECT: u64 = 4;

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun a_kind_is_one_of_five() {
    publish_with(EACH, KIND, 5);
}

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun a_port_has_a_small_number() {
    publish_with(EACH, INPUT, 256);
}

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun an_edge_has_a_number_below_the_blocks() {
    publish_with(EACH, NUMBER, BLOCKS);
}

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun a_source_feeds_a_port() {
    let mut columns = columns();
    *&mut columns.fed_ports()[0] = 3;
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun a_source_has_an_origin_and_a_kind() {
    let mut columns = columns();
    *&mut columns.sources()[0] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EWrongRow)]
fun an_edge_has_nine_numbers() {
    let mut columns = columns();
    columns.edges()[COLLECT].pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ETooLarge)]
fun attempts_are_ninety_days_apart_at_most() {
    let mut columns = columns();
    *&mut columns.retry_after_ms()[0] = 7_776_000_001;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ETooLarge)]
fun a_vertex_is_in_eight_blocks_at_most() {
    let mut columns = columns();
    *&mut columns.blocks()[1] = vector[0, 0, 0, 0, 0, 0, 0, 0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ETooLarge)]
fun a_block_is_in_seven_others_at_most() {
    let mut columns = columns();
    *&mut columns.around()[1] = vector[0, 0, 0, 0, 0, 0, 0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ETooLarge)]
fun a_group_has_few_vertices() {
    let mut columns = columns();
    columns.groups().push_back(vector::tabulate!(129, |_| 0));
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ETooLarge)]
fun there_are_few_groups() {
    let mut columns = columns();
    *columns.groups() = vector::tabulate!(257, |_| vector[]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPortTwice)]
fun a_port_is_added_once() {
    let mut columns = columns();
    *&mut columns.names()[5] = b"in";
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_port_has_a_short_name() {
    let mut columns = columns();
    *&mut columns.names()[0] = b"a_name_of_more_than_thirty-two_bytes";
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_variant_has_a_short_name() {
    let mut columns = columns();
    *&mut columns.variants()[0] = b"a_name_of_more_than_thirty-two_bytes";
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPage)]
fun a_port_is_on_its_page() {
    let mut columns = columns();
    *&mut columns.ports()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPage)]
fun a_source_is_on_its_page() {
    let mut columns = columns();
    *&mut columns.fed()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPage)]
fun an_edge_is_on_its_page() {
    let mut columns = columns();
    *&mut columns.leading()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EWrongPage)]
fun a_list_is_on_its_page() {
    let mut columns = columns();
    *&mut columns.collecting()[0] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_vertex_has_few_ports() {
    let mut columns = columns();
    *columns.ports() = vector::tabulate!(33, |_| 0);
    *columns.names() = vector::tabulate!(33, |i| vector[65 + (i as u8)]);
    *columns.flags() = vector::tabulate!(33, |_| 0);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_variant_has_few_edges() {
    let mut columns = columns();
    *columns.leading() = vector::tabulate!(33, |_| 0);
    *columns.variants() = vector::tabulate!(33, |_| b"ok");
    *columns.edges() = vector::tabulate!(33, |_| vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_vertex_has_few_variants() {
    let mut columns = columns();
    *columns.leading() = vector::tabulate!(33, |_| 0);
    *columns.variants() = vector::tabulate!(33, |i| vector[65 + (i as u8)]);
    *columns.edges() = vector::tabulate!(33, |_| vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_port_has_few_sources() {
    let mut columns = columns();
    *columns.fed() = vector::tabulate!(33, |_| 5);
    *columns.fed_ports() = vector::tabulate!(33, |_| 0);
    *columns.sources() = vector::tabulate!(33, |_| vector[4, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_block_needs_few_ports() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector::tabulate!(33, |_| 1);
    *&mut columns.needed_ports()[0] = vector::tabulate!(33, |_| 0);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun few_vertices_begin_iterations() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector::tabulate!(33, |_| 1);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_loop_starts_little() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector::tabulate!(33, |_| 5);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_region_gives_few_lists() {
    let mut columns = columns();
    *columns.collecting() = vector::tabulate!(33, |_| 0);
    *columns.collects() = vector::tabulate!(33, |i| vector[4, 4, i as u16, 0, 0, 0, NONE, NONE, 0]);
    *columns.collected() = vector::tabulate!(33, |_| vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::ETooLarge)]
fun a_list_has_few_sources() {
    let mut columns = columns();
    *&mut columns.collected()[0] = vector::tabulate!(33, |_| 3);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun are_regions_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.are_regions().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun around_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.around().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun needs_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.needs().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun needed_ports_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.needed_ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun cursors_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.cursors().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun starts_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.starts().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun collecting_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.collecting().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun collects_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.collects().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun collected_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.collected().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun tools_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.tools().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun blocks_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.blocks().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun beginning_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.beginning().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun attempts_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.attempts().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun retry_after_ms_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.retry_after_ms().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun parallel_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.parallel().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun ports_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun names_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.names().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun flags_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.flags().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun fed_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.fed().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun fed_ports_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.fed_ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun sources_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.sources().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun leading_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.leading().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun variants_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.variants().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun edges_are_as_many_as_the_others() {
    let mut columns = columns();
    columns.edges().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun each_need_has_a_vertex_and_a_port() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector[1, 1];
    columns.publish();
}
