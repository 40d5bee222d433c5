module sui::test_scenario;

const EEmptyInventory: u64 = 3;

public struct Scenario { txn_number: u64, ctx: TxContext }

public struct TxContextBuilder has copy, drop {
    sender: address,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
    rgp: Option<u64>,
    gas_price: u64,
    gas_budget: u64,
    sponsor: Option<address>,
}

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
native fun create_framework_objects(ctx: &mut TxContext);
native fun ids_and_budget(ctx: &TxContext): (u64, u64);
native fun make_tx_context(builder: TxContextBuilder, price: u64, number: u64): TxContext;
native fun pass_epochs(ctx: &mut TxContext, epochs: u64, ms: u64);

public fun begin_with_context(builder: TxContextBuilder): Scenario {
    assert!(builder.rgp.is_some());
    Scenario { txn_number: 0, ctx: make_tx_context(builder, builder.rgp.destroy_some(), 0) }
}

public fun create_system_objects(scenario: &mut Scenario) {
    let sender = scenario.sender();
    scenario.next_tx(@0x0);
    create_framework_objects(&mut scenario.ctx);
    scenario.next_tx(sender);
}

public fun next_tx(scenario: &mut Scenario, sender: address): TransactionEffects {
    let effects = end_transaction();
    scenario.txn_number = scenario.txn_number + 1;
    begin_transaction(&mut scenario.ctx, sender, scenario.txn_number);
    effects
}

public fun next_with_context(
    scenario: &mut Scenario,
    builder: TxContextBuilder,
): TransactionEffects {
    let now = scenario.ctx.epoch();
    assert!(builder.epoch >= now);
    let price = scenario.ctx.reference_gas_price();
    assert!(builder.rgp.is_none() || builder.rgp.contains(&price) || builder.epoch > now);
    assert!(builder.epoch_timestamp_ms >= scenario.ctx.epoch_timestamp_ms());
    let mut left = if (builder.epoch > now) builder.epoch - now else 1;
    loop {
        let effects = end_transaction();
        scenario.txn_number = scenario.txn_number + 1;
        let price = builder.rgp.destroy_some();
        scenario.ctx = make_tx_context(builder, price, scenario.txn_number);
        left = left - 1;
        if (left == 0) return effects
    }
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

public fun ctx_builder_from_sender(sender: address): TxContextBuilder {
    TxContextBuilder {
        sender,
        epoch: 0,
        epoch_timestamp_ms: 0,
        ids_created: 0,
        rgp: option::some(700),
        gas_price: 1_000,
        gas_budget: 100_000_000,
        sponsor: option::none(),
    }
}

public fun ctx_builder(scenario: &Scenario): TxContextBuilder {
    ctx_builder_from_context(&scenario.ctx)
}

public fun ctx_builder_from_context(ctx: &TxContext): TxContextBuilder {
    let (ids_created, gas_budget) = ids_and_budget(ctx);
    TxContextBuilder {
        sender: ctx.sender(),
        epoch: ctx.epoch(),
        epoch_timestamp_ms: ctx.epoch_timestamp_ms(),
        ids_created,
        rgp: option::some(ctx.reference_gas_price()),
        gas_price: ctx.gas_price(),
        gas_budget,
        sponsor: ctx.sponsor(),
    }
}

public fun set_epoch(mut builder: TxContextBuilder, epoch: u64): TxContextBuilder {
    builder.epoch = epoch;
    builder
}

public fun set_epoch_timestamp(mut builder: TxContextBuilder, ms: u64): TxContextBuilder {
    builder.epoch_timestamp_ms = ms;
    builder
}

public fun set_ids_created(mut builder: TxContextBuilder, count: u64): TxContextBuilder {
    builder.ids_created = count;
    builder
}

public fun set_reference_gas_price(mut builder: TxContextBuilder, price: u64): TxContextBuilder {
    builder.rgp = option::some(price);
    builder
}

public fun set_gas_price(mut builder: TxContextBuilder, price: u64): TxContextBuilder {
    builder.gas_price = price;
    builder
}

public fun set_gas_budget(mut builder: TxContextBuilder, budget: u64): TxContextBuilder {
    builder.gas_budget = budget;
    builder
}

public fun set_sponsor(mut builder: TxContextBuilder, sponsor: address): TxContextBuilder {
    builder.sponsor = option::some(sponsor);
    builder
}

public fun unset_reference_gas_price(mut builder: TxContextBuilder): TxContextBuilder {
    builder.rgp = option::none();
    builder
}

public fun unset_sponsor(mut builder: TxContextBuilder): TxContextBuilder {
    builder.sponsor = option::none();
    builder
}
