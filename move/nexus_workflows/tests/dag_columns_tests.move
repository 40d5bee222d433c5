/// Tests of columns that cannot be added to a draft.
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

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edges_rejects_an_unknown_kind() {
    publish_with(EACH, KIND, 5);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edges_rejects_a_port_above_255() {
    publish_with(EACH, INPUT, 256);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edges_rejects_an_edge_number_of_a_block() {
    publish_with(EACH, NUMBER, BLOCKS);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_sources_rejects_a_missing_port() {
    let mut columns = columns();
    *&mut columns.source_ports()[0] = 3;
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_sources_rejects_a_short_row() {
    let mut columns = columns();
    *&mut columns.sources()[0] = vector[4];
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edges_rejects_a_short_row() {
    let mut columns = columns();
    columns.edges()[COLLECT].pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_vertices_rejects_a_retry_delay_above_90_days() {
    let mut columns = columns();
    *&mut columns.retry_after_ms()[0] = 7_776_000_001;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_vertices_rejects_nine_blocks() {
    let mut columns = columns();
    *&mut columns.blocks()[1] = vector[0, 0, 0, 0, 0, 0, 0, 0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_blocks_rejects_eight_outer_blocks() {
    let mut columns = columns();
    *&mut columns.enclosing()[1] = vector[0, 0, 0, 0, 0, 0, 0, 0];
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_group_rejects_129_vertices() {
    let mut columns = columns();
    columns.groups().push_back(vector::tabulate!(129, |_| 0));
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EPlanTooLarge)]
fun add_group_rejects_more_than_256_groups() {
    let mut columns = columns();
    *columns.groups() = vector::tabulate!(257, |_| vector[]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EDuplicatePort)]
fun add_ports_rejects_a_duplicate() {
    let mut columns = columns();
    *&mut columns.names()[5] = b"in";
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_ports_rejects_a_long_name() {
    let mut columns = columns();
    *&mut columns.names()[0] = b"a_name_of_more_than_thirty-two_bytes";
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_edges_rejects_a_long_variant_name() {
    let mut columns = columns();
    *&mut columns.variants()[0] = b"a_name_of_more_than_thirty-two_bytes";
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_ports_rejects_a_vertex_of_another_page() {
    let mut columns = columns();
    *&mut columns.ports()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_sources_rejects_a_vertex_of_another_page() {
    let mut columns = columns();
    *&mut columns.source_vertices()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_edges_rejects_a_vertex_of_another_page() {
    let mut columns = columns();
    *&mut columns.edge_vertices()[0] = 7;
    columns.publish();
}

#[test, expected_failure(abort_code = dag::EInvalidPage)]
fun add_collect_edges_rejects_a_block_of_another_page() {
    let mut columns = columns();
    *&mut columns.collect_blocks()[0] = 4;
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_ports_rejects_a_33rd_port() {
    let mut columns = columns();
    *columns.ports() = vector::tabulate!(33, |_| 0);
    *columns.names() = vector::tabulate!(33, |i| vector[65 + (i as u8)]);
    *columns.flags() = vector::tabulate!(33, |_| 0);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_edges_rejects_a_33rd_edge() {
    let mut columns = columns();
    *columns.edge_vertices() = vector::tabulate!(33, |_| 0);
    *columns.variants() = vector::tabulate!(33, |_| b"ok");
    *columns.edges() = vector::tabulate!(33, |_| vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_edges_rejects_a_33rd_variant() {
    let mut columns = columns();
    *columns.edge_vertices() = vector::tabulate!(33, |_| 0);
    *columns.variants() = vector::tabulate!(33, |i| vector[65 + (i as u8)]);
    *columns.edges() = vector::tabulate!(33, |_| vector[0, 1, 0, 1, 0, 0, 0, 0, NONE]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_sources_rejects_a_33rd_source() {
    let mut columns = columns();
    *columns.source_vertices() = vector::tabulate!(33, |_| 5);
    *columns.source_ports() = vector::tabulate!(33, |_| 0);
    *columns.sources() = vector::tabulate!(33, |_| vector[4, 0]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_blocks_rejects_a_33rd_need() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector::tabulate!(33, |_| 1);
    *&mut columns.needed_ports()[0] = vector::tabulate!(33, |_| 0);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_blocks_rejects_a_33rd_cursor() {
    let mut columns = columns();
    *&mut columns.cursors()[0] = vector::tabulate!(33, |_| 1);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_blocks_rejects_a_33rd_start() {
    let mut columns = columns();
    *&mut columns.starts()[1] = vector::tabulate!(33, |_| 5);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_collect_edges_rejects_a_33rd_list() {
    let mut columns = columns();
    *columns.collect_blocks() = vector::tabulate!(33, |_| 0);
    *columns.collect_edges() = vector::tabulate!(
        33,
        |i| vector[4, 4, i as u16, 0, 0, 0, NONE, NONE, 0],
    );
    *columns.collect_sources() = vector::tabulate!(33, |_| vector[3]);
    columns.publish();
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_collect_edges_rejects_a_33rd_source() {
    let mut columns = columns();
    *&mut columns.collect_sources()[0] = vector::tabulate!(33, |_| 3);
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_are_regions() {
    let mut columns = columns();
    columns.are_regions().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_enclosing() {
    let mut columns = columns();
    columns.enclosing().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_needs() {
    let mut columns = columns();
    columns.needs().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_needed_ports() {
    let mut columns = columns();
    columns.needed_ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_cursors() {
    let mut columns = columns();
    columns.cursors().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_fewer_starts() {
    let mut columns = columns();
    columns.starts().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_collect_edges_rejects_fewer_blocks() {
    let mut columns = columns();
    columns.collect_blocks().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_collect_edges_rejects_fewer_rows() {
    let mut columns = columns();
    columns.collect_edges().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_collect_edges_rejects_fewer_sources() {
    let mut columns = columns();
    columns.collect_sources().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_tools() {
    let mut columns = columns();
    columns.tools().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_blocks() {
    let mut columns = columns();
    columns.blocks().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_groups() {
    let mut columns = columns();
    columns.vertex_groups().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_attempts() {
    let mut columns = columns();
    columns.attempts().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_retry_after_ms() {
    let mut columns = columns();
    columns.retry_after_ms().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_vertices_rejects_fewer_parallel() {
    let mut columns = columns();
    columns.parallel().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_ports_rejects_fewer_vertices() {
    let mut columns = columns();
    columns.ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_ports_rejects_fewer_names() {
    let mut columns = columns();
    columns.names().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_ports_rejects_fewer_flags() {
    let mut columns = columns();
    columns.flags().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_sources_rejects_fewer_vertices() {
    let mut columns = columns();
    columns.source_vertices().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_sources_rejects_fewer_ports() {
    let mut columns = columns();
    columns.source_ports().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_sources_rejects_fewer_rows() {
    let mut columns = columns();
    columns.sources().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_edges_rejects_fewer_vertices() {
    let mut columns = columns();
    columns.edge_vertices().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_edges_rejects_fewer_variants() {
    let mut columns = columns();
    columns.variants().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_edges_rejects_a_missing_row() {
    let mut columns = columns();
    columns.edges().pop_back();
    columns.publish();
}

#[test, expected_failure(abort_code = dag::ELengthMismatch)]
fun add_blocks_rejects_a_need_without_a_port() {
    let mut columns = columns();
    *&mut columns.needs()[0] = vector[1, 1];
    columns.publish();
}
