module sui::tx_context;

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
public native fun create(
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
    rgp: u64,
    gas_price: u64,
    gas_budget: u64,
    sponsor: Option<address>,
): TxContext;
public native fun dummy_tx_hash_with_hint(hint: u64): vector<u8>;
public native fun ids_created(ctx: &TxContext): u64;
public native fun gas_budget(ctx: &TxContext): u64;
public native fun get_ids_created(ctx: &TxContext): u64;
public native fun last_created_object_id(ctx: &TxContext): address;
public native fun increment_epoch_number(ctx: &mut TxContext);
public native fun increment_epoch_timestamp(ctx: &mut TxContext, ms: u64);
