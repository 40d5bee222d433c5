module names::bcs;

public struct Codec has copy, drop, store { encode: u8 }
