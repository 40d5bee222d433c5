module sui_system::sui_system;

public native fun epoch(state: &mut sui_system::sui_system::SuiSystemState): u64;
public native fun epoch_start_timestamp_ms(
    state: &mut sui_system::sui_system::SuiSystemState,
): u64;
public native fun validator_stake_amount(
    state: &mut sui_system::sui_system::SuiSystemState,
    validator: address,
): u64;
public native fun validator_staking_pool_id(
    state: &mut sui_system::sui_system::SuiSystemState,
    validator: address,
): ID;
public native fun validators(
    state: &mut sui_system::sui_system::SuiSystemState,
): &sui_system::validator_set::ValidatorSet;
public native fun get_reporters_of(
    state: &mut sui_system::sui_system::SuiSystemState,
    validator: address,
): sui::vec_set::VecSet<address>;
public native fun get_storage_fund_total_balance(
    state: &mut sui_system::sui_system::SuiSystemState,
): u64;
public native fun get_storage_fund_object_rebates(
    state: &mut sui_system::sui_system::SuiSystemState,
): u64;
public native fun request_add_validator_for_testing(
    state: &mut sui_system::sui_system::SuiSystemState,
    ctx: &TxContext,
);
