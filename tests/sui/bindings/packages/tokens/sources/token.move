/// Types that another package uses in its structs.
module tokens::token;

/// A number with a unit.
public struct Amount<Unit: copy + drop + store> has copy, drop, store {
    number: u64,
    unit: Unit,
}

/// A badge that a holder keeps.
public struct Badge has key, store {
    id: UID,
    level: u8,
}

public fun amount<Unit: copy + drop + store>(number: u64, unit: Unit): Amount<Unit> {
    Amount { number, unit }
}

public fun badge(level: u8, ctx: &mut TxContext): Badge {
    Badge { id: object::new(ctx), level }
}

public fun level(self: &Badge): u8 { self.level }

public fun discard(self: Badge) {
    let Badge { id, level: _ } = self;
    id.delete();
}
