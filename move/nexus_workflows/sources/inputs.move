/// The inputs of a run, assembled on chain.
///
/// The values of an execution are references. A leader usually resolves the references off chain.
/// The chain needs the values themselves if a Move function takes them as inputs, or if a tool
/// signs its answer. In both cases, one transaction resolves the references. `new` finds the
/// references, `load` takes the values from each invocation that contains values, and the last
/// command receives the ports.
///
/// The leader pays the gas of all these reads, and is repaid for each byte. So this module counts
/// ports, records, loaded values, and the inputs themselves. If the sum exceeds `max_read_bytes` of
/// the attempt, the leader fails the attempt with the reason `input_invalid`.
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
use nexus_workflows::progress;
use std::ascii::String;
use sui::clock::Clock;

// === Errors ===

/// A value is missing: call `load` for each invocation that contains a value.
const EInputsNotLoaded: u64 = 0;
/// The invocation does not belong to this execution.
const EWrongExecution: u64 = 1;
/// The workflow is not the workflow of this execution.
const EWrongDag: u64 = 2;
/// The inputs belong to another invocation.
const EWrongInputs: u64 = 3;
/// The inputs are larger than an attempt may read: fail with the reason `input_invalid`.
const EInputsTooLarge: u64 = 4;

// === Constants ===

/// The name of order-only ports. A suffix that starts with `_` may follow.
const AFTER: vector<u8> = b"_after";
/// The cost of a port, of each preceding port, and of a record, expressed as a number of read
/// bytes.
const PORT_BYTES: u64 = 300;
const PORT_PAIR_BYTES: u64 = 50;
const RECORD_BYTES: u64 = 1_000;
/// The cost of an iteration of a region, excluding its record.
const ITERATION_BYTES: u64 = 1_600;
/// The cost of each element and of each byte of a list that is joined into one text. Move joins the
/// bytes one by one.
const ELEMENT_BYTES: u64 = 300;
const JOINED_BYTES: u64 = 50;
/// The number of bytes that count as one gas unit of reading the workflow.
const UNIT_BYTES: u64 = 25;

// === Structs ===

/// The inputs of an invocation. Some values may not be loaded yet.
public struct Inputs {
    invocation: ID,
    names: vector<String>,
    values: vector<Option<Value>>,
    /// The elements of ports that receive a gathered list.
    lists: vector<GatheredList>,
    /// The values to load for ports, and for elements of lists.
    pending: vector<PendingValue>,
    elements: vector<PendingValue>,
    /// A bit set of the workflow pages that are read.
    pages: u64,
    /// The number of bytes read, and the maximum number.
    read_bytes: u64,
    max_read_bytes: u64,
}

/// A gathered list for a port. Iterations without a value do not add an element.
public struct GatheredList has drop {
    port: u64,
    elements: vector<Option<Value>>,
}

/// A value in an invocation, for a port or for an element of a list.
public struct PendingValue has drop {
    source: ID,
    /// The variant that has the value. The variant is none if the invocation cannot end in another
    /// variant.
    variant: Option<String>,
    name: String,
    element: Option<u32>,
    port: u64,
    list: Option<u64>,
    position: u64,
}

/// An edge that delivers the values of iterations to a gathered list.
public struct GatheredEdge has drop {
    edge: u16,
    vertex: u16,
    /// The number of blocks around the source vertex of the edge.
    depth: u64,
    variant: String,
    name: String,
}

// === Public functions ===

/// Return the inputs of an attempt. Values other than entry and default values must then be loaded.
///
/// Aborts with `EWrongDag`, `EWrongExecution` or `EInputsTooLarge`.
public fun new(execution: &Execution, dag: &Dag, invocation: &Invocation): Inputs {
    assert!(execution.dag() == object::id(dag), EWrongDag);
    let attempt = invocation.attempt();
    let is_mine = attempt.is_some_and!(|attempt| attempt.execution() == object::id(execution));
    assert!(is_mine, EWrongExecution);
    let attempt = attempt.destroy_some();
    let run = attempt.run();
    let mut self = empty(object::id(invocation), attempt.max_read_bytes());
    self.count(execution.entry_bytes(run.vertex()) + dag.default_bytes(run.vertex()));
    let ports = dag.vertex(run.vertex()).ports();
    ports.length().do!(|i| {
        let name = ports[i].name();
        if (!is_order_only(&name)) self.add_port(execution, dag, &run, i as u8, name);
    });
    let units = dag.read_units(self.pages | dag::vertex_page_bit(run.vertex()));
    self.count(UNIT_BYTES * units);
    self
}

/// Take all values for these inputs from a closed invocation, which may have none.
///
/// Load the elements of lists from the last element to the first, so that the function does not
/// have to search for an element. Aborts with `EInputsTooLarge`.
public fun load(self: &mut Inputs, source: &Invocation) {
    let (id, before) = (object::id(source), self.pending_count());
    let mut i = 0;
    while (i < self.pending.length()) {
        if (&self.pending[i].source == &id) {
            let pending = self.pending.swap_remove(i);
            self.fill(pending, source);
        } else i = i + 1;
    };
    let mut left = self.elements.length();
    while (left > 0 && &self.elements[left - 1].source == &id) {
        let pending = self.elements.pop_back();
        self.fill(pending, source);
        left = left - 1;
    };
    if (self.pending_count() < before) self.count(source.state().size());
}

// === Package functions ===

/// Return the ID of the invocation to which the inputs belong.
public(package) fun invocation(self: &Inputs): ID { self.invocation }

/// Return the ports and the bytes read for them, after all values are loaded.
///
/// Aborts with `EInputsNotLoaded`, `EInputsTooLarge`, and as `value::list_of` does.
public(package) fun into_ports(mut self: Inputs): (Ports, u64) {
    assert!(self.pending_count() == 0, EInputsNotLoaded);
    while (!self.lists.is_empty()) {
        let GatheredList { port, elements } = self.lists.pop_back();
        let found = elements.filter!(|value| value.is_some()).map!(|value| value.destroy_some());
        self.values[port].fill(value::list_of(found));
    };
    let Inputs { names, values, read_bytes, max_read_bytes, .. } = self;
    let ports = value::ports(names, values.map!(|value| value.destroy_some()));
    let read_bytes = read_bytes + ports.size();
    assert!(read_bytes <= max_read_bytes, EInputsTooLarge);
    (ports, read_bytes)
}

// === Public functions: settling ===

/// Settle an attempt with the tool's signature of its answer to these inputs.
///
/// The function has the same effect as `signed_outcome::settle`. Aborts with `EWrongInputs`,
/// `EInputsNotLoaded`, `EInputsTooLarge`, `invocation::EWrongExecution`, and as
/// `signed_outcome::settle` does.
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

/// Open an attempt of an on-chain tool with these inputs.
///
/// Aborts with `EWrongInputs`, `EInputsNotLoaded`, `EInputsTooLarge`, `on_chain_call::EWrongTool`
/// or `on_chain_call::ENotOnChain`.
public fun open(self: Inputs, execution: &Execution, invocation: &Invocation, tool: &Tool): Call {
    assert!(self.invocation == object::id(invocation), EWrongInputs);
    let (inputs, read_bytes) = self.into_ports();
    on_chain_call::open_attempt(invocation, execution.uid(), inputs, read_bytes, tool)
}

// === Private functions ===

/// Return new inputs that do not contain any port yet.
fun empty(invocation: ID, max_read_bytes: u64): Inputs {
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

/// Return the number of values to load.
fun pending_count(self: &Inputs): u64 { self.pending.length() + self.elements.length() }

/// Add to the number of bytes read. Aborts with `EInputsTooLarge`.
fun count(self: &mut Inputs, bytes: u64) {
    self.read_bytes = self.read_bytes + bytes;
    assert!(self.read_bytes <= self.max_read_bytes, EInputsTooLarge);
}

/// Add a port with its value or a reference.
fun add_port(
    self: &mut Inputs,
    execution: &Execution,
    dag: &Dag,
    run: &Run,
    port: u8,
    name: String,
) {
    let records = execution.progress().records();
    let place = self.names.length();
    self.count(PORT_BYTES + PORT_PAIR_BYTES * place);
    let source = records.source(dag, run, port);
    self.names.push_back(name);
    let (from, gathered) = (source.run(), source.region());
    let value = if (from.is_some()) {
        let from = from.destroy_some();
        self.pages = self.pages | dag::vertex_page_bit(from.vertex());
        let record = records.run_record(from);
        self.refer_to(record, source.port(), source.element(), place)
    } else if (gathered.is_some()) {
        let region = gathered.destroy_some();
        self.pages = self.pages | dag::block_page_bit(region.block());
        self.add_list(records, dag, &region, run.vertex(), port, place);
        option::none()
    } else {
        let given = execution.entry(run.vertex(), &name);
        if (given.is_some()) given else option::some(dag.default(run.vertex(), &name))
    };
    self.values.push_back(value);
}

/// Add a reference to a value of a run. If the record of the run contains a refusal, return the
/// value of the port instead.
fun refer_to(
    self: &mut Inputs,
    record: &RunRecord,
    name: String,
    element: Option<u32>,
    port: u64,
): Option<Value> {
    self.count(RECORD_BYTES);
    let refusal = record.refusal();
    if (!refusal.is_empty()) return option::some(failure_port(&refusal, &name));
    let (source, variant, list) = (record.invocation(), option::none(), option::none());
    self.pending.push_back(PendingValue {
        source,
        variant,
        name,
        element,
        port,
        list,
        position: 0,
    });
    option::none()
}

/// Return the value of a port of the failure that is stored in a record.
fun failure_port(refusal: &String, name: &String): Value {
    failure::port(refusal, &b"".to_string(), name)
}

/// Add references to the values that the iterations of a region deliver to a port.
fun add_list(
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
    let gathered_edges = gathered_edges(dag, region, vertex, input);
    gathered_edges.do_ref!(|edge| self.pages = self.pages | dag::vertex_page_bit(edge.vertex));
    let is_marked = dag.block(region.block()).gathered_from(vertex, input).length() > 1;
    records.instance_record(*region).iterations().do!(|iteration| {
        self.count(ITERATION_BYTES);
        let outlet = if (is_marked) {
            let path = *region.path();
            let mark = records::mark(region.block(), path, vertex, input, iteration);
            let (edge, _) = records.marked(mark);
            edge.and!(|edge| gathered_edges.find_index!(|other| other.edge == edge))
        } else option::some(0);
        let from = &gathered_edges[outlet.destroy_or!(0)];
        let (variant, name) = (from.variant, from.name);
        let run = records::iteration(from.depth, from.vertex, region.path(), iteration);
        if (outlet.is_some() && records.has_run(run) && records.run_record(run).is_closed()) {
            self.count(RECORD_BYTES);
            let record = records.run_record(run);
            let (source, refusal) = (record.invocation(), record.refusal());
            let (element, position) = (option::none(), elements.length());
            if (refusal.is_empty()) {
                let variant = option::some(variant);
                let pending = PendingValue { source, variant, name, element, port, list, position };
                self.elements.push_back(pending);
                elements.push_back(option::none());
            } else if (variant == progress::err_eval()) {
                elements.push_back(option::some(failure_port(&refusal, &name)));
            };
        };
    });
    self.lists.push_back(GatheredList { port, elements });
}

/// Return the edges from which a region gathers the list for a port.
fun gathered_edges(dag: &Dag, region: &Instance, vertex: u16, input: u8): vector<GatheredEdge> {
    let mut gathered_edges = vector[];
    dag.block(region.block()).gathered_from(vertex, input).do_ref!(|number| {
        let source = dag.vertex(*number);
        let depth = source.blocks().length();
        source.edges_to(vertex, input).do_ref!(|edge| {
            let (_, variant) = source.edge_of(edge.number());
            let (edge, name) = (edge.number(), edge.port());
            gathered_edges.push_back(GatheredEdge { edge, vertex: *number, depth, variant, name });
        });
    });
    gathered_edges
}

fun is_order_only(name: &String): bool {
    let after = AFTER.to_ascii_string();
    let mut prefix = after;
    prefix.append(b"_".to_ascii_string());
    name == &after || name.index_of(&prefix) == 0
}

fun fill(self: &mut Inputs, pending: PendingValue, source: &Invocation) {
    let PendingValue { variant, name, element, port, list, position, .. } = pending;
    if (list.is_none()) {
        let value = if (element.is_some()) {
            source.state().element(&name, element.destroy_some() as u64)
        } else source.state().output(&name);
        self.values[port].fill(value);
    } else if (closed_variant(source) == variant.destroy_some()) {
        let value = source.state().output(&name);
        let length = value.length_if_list().destroy_or!(0);
        self.count(ELEMENT_BYTES * length + JOINED_BYTES * value.joined_bytes());
        let list = &mut self.lists[list.destroy_some()];
        list.elements[position].fill(value);
    }
}

/// Return the variant of a settled invocation, or `_err_eval`.
fun closed_variant(source: &Invocation): String {
    if (source.state().is_settled()) source.state().variant() else progress::err_eval()
}

// === Test-only functions ===

#[test_only]
public fun none_for_testing(invocation: ID, max_read_bytes: u64): Inputs {
    empty(invocation, max_read_bytes)
}

/// Add a port with its value.
#[test_only]
public fun give_for_testing(self: &mut Inputs, name: String, value: Value) {
    self.names.push_back(name);
    self.values.push_back(option::some(value));
}

/// Add a port whose value is in an invocation.
#[test_only]
public fun wait_for_testing(self: &mut Inputs, name: String, source: ID) {
    let (port, position) = (self.names.length(), 0);
    let (variant, element, list) = (option::none(), option::none(), option::none());
    self.names.push_back(name);
    self.values.push_back(option::none());
    self.pending.push_back(PendingValue { source, variant, name, element, port, list, position });
}
