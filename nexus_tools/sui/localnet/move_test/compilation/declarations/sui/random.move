module sui::random;

public native fun create_for_testing(ctx: &mut TxContext);
public native fun update_randomness_state_for_testing(
    random: &mut sui::random::Random,
    round: u64,
    bytes: vector<u8>,
    ctx: &TxContext,
);
public native fun generator_seed(generator: &sui::random::RandomGenerator): &vector<u8>;
public native fun generator_counter(generator: &sui::random::RandomGenerator): u16;
public native fun generator_buffer(generator: &sui::random::RandomGenerator): &vector<u8>;
public native fun new_generator_for_testing(): sui::random::RandomGenerator;
public native fun new_generator_from_seed_for_testing(
    seed: vector<u8>,
): sui::random::RandomGenerator;
