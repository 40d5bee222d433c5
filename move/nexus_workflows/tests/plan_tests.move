/// Tests of the rows of a plan, with the meaning of each number and with each exact limit.
#[test_only]
module nexus_workflows::plan_tests;

use nexus_workflows::plan::{Self, Block, Edge, Vertex};
use std::ascii::String;
use std::unit_test::assert_eq;

const NONE: u16 = 0xFFFF;
const BLOCKS: u16 = 0x8000;

// === Vertices and ports ===

#[test]
fun new_vertex_stores_its_arguments() {
    let vertex = a_vertex();
    assert_eq!(vertex.tool(), 7);
    assert_eq!(*vertex.blocks(), vector[3, 5]);
    assert_eq!(vertex.region(), option::some(1));
    assert_eq!(*vertex.groups(), vector[2, 4]);
    assert!(vertex.is_in_group(2) && vertex.is_in_group(4) && !vertex.is_in_group(3));
    assert_eq!(vertex.attempts(), 9);
    assert_eq!(vertex.retry_after_ms(), 1_234);
    assert_eq!(vertex.parallel(), 300);
    assert!(vertex.terminates());
    assert!(vertex.ports().is_empty() && vertex.variants().is_empty());
    let goes_on = plan::new_vertex(0, vector[], option::none(), vector[], 1, 0, 1, false);
    assert!(!goes_on.terminates() && goes_on.region().is_none());
}

#[test]
fun port_flags_are_independent() {
    let mut vertex = a_vertex();
    8u8.do!(|flags| vertex.add_port(name(flags as u64), flags));
    let ports = vertex.ports();
    let entries = vector[false, true, false, true, false, true, false, true];
    let constants = vector[false, false, true, true, false, false, true, true];
    let statics = vector[false, false, false, false, true, true, true, true];
    assert_eq!(ports.map_ref!(|port| port.is_entry()), entries);
    assert_eq!(ports.map_ref!(|port| port.has_default()), constants);
    assert_eq!(ports.map_ref!(|port| port.is_static()), statics);
    assert_eq!(ports[5].name(), name(5));
    assert!(ports[5].sources().is_empty());
}

#[test]
fun add_source_stores_the_row() {
    let mut vertex = a_vertex();
    vertex.add_port(name(0), 0);
    vertex.add_port(name(1), 0);
    vertex.add_source(1, vector[40_000, 0, 1]);
    vertex.add_source(1, vector[40_001, 1]);
    vertex.add_source(1, vector[2, 2, 0, 2]);
    assert!(vertex.ports()[0].sources().is_empty());
    let sources = vertex.ports()[1].sources();
    assert_eq!(sources.map_ref!(|source| source.origin()), vector[40_000, 40_001, 2]);
    assert_eq!(sources.map_ref!(|source| source.is_do_while()), vector[false, true, false]);
    // The first source requires a 0 as the second number of the path. The second source requires a
    // last number above 0. The third source requires a 0 as the first and third number.
    assert!(sources[0].reaches(&vector[5, 0]) && !sources[0].reaches(&vector[0, 1]));
    assert!(sources[1].reaches(&vector[0, 1]) && !sources[1].reaches(&vector[5, 0]));
    assert!(sources[2].reaches(&vector[0, 5, 0]) && !sources[2].reaches(&vector[1, 5, 0]));
    assert!(sources[2].reaches(&vector[0, 5]) && !sources[2].reaches(&vector[0, 5, 1]));
}

#[test]
fun do_while_reaches_all_rounds_except_the_first() {
    // Only the innermost number of the path affects the result.
    assert!(plan::reaches(true, &vector[], &vector[0, 0, 2]));
    assert!(plan::reaches(true, &vector[0], &vector[4, 1]));
    assert!(!plan::reaches(true, &vector[], &vector[3, 3, 0]));
    assert!(plan::reaches(false, &vector[], &vector[3, 3]));
    // A position in `rounds` beyond the end of the path is ignored.
    assert!(plan::reaches(false, &vector[2, 3], &vector[3, 3]));
    assert!(!plan::reaches(false, &vector[0, 3], &vector[3, 3]));
}

// === Edges ===

#[test]
fun add_edge_stores_the_row() {
    let edge = an_edge(vector[101, 102, 103, 0, 105, 106, 107, 108, 109, 110, 111]);
    assert_eq!(edge.number(), 101);
    assert_eq!(edge.port(), b"out".to_ascii_string());
    assert_eq!(edge.vertex(), 102);
    assert_eq!(edge.input(), 103);
    assert!(edge.is_normal());
    assert_eq!(edge.prefix_length(), 105);
    assert_eq!(edge.zeros(), 106);
    assert_eq!(edge.scope(), option::some(107));
    assert_eq!(edge.element(), option::some(108));
    assert_eq!(edge.left_region(), option::some(109));
    assert_eq!(*edge.rounds(), vector[110, 111]);
}

#[test]
fun edge_has_one_of_five_kinds() {
    5u16.do!(|kind| {
        let edge = an_edge(vector[0, 0, 0, kind, 0, 0, NONE, NONE, NONE]);
        let mut kinds = vector[false, false, false, false, false];
        *&mut kinds[kind as u64] = true;
        let is = vector[
            edge.is_normal(),
            edge.is_for_each(),
            edge.is_do_while(),
            edge.is_break(),
            edge.is_static(),
        ];
        assert_eq!(is, kinds);
    });
}

#[test]
fun edge_reads_65535_as_none() {
    let scoped = an_edge(vector[0, 0, 0, 0, 0, 0, 0xFFFE, NONE, NONE]);
    assert_eq!(scoped.scope(), option::some(0xFFFE));
    assert!(scoped.element().is_none() && scoped.left_region().is_none());
    let split = an_edge(vector[0, 0, 0, 0, 0, 0, NONE, 255, NONE]);
    assert_eq!(split.element(), option::some(255));
    assert!(split.scope().is_none() && split.left_region().is_none());
    let left_region = an_edge(vector[0, 0, 0, 0, 0, 0, NONE, NONE, 0xFFFE]);
    assert_eq!(left_region.left_region(), option::some(0xFFFE));
    assert!(left_region.scope().is_none());
    assert!(left_region.element().is_none());
    assert!(left_region.rounds().is_empty());
}

#[test]
fun add_edge_accepts_the_largest_numbers() {
    let edge = an_edge(vector[0x7FFF, 0xFFFF, 255, 4, 255, 255, 0xFFFE, 255, 0xFFFE, 255]);
    assert_eq!(edge.number(), 0x7FFF);
    assert_eq!(edge.vertex(), 0xFFFF);
    assert_eq!(edge.input(), 255);
    assert_eq!(edge.prefix_length() + edge.zeros(), 510);
    assert_eq!(edge.element(), option::some(255));
    assert_eq!(*edge.rounds(), vector[255]);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edge_rejects_a_prefix_length_above_255() {
    an_edge(vector[0, 0, 0, 0, 256, 0, NONE, NONE, NONE]);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edge_rejects_zeros_above_255() {
    an_edge(vector[0, 0, 0, 0, 0, 256, NONE, NONE, NONE]);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edge_rejects_an_element_above_255() {
    an_edge(vector[0, 0, 0, 0, 0, 0, NONE, 256, NONE]);
}

#[test, expected_failure(abort_code = plan::EInvalidRow)]
fun add_edge_rejects_a_round_above_255() {
    an_edge(vector[0, 0, 0, 0, 0, 0, NONE, NONE, NONE, 256]);
}

#[test]
fun edge_is_plain_without_blocks() {
    assert!(an_edge(vector[9, 8, 7, 0, 0, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 1, 0, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 2, 0, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 3, 0, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 4, 0, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 1, 0, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 0, 1, NONE, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 0, 0, 0, NONE, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 0, 0, NONE, 0, NONE]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 0, 0, NONE, NONE, 0]).is_plain());
    assert!(!an_edge(vector[9, 8, 7, 0, 0, 0, NONE, NONE, NONE, 0]).is_plain());
}

#[test]
fun target_path_and_source_path_are_inverse() {
    // The edge leads out of one block and into two loops.
    let over = an_edge(vector[0, 0, 0, 0, 1, 2, NONE, NONE, NONE]);
    assert_eq!(over.target_path(&vector[4, 6]), vector[4, 0, 0]);
    assert_eq!(over.source_path(&vector[4, 0, 0], 9), vector[4]);
    // The edge leads to the next round of the second of three blocks, and then into another block.
    let again = an_edge(vector[0, 0, 0, 2, 2, 1, NONE, NONE, NONE]);
    assert_eq!(again.target_path(&vector[4, 6, 8]), vector[4, 7, 0]);
    assert_eq!(again.source_path(&vector[4, 7, 0], 9), vector[4, 6]);
    // The edge leads out of a loop, from any round.
    let out = an_edge(vector[0, 0, 0, 3, 1, 0, NONE, NONE, NONE]);
    assert_eq!(out.target_path(&vector[4, 6]), vector[4]);
    assert_eq!(out.source_path(&vector[4], 6), vector[4, 6]);
    let plain = an_edge(vector[0, 0, 0, 0, 0, 0, NONE, NONE, NONE]);
    assert_eq!(plain.target_path(&vector[]), vector[]);
    assert_eq!(plain.source_path(&vector[], 9), vector[]);
}

// === Edges of a vertex ===

#[test]
fun add_edge_groups_edges_by_variant() {
    let vertex = with_edges();
    assert_eq!(vertex.variants().map_ref!(|variant| variant.name()), vector[ok(), err(), off()]);
    assert_eq!(numbers(vertex.variants()[0].edges()), vector[10, 12, 13]);
    assert_eq!(numbers(vertex.variants()[1].edges()), vector[11, 15]);
    assert_eq!(numbers(vertex.variants()[2].edges()), vector[14]);
    assert_eq!(numbers(&vertex.edges(&ok())), vector[10, 12, 13]);
    assert_eq!(numbers(&vertex.edges(&err())), vector[11, 15]);
    assert!(vertex.edges(&b"other".to_ascii_string()).is_empty());
}

#[test]
fun edge_of_finds_an_edge_by_its_number() {
    let vertex = with_edges();
    let (first, of_first) = vertex.edge_of(10);
    assert_eq!(first.number(), 10);
    assert_eq!(of_first, ok());
    let (third, of_third) = vertex.edge_of(13);
    assert_eq!(third.vertex(), 3);
    assert_eq!(of_third, ok());
    let (fifth, of_fifth) = vertex.edge_of(15);
    assert_eq!(fifth.number(), 15);
    assert_eq!(of_fifth, err());
    let (fourth, of_fourth) = vertex.edge_of(14);
    assert_eq!(fourth.number(), 14);
    assert_eq!(of_fourth, off());
}

#[test]
fun edges_to_finds_edges_by_their_target() {
    let vertex = with_edges();
    assert_eq!(numbers(&vertex.edges_to(1, 2)), vector[10, 11, 14]);
    assert_eq!(numbers(&vertex.edges_to(1, 1)), vector[12]);
    assert_eq!(numbers(&vertex.edges_to(3, 2)), vector[13]);
    assert_eq!(numbers(&vertex.edges_to(2, 1)), vector[15]);
    assert!(vertex.edges_to(3, 1).is_empty());
    assert!(vertex.edges_to(2, 2).is_empty());
}

// === Blocks ===

#[test]
fun new_block_stores_its_arguments() {
    let needs = vector[plan::new_input(5, 1), plan::new_input(6, 2)];
    let block = plan::new_block(true, vector[4], option::some(0), needs, vector[5, 6], vector[7]);
    assert!(block.is_region());
    assert_eq!(*block.enclosing(), vector[4]);
    assert_eq!(block.region(), option::some(0));
    assert_eq!(block.needs().map_ref!(|need| need.vertex()), vector[5, 6]);
    assert_eq!(block.needs().map_ref!(|need| need.port()), vector[1, 2]);
    assert!(block.has_need(5, 1) && block.has_need(6, 2));
    assert!(!block.has_need(5, 2) && !block.has_need(6, 1));
    assert_eq!(*block.cursors(), vector[5, 6]);
    assert_eq!(*block.starts(), vector[7]);
    assert!(block.collect_edges().is_empty());
    let is_loop = plan::new_block(false, vector[], option::none(), vector[], vector[], vector[]);
    assert!(!is_loop.is_region() && is_loop.region().is_none());
}

#[test]
fun gathered_from_returns_the_sources_of_a_list() {
    let mut block = a_block();
    block.add_collect_edge(collecting(8, 1), vector[3]);
    block.add_collect_edge(collecting(8, 2), vector[4, 4, 5]);
    block.add_collect_edge(collecting(9, 1), vector[6]);
    assert_eq!(*block.gathered_from(8, 1), vector[3]);
    assert_eq!(*block.gathered_from(8, 2), vector[4, 4, 5]);
    assert_eq!(*block.gathered_from(9, 1), vector[6]);
    let collect = &block.collect_edges()[1];
    assert_eq!(collect.edge().vertex(), 8);
    assert_eq!(collect.edge().input(), 2);
    assert_eq!(collect.edge().left_region(), option::some(0));
    assert!(collect.edge().port().is_empty());
    assert_eq!(*collect.sources(), vector[4, 4, 5]);
}

#[test]
fun blocks_have_numbers_from_32768() {
    assert!(!plan::is_block(0) && !plan::is_block(0x7FFF));
    assert!(plan::is_block(0x8000) && plan::is_block(0xFFFF));
    assert_eq!(plan::block_number(0x8000), 0);
    assert_eq!(plan::block_number(0x8007), 7);
    assert_eq!(plan::region_origin(7), 0x8007);
    assert_eq!(plan::region_origin(0), BLOCKS);
}

// === Limits ===

#[test]
fun vertex_accepts_32_ports_with_32_sources() {
    let mut vertex = a_vertex();
    32u64.do!(|i| vertex.add_port(name(i), 0));
    32u64.do!(|_| vertex.add_source(31, vector[1, 0]));
    assert_eq!(vertex.ports().length(), 32);
    assert_eq!(vertex.ports()[31].sources().length(), 32);
    assert_eq!(vertex.ports()[31].name().length(), 32);
}

#[test]
fun vertex_accepts_32_variants_with_32_edges() {
    let mut vertex = a_vertex();
    32u64.do!(|i| vertex.add_edge(name(i), name(i), to(i as u16, 1, 0)));
    31u64.do!(|i| vertex.add_edge(name(31), name(i), to(32 + (i as u16), 1, 0)));
    assert_eq!(vertex.variants().length(), 32);
    assert_eq!(vertex.variants()[31].name(), name(31));
    assert_eq!(vertex.edges(&name(31)).length(), 32);
    let (edge, _) = vertex.edge_of(62);
    assert_eq!(edge.port(), name(30));
    assert_eq!(edge.port().length(), 32);
}

#[test]
fun block_accepts_32_needs_cursors_and_starts() {
    let needs = vector::tabulate!(32, |i| plan::new_input(i as u16, 0));
    let numbers = vector::tabulate!(32, |i| i as u16);
    let mut block = plan::new_block(true, vector[], option::none(), needs, numbers, numbers);
    32u64.do!(|i| block.add_collect_edge(collecting(8, i as u16), numbers));
    assert!(block.has_need(31, 0));
    assert_eq!(block.needs().length(), 32);
    assert_eq!(block.cursors().length(), plan::max_cursors());
    assert_eq!(block.starts().length(), 32);
    assert_eq!(block.collect_edges().length(), 32);
    assert_eq!(block.gathered_from(8, 31).length(), 32);
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_port_rejects_a_name_of_33_bytes() {
    a_vertex().add_port(long_name(), 0);
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_edge_rejects_a_variant_name_of_33_bytes() {
    a_vertex().add_edge(long_name(), b"out".to_ascii_string(), to(0, 1, 0));
}

#[test, expected_failure(abort_code = plan::EPlanTooLarge)]
fun add_edge_rejects_a_port_name_of_33_bytes() {
    a_vertex().add_edge(ok(), long_name(), to(0, 1, 0));
}

// === Setup ===

fun a_vertex(): Vertex {
    plan::new_vertex(7, vector[3, 5], option::some(1), vector[2, 4], 9, 1_234, 300, true)
}

/// Return a vertex with two additional edges of a variant, which follow edges of other variants.
fun with_edges(): Vertex {
    let mut vertex = a_vertex();
    vertex.add_edge(ok(), name(0), to(10, 1, 2));
    vertex.add_edge(err(), name(0), to(11, 1, 2));
    vertex.add_edge(ok(), name(1), to(12, 1, 1));
    vertex.add_edge(ok(), name(2), to(13, 3, 2));
    vertex.add_edge(off(), name(2), to(14, 1, 2));
    vertex.add_edge(err(), name(2), to(15, 2, 1));
    vertex
}

fun a_block(): Block {
    plan::new_block(true, vector[], option::none(), vector[], vector[], vector[])
}

fun an_edge(row: vector<u16>): Edge {
    let mut vertex = a_vertex();
    vertex.add_edge(ok(), b"out".to_ascii_string(), row);
    vertex.edges(&ok())[0]
}

fun to(number: u16, vertex: u16, input: u16): vector<u16> {
    vector[number, vertex, input, 0, 0, 0, NONE, NONE, NONE]
}

fun collecting(vertex: u16, input: u16): vector<u16> {
    vector[0, vertex, input, 0, 0, 0, NONE, NONE, 0]
}

fun numbers(edges: &vector<Edge>): vector<u16> { edges.map_ref!(|edge| edge.number()) }

fun ok(): String { b"ok".to_ascii_string() }

fun err(): String { b"err".to_ascii_string() }

fun off(): String { b"off".to_ascii_string() }

/// Return a name of 32 bytes that is unique for each number.
fun name(i: u64): String {
    vector::tabulate!(32, |at| if (at == 31) 65 + (i as u8) else 95).to_ascii_string()
}

fun long_name(): String { vector::tabulate!(33, |_| 95).to_ascii_string() }
