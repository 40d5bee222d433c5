/// Helpers with an on-chain tool that counts, and with transactions that call the tool.
#[test_only]
module nexus_tools::on_chain_runner;

use nexus_tools::definition::{Self, Definition};
use nexus_tools::function::{Self, Function};
use nexus_tools::invocation::Invocation;
use nexus_tools::json;
use nexus_tools::leader::Leader;
use nexus_tools::on_chain_call::Call;
use nexus_tools::test_runner::{Runner, mint};
use nexus_tools::tool::{Self, Tool};
use nexus_tools::value;
use sui::clock::Clock;
use sui::package::{Self, Publisher};
use sui::test_scenario;

const ALICE: address = @0xA;
const DELAY_MS: u64 = 604_800_000;
const COLLATERAL_MIST: u64 = 1_000_000_000;

public struct ON_CHAIN_RUNNER has drop {}

/// The witness of the tool.
public struct Count has drop {}

/// The witness of another tool of the same module.
public struct Other has drop {}

/// Return the publisher of this module.
public fun publisher(ctx: &mut TxContext): Publisher {
    package::test_claim(ON_CHAIN_RUNNER {}, ctx)
}

/// Return the function of the tool, with this gas payment.
public fun counting(gas_mist: u64, closable_by_anyone: bool, ctx: &mut TxContext): Function {
    let publisher = publisher(ctx);
    let function = function::new<Count>(&publisher, vector[], vector[], gas_mist, closable_by_anyone);
    publisher.burn();
    function
}

/// Return the definition of a tool with a function.
public fun define(fqn: vector<u8>, function: Function, timeout_ms: u64): Definition {
    definition::define_on_chain(
        fqn.to_ascii_string(),
        function,
        b"0xA::on_chain_runner::count".to_ascii_string(),
        b"Counts.".to_string(),
        b"{}",
        b"{}",
        timeout_ms,
    )
}

/// Register an on-chain tool that accepts any leader, as Alice.
public fun register(
    self: &mut Runner,
    fqn: vector<u8>,
    gas_mist: u64,
    closable_by_anyone: bool,
    timeout_ms: u64,
    price_mist: u64,
) {
    self.tx!(ALICE, |tools, _, clock, ctx| {
        let function = counting(gas_mist, closable_by_anyone, ctx);
        let (tool, name) = tool::register(
            tools,
            mint(COLLATERAL_MIST, ctx),
            DELAY_MS,
            define(fqn, function, timeout_ms),
            price_mist,
            vector[],
            clock,
            ctx,
        );
        tool.share();
        name.share();
    });
}

/// Run a transaction on an invocation, its tool and a leader.
public macro fun call_tx(
    $self: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $id: ID,
    $leader: ID,
    $f: |&Tool, &mut Invocation, &Leader, &Clock, &mut TxContext|,
) {
    let self = $self;
    let tool = self.id_of($fqn);
    let scenario = self.next_tx($sender);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let leader = scenario.take_shared_by_id<Leader>($leader);
    let clock = scenario.take_shared<Clock>();
    let mut invocation = scenario.take_shared_by_id<Invocation>($id);
    $f(&tool, &mut invocation, &leader, &clock, scenario.ctx());
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(tool);
}

/// Read the port `a`, and finish with `ok` and the next number in `result`.
public fun count(call: &mut Call) {
    let result = json::from_u64(call.get_u64(b"a") + 1);
    call.finish(Count {}, b"ok", value::empty_ports().with(b"result", result));
}

/// Finish the call of another tool of the same module.
public fun answer_for_another(call: &mut Call) { call.finish(Other {}, b"ok", value::empty_ports()) }
