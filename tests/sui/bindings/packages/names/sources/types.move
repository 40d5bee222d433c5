/// With the name of the table of types.
module names::TYPES;

public struct Types has copy, drop, store { types: u8 }
