module names::std;

public struct Standard has copy, drop, store { fixed: std::fixed_point32::FixedPoint32 }
