"""What the framework offers to tests alone, and what no bytecode of a release has.

Module -> the members that it has in tests. Modules that the release has get them in addition. A
member without a body is native; `testing_natives` and `scenario_natives` have those. All names are
those that the framework documents.
"""

from collections.abc import Mapping

_UNIT_TEST = """
public native fun destroy<T>(value: T);

public macro fun assert_eq<$T: drop>($left: $T, $right: $T) {
    let left = $left;
    let right = $right;
    std::unit_test::assert_ref_eq!(&left, &right)
}

public macro fun assert_ref_eq<$T>($left: &$T, $right: &$T) {
    let left = $left;
    let right = $right;
    if (left != right) {
        std::debug::print(left);
        std::debug::print(right);
        assert!(false)
    }
}
"""

_VECTOR = """
public macro fun tabulate<$T>($count: u64, $make: |u64| -> $T): vector<$T> {
    let mut made = vector[];
    let count = $count;
    let mut index = 0;
    while (index < count) {
        made.push_back($make(index));
        index = index + 1;
    };
    made
}

public macro fun do<$T, $R: drop>($values: vector<$T>, $use: |$T| -> $R) {
    let mut values = $values;
    values.reverse();
    while (!values.is_empty()) { $use(values.pop_back()); };
    values.destroy_empty()
}

public macro fun do_ref<$T, $R: drop>($values: &vector<$T>, $use: |&$T| -> $R) {
    let values = $values;
    let mut index = 0;
    while (index < values.length()) {
        $use(&values[index]);
        index = index + 1;
    }
}

public macro fun map<$T, $R>($values: vector<$T>, $make: |$T| -> $R): vector<$R> {
    let mut values = $values;
    let mut made = vector[];
    values.reverse();
    while (!values.is_empty()) { made.push_back($make(values.pop_back())); };
    values.destroy_empty();
    made
}

public macro fun map_ref<$T, $R>($values: &vector<$T>, $make: |&$T| -> $R): vector<$R> {
    let values = $values;
    let mut made = vector[];
    let mut index = 0;
    while (index < values.length()) {
        made.push_back($make(&values[index]));
        index = index + 1;
    };
    made
}
"""

_TEST_SCENARIO = """
const EEmptyInventory: u64 = 3;

public struct Scenario { txn_number: u64, ctx: TxContext }

public struct TransactionEffects has drop {
    created: vector<ID>,
    written: vector<ID>,
    deleted: vector<ID>,
    transferred_to_account: sui::vec_map::VecMap<ID, address>,
    transferred_to_object: sui::vec_map::VecMap<ID, ID>,
    shared: vector<ID>,
    frozen: vector<ID>,
    num_user_events: u64,
}

public native fun begin(sender: address): Scenario;
native fun end_transaction(): TransactionEffects;
native fun begin_transaction(ctx: &mut TxContext, sender: address, number: u64);
native fun pass_epochs(ctx: &mut TxContext, epochs: u64, ms: u64);

public fun next_tx(scenario: &mut Scenario, sender: address): TransactionEffects {
    let effects = end_transaction();
    scenario.txn_number = scenario.txn_number + 1;
    begin_transaction(&mut scenario.ctx, sender, scenario.txn_number);
    effects
}

public fun next_epoch(scenario: &mut Scenario, sender: address): TransactionEffects {
    pass_epochs(&mut scenario.ctx, 1, 0);
    scenario.next_tx(sender)
}

public fun later_epoch(scenario: &mut Scenario, ms: u64, sender: address): TransactionEffects {
    pass_epochs(&mut scenario.ctx, 1, ms);
    scenario.next_tx(sender)
}

public fun skip_to_epoch(scenario: &mut Scenario, epoch: u64) {
    let now = scenario.ctx.epoch();
    assert!(epoch >= now);
    if (epoch > now) {
        pass_epochs(&mut scenario.ctx, epoch - now, 0);
        end_transaction();
    }
}

public fun end(scenario: Scenario): TransactionEffects {
    let Scenario { txn_number: _, ctx: _ } = scenario;
    end_transaction()
}

public fun ctx(scenario: &mut Scenario): &mut TxContext { &mut scenario.ctx }
public fun new_object(scenario: &mut Scenario): UID { object::new(&mut scenario.ctx) }
public fun sender(scenario: &Scenario): address { scenario.ctx.sender() }
public fun num_concluded_txes(scenario: &Scenario): u64 { scenario.txn_number }

public fun created(effects: &TransactionEffects): vector<ID> { effects.created }
public fun written(effects: &TransactionEffects): vector<ID> { effects.written }
public fun deleted(effects: &TransactionEffects): vector<ID> { effects.deleted }
public fun shared(effects: &TransactionEffects): vector<ID> { effects.shared }
public fun frozen(effects: &TransactionEffects): vector<ID> { effects.frozen }
public fun num_user_events(effects: &TransactionEffects): u64 { effects.num_user_events }

public fun transferred_to_account(
    effects: &TransactionEffects,
): sui::vec_map::VecMap<ID, address> { effects.transferred_to_account }

public fun transferred_to_object(effects: &TransactionEffects): sui::vec_map::VecMap<ID, ID> {
    effects.transferred_to_object
}

public native fun take_from_address_by_id<T: key>(scenario: &Scenario, account: address, id: ID): T;
public native fun most_recent_id_for_address<T: key>(account: address): Option<ID>;
public native fun ids_for_address<T: key>(account: address): vector<ID>;
public native fun return_to_address<T: key>(account: address, object: T);
public native fun was_taken_from_address(account: address, id: ID): bool;

public fun has_most_recent_for_address<T: key>(account: address): bool {
    most_recent_id_for_address<T>(account).is_some()
}

public fun take_from_address<T: key>(scenario: &Scenario, account: address): T {
    let id = most_recent_id_for_address<T>(account);
    assert!(id.is_some(), EEmptyInventory);
    take_from_address_by_id(scenario, account, id.destroy_some())
}

public fun take_from_sender_by_id<T: key>(scenario: &Scenario, id: ID): T {
    take_from_address_by_id(scenario, scenario.sender(), id)
}

public fun most_recent_id_for_sender<T: key>(scenario: &Scenario): Option<ID> {
    most_recent_id_for_address<T>(scenario.sender())
}

public fun has_most_recent_for_sender<T: key>(scenario: &Scenario): bool {
    has_most_recent_for_address<T>(scenario.sender())
}

public fun take_from_sender<T: key>(scenario: &Scenario): T {
    take_from_address(scenario, scenario.sender())
}

public fun return_to_sender<T: key>(scenario: &Scenario, object: T) {
    return_to_address(scenario.sender(), object)
}

public fun was_taken_from_sender(scenario: &Scenario, id: ID): bool {
    was_taken_from_address(scenario.sender(), id)
}

public fun ids_for_sender<T: key>(scenario: &Scenario): vector<ID> {
    ids_for_address<T>(scenario.sender())
}

public native fun take_immutable_by_id<T: key>(scenario: &Scenario, id: ID): T;
public native fun most_recent_immutable_id<T: key>(): Option<ID>;
public native fun return_immutable<T: key>(object: T);
public native fun was_taken_immutable(id: ID): bool;

public fun has_most_recent_immutable<T: key>(): bool { most_recent_immutable_id<T>().is_some() }

public fun take_immutable<T: key>(scenario: &Scenario): T {
    let id = most_recent_immutable_id<T>();
    assert!(id.is_some(), EEmptyInventory);
    take_immutable_by_id(scenario, id.destroy_some())
}

public native fun take_shared_by_id<T: key>(scenario: &Scenario, id: ID): T;
public native fun most_recent_id_shared<T: key>(): Option<ID>;
public native fun return_shared<T: key>(object: T);

public fun has_most_recent_shared<T: key>(): bool { most_recent_id_shared<T>().is_some() }

public fun take_shared<T: key>(scenario: &Scenario): T {
    let id = most_recent_id_shared<T>();
    assert!(id.is_some(), EEmptyInventory);
    take_shared_by_id(scenario, id.destroy_some())
}

public native fun receiving_ticket_by_id<T: key>(id: ID): sui::transfer::Receiving<T>;
public native fun return_receiving_ticket<T: key>(ticket: sui::transfer::Receiving<T>);

public fun receivable_object_ids_for_owner_id<T: key>(owner: ID): vector<ID> {
    ids_for_address<T>(owner.to_address())
}

public fun most_recent_receiving_ticket<T: key>(owner: &ID): sui::transfer::Receiving<T> {
    let id = most_recent_id_for_address<T>(owner.to_address());
    assert!(id.is_some(), EEmptyInventory);
    receiving_ticket_by_id<T>(id.destroy_some())
}
"""

_TEST_UTILS = """
public native fun destroy<T>(value: T);
public native fun create_one_time_witness<T: drop>(): T;

public fun assert_eq<T: drop>(left: T, right: T) { assert_ref_eq(&left, &right) }

public fun assert_ref_eq<T>(left: &T, right: &T) {
    if (left != right) {
        std::debug::print(left);
        std::debug::print(right);
        abort 0
    }
}

public fun print(text: vector<u8>) { std::debug::print(&text.to_ascii_string()) }
"""

_TX_CONTEXT = """
public native fun new(
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
): TxContext;
public native fun new_from_hint(
    sender: address,
    hint: u64,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
): TxContext;
public native fun dummy(): TxContext;
public native fun get_ids_created(ctx: &TxContext): u64;
public native fun last_created_object_id(ctx: &TxContext): address;
public native fun increment_epoch_number(ctx: &mut TxContext);
public native fun increment_epoch_timestamp(ctx: &mut TxContext, ms: u64);
"""

_CLOCK = """
public native fun create_for_testing(ctx: &mut TxContext): sui::clock::Clock;
public native fun share_for_testing(clock: sui::clock::Clock);
public native fun increment_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun set_for_testing(clock: &mut sui::clock::Clock, ms: u64);
public native fun destroy_for_testing(clock: sui::clock::Clock);
"""

_BALANCE = """
public native fun create_for_testing<T>(value: u64): sui::balance::Balance<T>;
public native fun destroy_for_testing<T>(balance: sui::balance::Balance<T>): u64;
public native fun create_supply_for_testing<T>(): sui::balance::Supply<T>;
"""

_COIN = """
public native fun mint_for_testing<T>(value: u64, ctx: &mut TxContext): sui::coin::Coin<T>;
public native fun burn_for_testing<T>(coin: sui::coin::Coin<T>): u64;
public native fun create_treasury_cap_for_testing<T>(
    ctx: &mut TxContext,
): sui::coin::TreasuryCap<T>;
"""

_EVENT = """
public native fun num_events(): u32;
public native fun events_by_type<T: copy + drop>(): vector<T>;
"""

_RANDOM = """
public native fun new_generator_for_testing(): sui::random::RandomGenerator;
public native fun new_generator_from_seed_for_testing(
    seed: vector<u8>,
): sui::random::RandomGenerator;
"""

_PACKAGE = """
public native fun test_claim<T: drop>(witness: T, ctx: &mut TxContext): sui::package::Publisher;
public native fun test_publish(package: ID, ctx: &mut TxContext): sui::package::UpgradeCap;
"""

DECLARATIONS: Mapping[str, str] = {
    "std::unit_test": _UNIT_TEST,
    "std::vector": _VECTOR,
    "sui::balance": _BALANCE,
    "sui::clock": _CLOCK,
    "sui::coin": _COIN,
    "sui::event": _EVENT,
    "sui::object": "public native fun last_created(ctx: &TxContext): ID;\n",
    "sui::package": _PACKAGE,
    "sui::random": _RANDOM,
    "sui::test_scenario": _TEST_SCENARIO,
    "sui::test_utils": _TEST_UTILS,
    "sui::tx_context": _TX_CONTEXT,
}
"""Module -> the members that it has in tests."""
