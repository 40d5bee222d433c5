module std::bit_vector;

public native fun word_size(): u64;
