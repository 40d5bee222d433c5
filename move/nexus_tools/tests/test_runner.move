/// Helpers for transactions of several accounts on a newly published package.
///
/// Each macro is one transaction. The macro takes the named objects from the ledger, passes them to
/// the test, and returns them to the ledger.
#[test_only]
module nexus_tools::test_runner;

use nexus_tools::admin::{Self, Admin};
use nexus_tools::definition::{Self, Definition};
use nexus_tools::fqn;
use nexus_tools::invocation::{Self, Invocation};
use nexus_tools::leader::{Self, Leader};
use nexus_tools::leader_registry::{Self, LeaderRegistry};
use nexus_tools::name::Name;
use nexus_tools::slashing;
use nexus_tools::tool::{Self, Tool};
use nexus_tools::tool_registry::{Self, ToolRegistry};
use nexus_tools::value::{Self, Ports};
use std::ascii;
use std::bcs;
use std::unit_test::assert_eq;
use sui::balance;
use sui::clock::{Self, Clock};
use sui::coin::{Self, Coin};
use sui::derived_object;
use sui::event;
use sui::sui::SUI;
use sui::test_scenario::{Self, Scenario};

// === Constants ===

const ADMIN: address = @0xAD;
const ALICE: address = @0xA;
const LEE: address = @0x1;

/// The FQN of Alice's tool.
const ADD: vector<u8> = b"xyz.example.add@1";

/// The reference gas price of the first epoch.
const GAS_PRICE: u64 = 1_000;
const START_MS: u64 = 1_000_000;
const TOOL_COLLATERAL_MIST: u64 = 1_000_000_000;
const LEADER_COLLATERAL_MIST: u64 = 10_000_000_000;
const DELAY_MS: u64 = 604_800_000;
/// The time between the proposal of a slash and its execution.
const NOTICE_MS: u64 = 259_200_000;
const MAX_U64: u64 = 18_446_744_073_709_551_615;

// === Structs ===

/// A test ledger on which the package is published.
public struct Runner {
    scenario: Scenario,
    tools: ID,
    leaders: ID,
}

// === Start, time and end ===

/// Publish the package. The publisher is the admin.
public fun start(): Runner {
    let builder = test_scenario::ctx_builder_from_sender(ADMIN);
    let mut scenario = test_scenario::begin_with_context(
        builder.set_reference_gas_price(GAS_PRICE),
    );
    admin::init_for_testing(scenario.ctx());
    tool_registry::init_for_testing(scenario.ctx());
    leader_registry::init_for_testing(scenario.ctx());
    let mut clock = clock::create_for_testing(scenario.ctx());
    clock.set_for_testing(START_MS);
    clock.share_for_testing();
    scenario.next_tx(ADMIN);
    let tools = test_scenario::most_recent_id_shared<ToolRegistry>().destroy_some();
    let leaders = test_scenario::most_recent_id_shared<LeaderRegistry>().destroy_some();
    Runner { scenario, tools, leaders }
}

public fun end(self: Runner) {
    let Runner { scenario, .. } = self;
    scenario.end();
}

/// Start a transaction of `sender`.
public fun next_tx(self: &mut Runner, sender: address): &mut Scenario {
    self.scenario.next_tx(sender);
    &mut self.scenario
}

/// Start an epoch with another reference gas price.
public fun next_epoch(self: &mut Runner, gas_price: u64) {
    let epoch = self.scenario.ctx().epoch() + 1;
    let builder = self.scenario.ctx_builder().set_epoch(epoch);
    self.scenario.next_with_context(builder.set_reference_gas_price(gas_price));
}

public fun scenario(self: &mut Runner): &mut Scenario { &mut self.scenario }

/// Advance the clock.
public fun advance(self: &mut Runner, ms: u64) {
    let scenario = self.next_tx(ADMIN);
    let mut clock = scenario.take_shared<Clock>();
    clock.increment_for_testing(ms);
    test_scenario::return_shared(clock);
}

// === Transactions ===

/// Run a transaction of `$sender` on both registries.
public macro fun tx(
    $self: &mut Runner,
    $sender: address,
    $f: |&mut ToolRegistry, &mut LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    self.admin_tx!($sender, |_, tools, leaders, clock, ctx| $f(tools, leaders, clock, ctx));
}

/// Run a transaction of `$sender` on the administration and both registries.
public macro fun admin_tx(
    $self: &mut Runner,
    $sender: address,
    $f: |&mut Admin, &mut ToolRegistry, &mut LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let mut admin = scenario.take_shared<Admin>();
    let mut tools = scenario.take_shared<ToolRegistry>();
    let mut leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut admin, &mut tools, &mut leaders, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(tools);
    test_scenario::return_shared(admin);
}

/// Run a transaction of `$sender` on the tool `$fqn` and its name.
public macro fun tool_tx(
    $self: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $f: |&mut Tool, &mut Name, &ToolRegistry, &Clock, &mut TxContext|,
) {
    let (self, fqn) = ($self, $fqn);
    self.named_tool_tx!($sender, fqn, name_of(fqn), |tool, name, tools, clock, ctx| {
        $f(tool, name, tools, clock, ctx)
    });
}

/// Run a transaction of `$sender` on the tool `$fqn` and any name.
public macro fun named_tool_tx(
    $self: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $name: vector<u8>,
    $f: |&mut Tool, &mut Name, &ToolRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let (tool, name) = (self.id_of($fqn), self.id_of($name));
    let scenario = self.next_tx($sender);
    let mut tool = scenario.take_shared_by_id<Tool>(tool);
    let mut name = scenario.take_shared_by_id<Name>(name);
    let tools = scenario.take_shared<ToolRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut tool, &mut name, &tools, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(tools);
    test_scenario::return_shared(name);
    test_scenario::return_shared(tool);
}

/// Run a transaction of `$sender` on the tool `$fqn` and the administration.
public macro fun tool_admin_tx(
    $self: &mut Runner,
    $sender: address,
    $fqn: vector<u8>,
    $f: |&mut Tool, &Admin, &ToolRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let tool = self.id_of($fqn);
    let scenario = self.next_tx($sender);
    let admin = scenario.take_shared<Admin>();
    let mut tool = scenario.take_shared_by_id<Tool>(tool);
    let tools = scenario.take_shared<ToolRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut tool, &admin, &tools, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(tools);
    test_scenario::return_shared(tool);
    test_scenario::return_shared(admin);
}

/// Run a transaction of `$sender` on a leader.
public macro fun leader_tx(
    $self: &mut Runner,
    $sender: address,
    $leader: ID,
    $f: |&mut Leader, &mut LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    self.leader_admin_tx!($sender, $leader, |leader, _, leaders, clock, ctx| {
        $f(leader, leaders, clock, ctx)
    });
}

/// Run a transaction of `$sender` on a leader and the administration.
public macro fun leader_admin_tx(
    $self: &mut Runner,
    $sender: address,
    $leader: ID,
    $f: |&mut Leader, &Admin, &mut LeaderRegistry, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let admin = scenario.take_shared<Admin>();
    let mut leader = scenario.take_shared_by_id<Leader>($leader);
    let mut leaders = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    $f(&mut leader, &admin, &mut leaders, &clock, scenario.ctx());
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(leader);
    test_scenario::return_shared(admin);
}

/// Run a transaction of `$sender` on the invocation `$id` and a leader.
public macro fun invocation_tx(
    $self: &mut Runner,
    $sender: address,
    $id: ID,
    $leader: ID,
    $f: |&mut Invocation, &Leader, &Clock, &mut TxContext|,
) {
    let self = $self;
    let scenario = self.next_tx($sender);
    let leader = scenario.take_shared_by_id<Leader>($leader);
    let clock = scenario.take_shared<Clock>();
    let mut invocation = scenario.take_shared_by_id<Invocation>($id);
    $f(&mut invocation, &leader, &clock, scenario.ctx());
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(clock);
    test_scenario::return_shared(leader);
}

// === Operations: tools ===

/// Register Lee's leader, and Alice's tool, which lists the leader and has a price of
/// 5 000 000 MIST.
public fun alice_and_lee(): (Runner, ID) {
    let mut runner = start();
    let lee = runner.register_leader(LEE);
    runner.register(ALICE, ADD, 5_000_000, vector[lee]);
    (runner, lee)
}

/// Register the first version of a name.
public fun register(
    self: &mut Runner,
    sender: address,
    fqn: vector<u8>,
    price_mist: u64,
    leaders: vector<ID>,
) {
    self.tx!(sender, |tools, _, clock, ctx| {
        let (tool, name) = tool::register(
            tools,
            mint(TOOL_COLLATERAL_MIST, ctx),
            DELAY_MS,
            define(fqn),
            price_mist,
            leaders,
            clock,
            ctx,
        );
        tool.share();
        name.share();
    });
}

/// Register a further version of a name without a price.
public fun register_version(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.register_version_of(sender, fqn, name_of(fqn));
}

/// Register a tool as a version of `name` without a price.
public fun register_version_of(
    self: &mut Runner,
    sender: address,
    fqn: vector<u8>,
    name: vector<u8>,
) {
    let name = self.id_of(name);
    let name = self.next_tx(sender).take_shared_by_id<Name>(name);
    self.tx!(sender, |tools, _, clock, ctx| {
        let tool = tool::register_version(
            tools,
            &name,
            mint(TOOL_COLLATERAL_MIST, ctx),
            DELAY_MS,
            define(fqn),
            0,
            vector[],
            clock,
            ctx,
        );
        tool.share();
    });
    test_scenario::return_shared(name);
}

public fun unregister(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.tool_tx!(sender, fqn, |tool, name, _, clock, ctx| tool.unregister(name, clock, ctx));
}

/// Claim the collateral, and return the amount. The function fails if the sender is paid more than
/// this amount.
public fun claim(self: &mut Runner, sender: address, fqn: vector<u8>): u64 {
    let mut claimed_mist = 0;
    self.tool_tx!(sender, fqn, |tool, name, _, clock, ctx| {
        let before_mist = tool.collateral().balance_mist();
        tool.claim(name, clock, ctx);
        claimed_mist = before_mist - tool.collateral().balance_mist();
        assert_paid_at_most(sender, claimed_mist);
    });
    claimed_mist
}

public fun re_register(self: &mut Runner, sender: address, fqn: vector<u8>) {
    self.tool_tx!(sender, fqn, |tool, name, tools, clock, ctx| {
        let collateral = mint(TOOL_COLLATERAL_MIST, ctx);
        tool.re_register(name, tools, collateral, DELAY_MS, clock, ctx);
    });
}

/// Propose to slash a tool, as the admin.
public fun propose_slash(self: &mut Runner, fqn: vector<u8>, amount_mist: u64) {
    self.tool_admin_tx!(ADMIN, fqn, |tool, admin, tools, clock, ctx| {
        let reason = b"It lied.".to_string();
        slashing::propose_for_tool(tool, admin, tools, amount_mist, reason, evidence_digest(), clock, ctx);
    });
}

/// Slash a tool as soon as possible.
public fun slash(self: &mut Runner, fqn: vector<u8>, amount_mist: u64) {
    self.propose_slash(fqn, amount_mist);
    self.advance(NOTICE_MS);
    self.tool_admin_tx!(ADMIN, fqn, |tool, admin, tools, clock, ctx| {
        slashing::execute_for_tool(tool, admin, tools, clock, ctx);
    });
}

// === Operations: leaders ===

/// Register a leader whose owner is also its worker, and activate the leader.
public fun register_leader(self: &mut Runner, sender: address): ID {
    let mut id = @0x0.to_id();
    self.tx!(sender, |_, leaders, clock, ctx| {
        let mut leader = leader::register(
            leaders,
            mint(LEADER_COLLATERAL_MIST, ctx),
            DELAY_MS,
            b"leader".to_string(),
            vector[sender],
            clock,
            ctx,
        );
        leader.activate(leaders, ctx);
        id = object::id(&leader);
        leader.share();
    });
    id
}

public fun unregister_leader(self: &mut Runner, sender: address, leader: ID) {
    self.leader_tx!(sender, leader, |leader, _, clock, ctx| leader.unregister(clock, ctx));
}

/// Claim the collateral, and return the amount. The function fails if the sender is paid more than
/// this amount.
public fun claim_leader(self: &mut Runner, sender: address, leader: ID): u64 {
    let mut claimed_mist = 0;
    self.leader_tx!(sender, leader, |leader, _, clock, ctx| {
        let before_mist = leader.collateral().balance_mist();
        leader.claim(clock, ctx);
        claimed_mist = before_mist - leader.collateral().balance_mist();
        assert_paid_at_most(sender, claimed_mist);
    });
    claimed_mist
}

/// Propose to slash a leader, as the admin.
public fun propose_leader_slash(self: &mut Runner, leader: ID, amount_mist: u64) {
    self.leader_admin_tx!(ADMIN, leader, |leader, admin, leaders, clock, ctx| {
        let reason = b"It lied.".to_string();
        slashing::propose_for_leader(leader, admin, leaders, amount_mist, reason, evidence_digest(), clock, ctx);
    });
}

/// Slash a leader as soon as possible.
public fun slash_leader(self: &mut Runner, leader: ID, amount_mist: u64) {
    self.propose_leader_slash(leader, amount_mist);
    self.advance(NOTICE_MS);
    self.leader_admin_tx!(ADMIN, leader, |leader, admin, leaders, clock, ctx| {
        slashing::execute_for_leader(leader, admin, leaders, clock, ctx);
    });
}

/// Change the settings of new invocations, as the admin.
public fun configure_leaders(self: &mut Runner, accepting: bool) {
    self.admin_tx!(ADMIN, |admin, _, leaders, _, ctx| {
        leaders.configure(admin, accepting, 200_000_000, 3_600_000, 1, 1, 1, 1, 1, 5_000, 1, ctx);
    });
}

// === Operations: invocations ===

/// Request an invocation with `inputs` and an outcome of at most 100 bytes, and pay exactly the
/// cost.
public fun request(self: &mut Runner, sender: address, fqn: vector<u8>, leaders: vector<ID>): ID {
    let cost_mist = self.cost(fqn, inputs().size(), 100);
    self.request_for(sender, fqn, leaders, inputs(), 100, cost_mist)
}

/// Request an invocation under the current revisions of the tool and the settings, with a payment
/// of `payment_mist`.
public fun request_for(
    self: &mut Runner,
    sender: address,
    fqn: vector<u8>,
    leaders: vector<ID>,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment_mist: u64,
): ID {
    let (mut settings_revision, mut tool_revision) = (0, 0);
    self.tx!(sender, |_, leaders, _, _| settings_revision = leaders.settings().revision());
    self.tool_tx!(sender, fqn, |tool, _, _, _, _| tool_revision = tool.revision());
    self.request_at(
        sender,
        fqn,
        settings_revision,
        tool_revision,
        leaders,
        inputs,
        max_outcome_bytes,
        payment_mist,
    )
}

/// Request an invocation under the given revisions of the settings and the tool, by one or two
/// leaders.
public fun request_at(
    self: &mut Runner,
    sender: address,
    fqn: vector<u8>,
    settings_revision: u64,
    tool_revision: u64,
    leaders: vector<ID>,
    inputs: Ports,
    max_outcome_bytes: u64,
    payment_mist: u64,
): ID {
    let tool = self.id_of(fqn);
    let scenario = self.next_tx(sender);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let registry = scenario.take_shared<LeaderRegistry>();
    let clock = scenario.take_shared<Clock>();
    let mut named = leaders.map!(|leader| scenario.take_shared_by_id<Leader>(leader));
    let payment = mint(payment_mist, scenario.ctx());
    let id = if (named.length() == 1) {
        invocation::request(
            &registry,
            settings_revision,
            &tool,
            tool_revision,
            &named[0],
            inputs,
            max_outcome_bytes,
            payment,
            &clock,
            scenario.ctx(),
        )
    } else {
        invocation::request_with_backup(
            &registry,
            settings_revision,
            &tool,
            tool_revision,
            &named[0],
            &named[1],
            inputs,
            max_outcome_bytes,
            payment,
            &clock,
            scenario.ctx(),
        )
    };
    while (!named.is_empty()) test_scenario::return_shared(named.pop_back());
    named.destroy_empty();
    test_scenario::return_shared(clock);
    test_scenario::return_shared(registry);
    test_scenario::return_shared(tool);
    id
}

/// Return the cost of an invocation.
public fun cost(self: &mut Runner, fqn: vector<u8>, input_bytes: u64, max_outcome_bytes: u64): u64 {
    let tool = self.id_of(fqn);
    let scenario = self.next_tx(ADMIN);
    let tool = scenario.take_shared_by_id<Tool>(tool);
    let leaders = scenario.take_shared<LeaderRegistry>();
    let cost_mist = invocation::quote(
        &leaders,
        &tool,
        input_bytes,
        max_outcome_bytes,
        scenario.ctx(),
    );
    test_scenario::return_shared(leaders);
    test_scenario::return_shared(tool);
    cost_mist
}

/// Expire an invocation, as an account without rights. The function fails if `requester` is
/// refunded more than `refund_mist`.
public fun expire(self: &mut Runner, id: ID, requester: address, refund_mist: u64) {
    let scenario = self.next_tx(ADMIN);
    let clock = scenario.take_shared<Clock>();
    let mut invocation = scenario.take_shared_by_id<Invocation>(id);
    invocation.expire(&clock);
    assert_paid_at_most(requester, refund_mist);
    test_scenario::return_shared(invocation);
    test_scenario::return_shared(clock);
}

public fun delete(self: &mut Runner, sender: address, id: ID) {
    let scenario = self.next_tx(sender);
    let invocation = scenario.take_shared_by_id<Invocation>(id);
    invocation.delete(scenario.ctx());
}

// === Events and payments ===

/// Return the bytes of the only event of type `E` in this transaction.
public fun event_bytes<E: copy + drop>(): vector<u8> {
    let events = event::events_by_type<E>();
    assert_eq!(events.length(), 1);
    bcs::to_bytes(&events[0])
}

/// Return the bytes of a field of an event or an object.
public fun field<T: drop>(value: T): vector<u8> { bcs::to_bytes(&value) }

/// Fail if more than `mist` was paid to an address in this transaction.
///
/// Move code cannot read an address balance. But the sum of the payments to an address in one
/// transaction must fit into a `u64`. So this function also pays the largest amount that may
/// remain, which overflows if more was paid.
public fun assert_paid_at_most(owner: address, mist: u64) {
    balance::create_for_testing<SUI>(MAX_U64 - mist).send_funds(owner);
}

// === IDs and values ===

/// Return the ID of the tool with this FQN, or of the `Name` with this name.
public fun id_of(self: &Runner, name: vector<u8>): ID {
    derived_object::derive_address(self.tools, name.to_ascii_string()).to_id()
}

/// Return the ID of the leader with this index.
public fun leader_id(self: &Runner, index: u64): ID {
    derived_object::derive_address(self.leaders, index).to_id()
}

/// Return the unversioned name of an FQN.
public fun name_of(fqn: vector<u8>): vector<u8> {
    fqn::unversioned(&fqn.to_ascii_string()).into_bytes()
}

/// Return a definition with a timeout of 10 s.
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

/// Return one port `a` with the JSON text `12345678`, which has 1 + 2 + 1 + 1 + 8 = 13 bytes.
public fun inputs(): Ports { port(b"a", b"12345678") }

/// Return the variant of an answer.
public fun ok(): ascii::String { b"ok".to_ascii_string() }

/// Return the port `result` with the JSON text `3`, which has 1 + 1 + 6 + 1 + 1 + 1 = 11 bytes.
public fun sum(): Ports { port(b"result", b"3") }

/// Return one port with a JSON text.
public fun port(name: vector<u8>, json: vector<u8>): Ports {
    value::ports(vector[name.to_ascii_string()], vector[value::inline(json)])
}

/// Return the digest of the evidence of a slash.
public fun evidence_digest(): vector<u8> { vector::tabulate!(32, |i| i as u8) }

/// Return 32 equal bytes, which represent an Ed25519 public key.
public fun key(byte: u8): vector<u8> { text(32, byte) }

/// Return `length` equal bytes.
public fun text(length: u64, byte: u8): vector<u8> { vector::tabulate!(length, |_| byte) }

public fun mint(mist: u64, ctx: &mut TxContext): Coin<SUI> { coin::mint_for_testing(mist, ctx) }
