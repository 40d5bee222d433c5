module std::unit_test;

public native fun destroy<T>(value: T);
