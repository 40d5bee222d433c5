module sui::test_utils;

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
