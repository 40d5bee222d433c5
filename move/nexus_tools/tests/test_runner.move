/// Runs transactions of several people on the package as it is right after its publication.
///
/// Each macro is one transaction: it takes the objects that it names out of the ledger, hands them
/// to the test, and puts them back.
#[test_only]
module nexus_tools::test_runner;

use nexus_tools::admin::{Self, AdminCap};
use nexus_tools::definition::{Self, Definition};
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader_registry::{Self, LeaderCap, LeaderRegistry};
use nexus_tools::tool::{Self, OwnerCap, Tool};
use nexus_tools::tool_registry::{Self, ToolRegistry};
use nexus_tools::value::{Self, Ports};
use sui::clock::{Self, Clock};
use sui::coin::{Self, Coin};
use sui::derived_object;
use sui::sui::SUI;
use sui::test_scenario::{Self, Scenario};

// === Constants ===

const ADMIN: address = @0xAD;
const START_MS: u64 = 1_000_000;
const TOOL_COLLATERAL_MIST: u64 = 1_000_000_000;
const LEADER_COLLATERAL_MIST: u64 = 10_000_000_000;
const DELAY_MS: u64 = 604_800_000;
/// How long a slash is proposed before it can be executed.
const NOTICE_MS: u64 = 259_200_000;
/// Where burnt SUI goes.
const NOBODY: address = @0x0;

// === Structs ===

/// A ledger with the package on it.
public struct Runner {
    scenario: Scenario,
    tool_registry: ID,
}

// === Life of the runner ===

/// Publishes the package: the admin gets the `AdminCap`.
public fun start(): Runner {
    let mut scenario = test_scenario::begin(ADMIN);
    admin::init_for_testing(scenario.ctx());
    tool_registry::init_for_testing(scenario.ctx());
    leader_registry::init_for_testing(scenario.ctx());
    let mut clock = clock::create_for_testing(scenario.ctx());
    clock.set_for_testing(START_MS);
    clock.share_for_testing();
    scenario.next_tx(ADMIN);
    let tool_registry = test_scenario::most_recent_id_shared<ToolRegistry>().destroy_some();
    Runner { scenario, tool_registry }
}

public fun end(self: Runner) {
    let Runner { scenario, .. } = self;
    scenario.end();
}

/// Begins a transaction of `sender`.
public fun next_tx(self: &mut Runner, sender: address): &mut Scenario {
    self.scenario.next_tx(sender);
    &mut self.scenario
}

public fun scenario(self: &mut Runner): &mut Scenario { &mut self.scenario }

/// Lets time pass.
public fun advance(self: &mut Runner, ms: u64) {
    let scenario = self.next_tx(ADMIN);
    let mut clock = scenario.take_shared<Clock>();
    clock.increment_for_testing(ms);
    test_scenario::return_shared(clock);
}

// === Transactions ===

/// A transaction of `$sender` on both registries.
public macro fun tx(
    $self: &mut Runner,
    $sender: address,
    $f: |&mut ToolRegistry, &mut LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let mut tools = scenario.take_shared<ToolRegistry>();
    let mut leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut tools, &mut leaders, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(tools);
}

/// A transaction of `$sender` with the cap of type `$Cap` that it got last, on the tool `$fqn`.
public macro fun tool_tx<$Cap: key>(
    $self: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $f: |&mut Tool, &$Cap, &ToolRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    self.next_tx($sender);
    let mut tool = self.take_tool($fqn);
    let scenario = self.scenario();
    let cap = scenario.take_from_sender<$Cap>();
    let tools = scenario.take_shared<ToolRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut tool, &cap, &tools, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(tools);
    test_scenario::return_shared(tool);
    scenario.return_to_sender(cap);
}

/// A transaction of `$sender` with the cap of type `$Cap` that it got last, on the leaders.
public macro fun leader_tx<$Cap: key>(
    $self: &mut Runner,
    $sender: address,
    $f: |&mut LeaderRegistry, &$Cap, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let cap = scenario.take_from_sender<$Cap>();
    let mut leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut leaders, &cap, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    scenario.return_to_sender(cap);
}

/// A transaction of `$sender` with its leader cap, on the invocation `$id`.
public macro fun invocation_tx(
    $self: &mut Runner,
    $sender: address,
    $id: ID,
    $f: |&mut Invocation, &LeaderCap, &LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let cap = scenario.take_from_sender<LeaderCap>();
    let leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    let mut invocation = scenario.take_shared_by_id<Invocation>($id);
    $f(&mut invocation, &cap, &leaders, &clock, scenario.ctx());
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    scenario.return_to_sender(cap);
}

// === Usual acts ===

/// Registers the first version of a name at 5 000 000 MIST and 10 s.
public fun register(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.tx!(sender, |tools, _, clock, ctx| {
        let (tool, cap) = tool::register(
            tools,
            mint(TOOL_COLLATERAL_MIST, ctx),
            DELAY_MS,
            define(fqn),
            5_000_000,
            clock,
            ctx,
        );
        tool.share();
        transfer::public_transfer(cap, sender);
    });
}

/// Registers a further version of the sender's name at no price.
public fun register_version(self: &mut Runner, sender: address, fqn: vector<u8>) {
    let cap = self.next_tx(sender).take_from_sender<OwnerCap>();
    self.tx!(sender, |tools, _, clock, ctx| {
        let tool = tool::register_version(
            tools,
            &cap,
            mint(TOOL_COLLATERAL_MIST, ctx),
            DELAY_MS,
            define(fqn),
            0,
            clock,
            ctx,
        );
        tool.share();
    });
    transfer::public_transfer(cap, sender);
}

public fun unregister(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.tool_tx!<OwnerCap>(sender, fqn, |tool, cap, _, clock, _| {
        tool.unregister(cap, clock);
    });
}

/// Claims the collateral and returns how much it is.
public fun claim(self: &mut Runner, sender: address, fqn: vector<u8>): u64 {
    let claimed_mist;
    self.tool_tx!<OwnerCap>(sender, fqn, |tool, cap, _, clock, ctx| {
        claimed_mist = tool.claim(cap, clock, ctx).burn_for_testing();
    });
    claimed_mist
}

public fun re_register(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.tool_tx!<OwnerCap>(sender, fqn, |tool, cap, tools, clock, ctx| {
        tool.re_register(cap, tools, mint(TOOL_COLLATERAL_MIST, ctx), DELAY_MS, clock);
    });
}

/// Registers a leader and activates it.
public fun register_leader(self: &mut Runner, sender: address): ID {
    let leader;
    self.tx!(sender, |_, leaders, _, ctx| {
        let collateral = mint(LEADER_COLLATERAL_MIST, ctx);
        let cap = leaders.register(collateral, DELAY_MS, b"leader".to_string(), ctx);
        leaders.activate(&cap);
        leader = object::id(&cap);
        transfer::public_transfer(cap, sender);
    });
    leader
}

/// Lets the admin propose to slash a tool.
public fun propose_slash(self: &mut Runner, fqn: vector<u8>, amount_mist: u64) {
    self.tool_tx!<AdminCap>(ADMIN, fqn, |tool, cap, tools, clock, _| {
        tool.propose_slash(cap, tools, amount_mist, b"It lied.".to_string(), evidence(), clock);
    });
}

/// Slashes a tool as soon as the rules allow, and returns what is burnt by that.
public fun slash(self: &mut Runner, fqn: vector<u8>, amount_mist: u64): u64 {
    self.propose_slash(fqn, amount_mist);
    self.advance(NOTICE_MS);
    self.tool_tx!<AdminCap>(ADMIN, fqn, |tool, cap, tools, clock, ctx| {
        tool.execute_slash(cap, tools, clock, ctx);
    });
    self.received(NOBODY)
}

/// Lets the admin propose to slash a leader.
public fun propose_leader_slash(self: &mut Runner, leader: ID, amount_mist: u64) {
    self.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, _| {
        let reason = b"It lied.".to_string();
        leaders.propose_slash(cap, leader, amount_mist, reason, evidence(), clock);
    });
}

/// Slashes a leader as soon as the rules allow, and returns what is burnt by that.
public fun slash_leader(self: &mut Runner, leader: ID, amount_mist: u64): u64 {
    self.propose_leader_slash(leader, amount_mist);
    self.advance(NOTICE_MS);
    self.leader_tx!<AdminCap>(ADMIN, |leaders, cap, clock, ctx| {
        leaders.execute_slash(cap, leader, clock, ctx);
    });
    self.received(NOBODY)
}

/// Requests an invocation with `inputs` and at most 100 bytes of outcome, for what it costs.
public fun request(self: &mut Runner, sender: address, fqn: vector<u8>): ID {
    let cost = self.cost(fqn, inputs().size(), 100);
    self.request_for(sender, fqn, inputs(), 100, cost)
}

/// Requests an invocation for `payment_mist`.
public fun request_for(
    self: &mut Runner,
    sender: address,
    fqn: vector<u8>,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment_mist: u64,
): ID {
    self.next_tx(sender);
    let tool = self.take_tool(fqn);
    let scenario = &mut self.scenario;
    let leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    let payment = mint(payment_mist, scenario.ctx());
    let id = invocation::request(
        &leaders,
        &tool,
        inputs,
        max_outcome_bytes,
        payment,
        &clock,
        scenario.ctx(),
    );
    test_scenario::return_shared(tool);
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    id
}

/// What an invocation costs.
public fun cost(
    self: &mut Runner,
    fqn: vector<u8>,
    input_bytes: u64,
    max_outcome_bytes: u64,
): u64 {
    self.next_tx(ADMIN);
    let tool = self.take_tool(fqn);
    let leaders = self.scenario.take_shared<LeaderRegistry>();
    let cost = invocation::quote(&leaders, &tool, input_bytes, max_outcome_bytes);
    test_scenario::return_shared(tool);
    test_scenario::return_shared(leaders);
    cost
}

/// Lets anyone declare an invocation expired.
public fun expire(self: &mut Runner, id: ID) {
    let scenario = self.next_tx(ADMIN);
    let clock = scenario.take_shared<Clock>();
    let mut invocation = scenario.take_shared_by_id<Invocation>(id);
    invocation.expire(&clock);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(clock);
}

/// Deletes an invocation and returns what comes back.
public fun delete(self: &mut Runner, sender: address, id: ID): u64 {
    let scenario = self.next_tx(sender);
    let invocation = scenario.take_shared_by_id<Invocation>(id);
    invocation.delete(scenario.ctx()).burn_for_testing()
}

/// What `owner` was sent in the last transaction it got a coin in.
public fun received(self: &mut Runner, owner: address): u64 {
    let scenario = self.next_tx(owner);
    scenario.take_from_sender<Coin<SUI>>().burn_for_testing()
}

/// The id of the tool with this FQN, or of the owner cap with this name.
public fun id_of(self: &Runner, name: vector<u8>): ID {
    derived_object::derive_address(self.tool_registry, name.to_ascii_string()).to_id()
}

/// Takes the tool with this FQN out of the ledger.
public fun take_tool(self: &Runner, fqn: vector<u8>): Tool {
    self.scenario.take_shared_by_id(self.id_of(fqn))
}

// === Values ===

/// A definition with a timeout of 10 s.
public fun define(fqn: vector<u8>): Definition {
    definition::define(
        fqn.to_ascii_string(),
        b"offchain".to_ascii_string(),
        b"https://tools.example.com/add".to_ascii_string(),
        b"Adds two integers.".to_string(),
        b"{}",
        b"{}",
        10_000,
    )
}

/// One port `a` with the JSON text `12345678`: 1 + 2 + 1 + 1 + 8 = 13 bytes.
public fun inputs(): Ports {
    value::ports(vector[b"a".to_ascii_string()], vector[value::inline(b"12345678")])
}

/// The digest of the evidence of a slash.
public fun evidence(): vector<u8> { vector::tabulate!(32, |i| i as u8) }

public fun mint(mist: u64, ctx: &mut TxContext): Coin<SUI> { coin::mint_for_testing(mist, ctx) }

/// Destroys a coin and returns what it was worth.
public fun burn(coin: Coin<SUI>): u64 { coin.burn_for_testing() }
