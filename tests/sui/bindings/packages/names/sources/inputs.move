module names::inputs;

public struct Input has copy, drop, store { input: u8 }
