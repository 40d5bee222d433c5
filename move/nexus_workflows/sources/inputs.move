/// The inputs of a run, put together on chain.
///
/// Values of an execution travel by reference. A leader follows the references off chain; where
/// the chain itself has to know the values, because a Move function takes them or a tool signed
/// its answer to them, one transaction follows them here: `of` tells what is needed, `load`
/// takes it from each invocation that has some of it, and the last command gets the ports.
///
/// A leader pays for all that it reads here, and is paid by the byte. So what is read is counted:
/// ports, records, what is loaded, and the inputs themselves; beyond `max_read_bytes` of the attempt,
/// the leader fails it with the reason `input_invalid`.
module nexus_workflows::inputs;

use nexus_tools::failure;
use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_call::{Self, Call};
use nexus_tools::run::Run;
use nexus_tools::signed_outcome;
use nexus_tools::tool::Tool;
use nexus_tools::value::{Self, Ports, Value};
use nexus_workflows::dag::{Self, Dag};
use nexus_workflows::execution::Execution;
use nexus_workflows::records::{Self, Instance, Records, RunRecord};
use nexus_workflows::walks;
use std::ascii::String;
use sui::clock::Clock;

// === Errors ===

/// A value is missing: `load` each invocation that has one.
const ENotLoaded: u64 = 0;
/// The invocation does not belong to this execution.
const EWrongExecution: u64 = 1;
/// This is another workflow than that of the execution.
const EWrongDag: u64 = 2;
/// These are the inputs of another invocation.
const EWrongInputs: u64 = 3;
/// The inputs are larger than an attempt may read: fail with the reason `input_invalid`.
const ETooLarge: u64 = 4;

// === Constants ===

/// Ports of this name, or of one that begins with it and `_`, are there for order alone.
const AFTER: vector<u8> = b"_after";
/// What counts for a port, for each port before it, and for a record, in bytes that cost as much.
const PORT_BYTES: u64 = 300;
const PORT_PAIR_BYTES: u64 = 50;
const RECORD_BYTES: u64 = 1_000;
/// What counts for an iteration of a region, beside its record.
const ITERATION_BYTES: u64 = 1_600;
/// What counts for each element and for each byte of a list that becomes a text: Move puts the bytes
/// together one by one.
const ELEMENT_BYTES: u64 = 300;
const JOINED_BYTES: u64 = 50;
/// What counts for a gas unit of reading the workflow.
const UNIT_BYTES: u64 = 25;

// === Structs ===

/// The inputs of an invocation, some of which are still to be loaded.
public struct Inputs {
    invocation: ID,
    names: vector<String>,
    values: vector<Option<Value>>,
    /// The elements of ports that get a list which a region gathered.
    lists: vector<List>,
    /// What is to be loaded for ports, and for elements of lists.
    pending: vector<Pending>,
    elements: vector<Pending>,
    /// The pages of the workflow that are read, as bits.
    pages: u64,
    /// What was read, and the most that may be.
    read_bytes: u64,
    max_read_bytes: u64,
}

/// A list for a port; elements of iterations that brought nothing stay out.
public struct List has drop {
    port: u64,
    elements: vector<Option<Value>>,
}

/// What an invocation has: a value for a port, or for an element of a list.
public struct Pending has drop {
    source: ID,
    /// The variant that brings it, if it is not sure which one it is.
    variant: Option<String>,
    name: String,
    element: Option<u32>,
    port: u64,
    list: Option<u64>,
    position: u64,
}

/// An edge by which iterations of a region bring values to a port: the variant and the port from
/// which it leads, and how many blocks are around its vertex.
public struct Outlet has drop {
    edge: u16,
    vertex: u16,
    depth: u64,
    variant: String,
    name: String,
}

// === Public functions ===

/// What an attempt needs to know of its inputs: those that are given are there, the others are
/// to be loaded. Aborts with `EWrongDag` or `EWrongExecution`.
public fun of(execution: &Execution, dag: &Dag, invocation: &Invocation): Inputs {
    assert!(execution.dag() == object::id(dag), EWrongDag);
    let attempt = invocation.attempt();
    let is_mine = attempt.is_some_and!(|each| each.execution() == object::id(execution));
    assert!(is_mine, EWrongExecution);
    let attempt = attempt.destroy_some();
    let run = attempt.run();
    let mut self = none(object::id(invocation), attempt.max_read_bytes());
    self.count(execution.entry_bytes(run.vertex()) + dag.default_bytes(run.vertex()));
    let ports = dag.vertex(run.vertex()).ports();
    ports.length().do!(|i| {
        let name = ports[i].name();
        if (!is_order_only(&name)) self.find(execution, dag, &run, i as u8, name);
    });
    let units = dag.read_units(self.pages | dag::vertex_page(run.vertex()));
    self.count(UNIT_BYTES * units);
    self
}

/// Takes from a closed invocation what it has of the inputs; nothing if it has none. The elements
/// of lists are taken from the last one to the first, so that nobody has to look for them. Aborts
/// with `ETooLarge`.
public fun load(self: &mut Inputs, source: &Invocation) {
    let (id, before) = (object::id(source), self.left());
    let mut i = 0;
    while (i < self.pending.length()) {
        if (&self.pending[i].source == &id) {
            let pending = self.pending.swap_remove(i);
            self.take(pending, source);
        } else i = i + 1;
    };
    let mut left = self.elements.length();
    while (left > 0 && &self.elements[left - 1].source == &id) {
        let pending = self.elements.pop_back();
        self.take(pending, source);
        left = left - 1;
    };
    if (self.left() < before) self.count(source.state().bytes());
}

// === Package functions ===

/// The invocation whose inputs they are.
public(package) fun invocation(self: &Inputs): ID { self.invocation }

/// The ports, once all is loaded, and the bytes that were read for them. Aborts with `ENotLoaded`,
/// `ETooLarge`, and as `value::list_of` does.
public(package) fun into_ports(mut self: Inputs): (Ports, u64) {
    assert!(self.left() == 0, ENotLoaded);
    while (!self.lists.is_empty()) {
        let List { port, elements } = self.lists.pop_back();
        let found = elements.filter!(|each| each.is_some()).map!(|each| each.destroy_some());
        self.values[port].fill(value::list_of(found));
    };
    let Inputs { names, values, read_bytes, max_read_bytes, .. } = self;
    let ports = value::ports(names, values.map!(|each| each.destroy_some()));
    let read_bytes = read_bytes + ports.size();
    assert!(read_bytes <= max_read_bytes, ETooLarge);
    (ports, read_bytes)
}

// === Public functions: settling ===

/// Settles an attempt with the tool's signature of its answer to these inputs, as
/// `signed_outcome::settle` does. Aborts with `EWrongInputs`, `ENotLoaded`, `ETooLarge`,
/// `invocation::EWrongExecution`, and as `signed_outcome::settle` does.
public fun settle(
    self: Inputs,
    execution: &Execution,
    invocation: &mut Invocation,
    leader: &Leader,
    variant: String,
    ports: Ports,
    key: vector<u8>,
    signature: vector<u8>,
    clock: &Clock,
    ctx: &TxContext,
): bool {
    assert!(self.invocation == object::id(invocation), EWrongInputs);
    let (inputs, read_bytes) = self.into_ports();
    signed_outcome::settle_attempt(
        invocation,
        execution.uid(),
        &inputs,
        read_bytes,
        leader,
        variant,
        ports,
        key,
        signature,
        clock,
        ctx,
    )
}

// === Public functions: on-chain tools ===

/// Opens an attempt of an on-chain tool with these inputs. Aborts with `EWrongInputs`, `ENotLoaded`,
/// `ETooLarge`, `on_chain_call::EWrongTool` or `on_chain_call::ENotOnChain`.
public fun open(self: Inputs, execution: &Execution, invocation: &Invocation, tool: &Tool): Call {
    assert!(self.invocation == object::id(invocation), EWrongInputs);
    let (inputs, read_bytes) = self.into_ports();
    on_chain_call::open_attempt(invocation, execution.uid(), inputs, read_bytes, tool)
}

// === Private functions ===

/// The inputs of an invocation, none of which is known.
fun none(invocation: ID, max_read_bytes: u64): Inputs {
    Inputs {
        invocation,
        names: vector[],
        values: vector[],
        lists: vector[],
        pending: vector[],
        elements: vector[],
        pages: 0,
        read_bytes: 0,
        max_read_bytes,
    }
}

/// How many values are still to be loaded.
fun left(self: &Inputs): u64 { self.pending.length() + self.elements.length() }

/// Counts what is read; once that is too much, nothing more is.
fun count(self: &mut Inputs, bytes: u64) {
    self.read_bytes = self.read_bytes + bytes;
    assert!(self.read_bytes <= self.max_read_bytes, ETooLarge);
}

/// Adds a port with its value, or with where it is.
fun find(
    self: &mut Inputs,
    execution: &Execution,
    dag: &Dag,
    run: &Run,
    port: u8,
    name: String,
) {
    let records = execution.walks().records();
    let place = self.names.length();
    self.count(PORT_BYTES + PORT_PAIR_BYTES * place);
    let source = records.source(dag, run, port);
    self.names.push_back(name);
    let (from, gathered) = (source.run(), source.gathered());
    let value = if (from.is_some()) {
        let from = from.destroy_some();
        self.pages = self.pages | dag::vertex_page(from.vertex());
        let record = records.of(from);
        self.refer(record, source.port(), source.element(), place)
    } else if (gathered.is_some()) {
        let region = gathered.destroy_some();
        self.pages = self.pages | dag::block_page(region.block());
        self.list(records, dag, &region, run.vertex(), port, place);
        option::none()
    } else {
        let given = execution.entry(run.vertex(), &name);
        if (given.is_some()) given else option::some(dag.default(run.vertex(), &name))
    };
    self.values.push_back(value);
}

/// The value of a run whose failure its record tells, which is known; what another one has is to
/// be loaded.
fun refer(
    self: &mut Inputs,
    record: &RunRecord,
    name: String,
    element: Option<u32>,
    port: u64,
): Option<Value> {
    self.count(RECORD_BYTES);
    let refusal = record.refusal();
    if (!refusal.is_empty()) return option::some(told(&refusal, &name));
    let (source, variant, list) = (record.invocation(), option::none(), option::none());
    self.pending.push_back(Pending { source, variant, name, element, port, list, position: 0 });
    option::none()
}

/// A port of a failure that a record tells.
fun told(refusal: &String, name: &String): Value {
    failure::port(refusal, &b"".to_string(), name)
}

/// Refers to what the iterations of a region have for a port.
fun list(
    self: &mut Inputs,
    records: &Records,
    dag: &Dag,
    region: &Instance,
    vertex: u16,
    input: u8,
    port: u64,
) {
    let mut elements = vector[];
    let list = option::some(self.lists.length());
    let outlets = outlets(dag, region, vertex, input);
    outlets.do_ref!(|each| self.pages = self.pages | dag::vertex_page(each.vertex));
    let is_marked = dag.block(region.block()).gathered_from(vertex, input).length() > 1;
    records.at(*region).iterations().do!(|iteration| {
        self.count(ITERATION_BYTES);
        let outlet = if (is_marked) {
            let path = *region.outside();
            let mark = records::mark(region.block(), path, vertex, input, iteration);
            let (edge, _) = records.marked(mark);
            edge.and!(|edge| outlets.find_index!(|each| each.edge == edge))
        } else option::some(0);
        let from = &outlets[outlet.destroy_or!(0)];
        let (variant, name) = (from.variant, from.name);
        let run = records::iteration(from.depth, from.vertex, region.outside(), iteration);
        if (outlet.is_some() && records.has(run) && records.of(run).is_closed()) {
            self.count(RECORD_BYTES);
            let record = records.of(run);
            let (source, refusal) = (record.invocation(), record.refusal());
            let (element, position) = (option::none(), elements.length());
            if (refusal.is_empty()) {
                let variant = option::some(variant);
                let pending = Pending { source, variant, name, element, port, list, position };
                self.elements.push_back(pending);
                elements.push_back(option::none());
            } else if (variant == walks::err_eval()) {
                elements.push_back(option::some(told(&refusal, &name)));
            };
        };
    });
    self.lists.push_back(List { port, elements });
}

/// Where values come from that a region gathers for a port.
fun outlets(dag: &Dag, region: &Instance, vertex: u16, input: u8): vector<Outlet> {
    let mut outlets = vector[];
    dag.block(region.block()).gathered_from(vertex, input).do_ref!(|number| {
        let source = dag.vertex(*number);
        let depth = source.blocks().length();
        source.edges_to(vertex, input).do_ref!(|edge| {
            let (_, variant) = source.edge_of(edge.number());
            let (edge, name) = (edge.number(), edge.port());
            outlets.push_back(Outlet { edge, vertex: *number, depth, variant, name });
        });
    });
    outlets
}

fun is_order_only(name: &String): bool {
    let after = AFTER.to_ascii_string();
    let mut prefix = after;
    prefix.append(b"_".to_ascii_string());
    name == &after || name.index_of(&prefix) == 0
}

fun take(self: &mut Inputs, pending: Pending, source: &Invocation) {
    let Pending { variant, name, element, port, list, position, .. } = pending;
    if (list.is_none()) {
        let value = if (element.is_some()) {
            source.state().element(&name, element.destroy_some() as u64)
        } else source.state().output(&name);
        self.values[port].fill(value);
    } else if (came_to(source) == variant.destroy_some()) {
        let value = source.state().output(&name);
        let length = value.length_if_list().destroy_or!(0);
        self.count(ELEMENT_BYTES * length + JOINED_BYTES * value.joined_bytes());
        let list = &mut self.lists[list.destroy_some()];
        list.elements[position].fill(value);
    }
}

/// The variant that it was settled with, or that of a failure.
fun came_to(source: &Invocation): String {
    if (source.state().is_settled()) source.state().variant() else walks::err_eval()
}

// === Test-only functions ===

#[test_only]
public fun none_for_testing(invocation: ID, max_read_bytes: u64): Inputs {
    none(invocation, max_read_bytes)
}

/// Adds a port with its value.
#[test_only]
public fun give_for_testing(self: &mut Inputs, name: String, value: Value) {
    self.names.push_back(name);
    self.values.push_back(option::some(value));
}

/// Adds a port whose value an invocation has.
#[test_only]
public fun wait_for_testing(self: &mut Inputs, name: String, source: ID) {
    let (port, position) = (self.names.length(), 0);
    let (variant, element, list) = (option::none(), option::none(), option::none());
    self.names.push_back(name);
    self.values.push_back(option::none());
    self.pending.push_back(Pending { source, variant, name, element, port, list, position });
}
