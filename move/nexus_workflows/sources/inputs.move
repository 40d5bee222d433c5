/// The inputs of a run, put together on chain.
///
/// Values of an execution travel by reference. A leader follows the references off chain; where
/// the chain itself has to know the values, because a Move function takes them or a tool signed
/// its answer to them, one transaction follows them here: `of` tells what is needed, `load`
/// takes it from each invocation that has some of it, and the last command gets the ports.
module nexus_workflows::inputs;

use nexus_tools::failure;
use nexus_tools::invocation::Invocation;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_call::{Self, Call};
use nexus_tools::run::Run;
use nexus_tools::signed_outcome;
use nexus_tools::tool::Tool;
use nexus_tools::value::{Self, Ports, Value};
use nexus_workflows::dag::Dag;
use nexus_workflows::execution::Execution;
use nexus_workflows::records::{Self, Instance, Records};
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

// === Constants ===

/// Ports of this name, or of one that begins with it and `_`, are there for order alone.
const AFTER: vector<u8> = b"_after";

// === Structs ===

/// The inputs of an invocation, some of which are still to be loaded.
public struct Inputs {
    invocation: ID,
    names: vector<String>,
    values: vector<Option<Value>>,
    /// The elements of ports that get a list which a region gathered.
    lists: vector<List>,
    pending: vector<Pending>,
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

// === Public functions ===

/// What an attempt needs to know of its inputs: those that are given are there, the others are
/// to be loaded. Aborts with `EWrongDag` or `EWrongExecution`.
public fun of(execution: &Execution, dag: &Dag, invocation: &Invocation): Inputs {
    assert!(execution.dag() == object::id(dag), EWrongDag);
    let attempt = invocation.attempt();
    let is_mine = attempt.is_some_and!(|each| each.execution() == object::id(execution));
    assert!(is_mine, EWrongExecution);
    let run = attempt.destroy_some().run();
    let mut self = none(object::id(invocation));
    let ports = dag.vertex(run.vertex()).ports();
    ports.length().do!(|i| {
        let name = ports[i].name();
        if (!is_order_only(&name)) self.find(execution, dag, &run, i as u8, name);
    });
    self
}

/// Takes from a closed invocation what it has of the inputs; nothing if it has none.
public fun load(self: &mut Inputs, source: &Invocation) {
    let id = object::id(source);
    let mut i = 0;
    while (i < self.pending.length()) {
        if (self.pending[i].source == id) {
            let pending = self.pending.swap_remove(i);
            self.take(pending, source);
        } else i = i + 1;
    }
}

// === Package functions ===

/// The invocation whose inputs they are.
public(package) fun invocation(self: &Inputs): ID { self.invocation }

/// The ports, once all is loaded. Aborts with `ENotLoaded`, and as `value::list_of` does.
public(package) fun into_ports(self: Inputs): Ports {
    let Inputs { names, mut values, lists, pending, .. } = self;
    assert!(pending.is_empty(), ENotLoaded);
    lists.do!(|list| {
        let List { port, elements } = list;
        let found = elements.filter!(|each| each.is_some()).map!(|each| each.destroy_some());
        values[port].fill(value::list_of(found));
    });
    value::ports(names, values.map!(|each| each.destroy_some()))
}

// === Public functions: settling ===

/// Settles an attempt with the tool's signature of its answer to these inputs, as
/// `signed_outcome::settle` does. Aborts with `EWrongInputs`, `ENotLoaded`,
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
    let inputs = self.into_ports();
    signed_outcome::settle_attempt(
        invocation,
        execution.uid(),
        &inputs,
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
/// `on_chain_call::EWrongTool` or `on_chain_call::ENotOnChain`.
public fun open(self: Inputs, execution: &Execution, invocation: &Invocation, tool: &Tool): Call {
    assert!(self.invocation == object::id(invocation), EWrongInputs);
    on_chain_call::open_attempt(invocation, execution.uid(), self.into_ports(), tool)
}

// === Private functions ===

/// The inputs of an invocation, none of which is known.
fun none(invocation: ID): Inputs {
    Inputs { invocation, names: vector[], values: vector[], lists: vector[], pending: vector[] }
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
    let source = records.source(dag, run, port);
    let place = self.names.length();
    self.names.push_back(name);
    let (from, gathered) = (source.run(), source.gathered());
    let value = if (from.is_some()) {
        self.refer(records, from.destroy_some(), source.port(), source.element(), place)
    } else if (gathered.is_some()) {
        let region = gathered.destroy_some();
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
    records: &Records,
    run: Run,
    name: String,
    element: Option<u32>,
    port: u64,
): Option<Value> {
    let record = records.of(run);
    let refusal = record.refusal();
    if (!refusal.is_empty()) return option::some(failure::port(&refusal, &b"".to_string(), &name));
    let (variant, list) = (option::none(), option::none());
    let source = record.invocation();
    self.pending.push_back(Pending { source, variant, name, element, port, list, position: 0 });
    option::none()
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
    let sources = dag.block(region.block()).gathered_from(vertex, input);
    records.at(*region).iterations().do!(|iteration| {
        let (edge, number) = if (sources.length() == 1) {
            let edges = dag.vertex(sources[0]).edges_to(vertex, input);
            (option::some(edges[0].number()), sources[0])
        } else {
            let path = *region.outside();
            records.marked(records::mark(region.block(), path, vertex, input, iteration))
        };
        let run = records::iteration(dag.vertex(number), number, region.outside(), iteration);
        if (edge.is_some() && records.has(run) && records.of(run).is_closed()) {
            let (edge, variant) = dag.vertex(number).edge_of(edge.destroy_some());
            let found = self.refer(records, run, edge.port(), option::none(), port);
            if (found.is_some()) {
                if (variant == walks::err_eval()) elements.push_back(found);
            } else {
                let last = self.pending.length() - 1;
                let pending = &mut self.pending[last];
                pending.variant = option::some(variant);
                pending.list = list;
                pending.position = elements.length();
                elements.push_back(option::none());
            };
        };
    });
    self.lists.push_back(List { port, elements });
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
        let value = source.state().output(&name);
        let value = if (element.is_some()) value.element(element.destroy_some() as u64) else value;
        self.values[port].fill(value);
    } else if (came_to(source) == variant.destroy_some()) {
        let list = &mut self.lists[list.destroy_some()];
        list.elements[position].fill(source.state().output(&name));
    }
}

/// The variant that it was settled with, or that of a failure.
fun came_to(source: &Invocation): String {
    if (source.state().is_settled()) source.state().variant() else walks::err_eval()
}

// === Test-only functions ===

#[test_only]
public fun none_for_testing(invocation: ID): Inputs { none(invocation) }

/// Adds a port whose value an invocation has.
#[test_only]
public fun wait_for_testing(self: &mut Inputs, name: String, source: ID) {
    let (port, position) = (self.names.length(), 0);
    let (variant, element, list) = (option::none(), option::none(), option::none());
    self.names.push_back(name);
    self.values.push_back(option::none());
    self.pending.push_back(Pending { source, variant, name, element, port, list, position });
}
