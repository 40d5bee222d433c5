/// Operations that are large enough to cost more than the minimum on Sui's node. The names of the
/// module and the structs are short, because an event also pays for the size of its type.
module costly::mm;

use sui::bcs;
use sui::event;

public struct SizedMessages has copy, drop {
    bytes: vector<u8>,
}

public struct Parcel has key, store {
    id: UID,
    bytes: vector<u8>,
}

/// Draw ids, then delete them.
public fun ids(count: u64, ctx: &mut TxContext) {
    let mut drawn = vector<UID>[];
    let mut turn = 0;
    while (turn < count) {
        let id = object::new(ctx);
        drawn.push_back(id);
        turn = turn + 1;
    };
    turn = 0;
    while (turn < count) {
        let id = drawn.pop_back();
        id.delete();
        turn = turn + 1;
    };
    drawn.destroy_empty();
}

/// Emit an event of `size` bytes, and its length.
public fun message(size: u64) {
    assert!(size > 3);
    let mut bytes = vector[];
    let mut turn = 0;
    let count = size - 3;
    while (turn < count) {
        bytes.push_back(9);
        turn = turn + 1;
    };
    let message = SizedMessages { bytes };
    assert!(bcs::to_bytes(&message).length() == size);
    event::emit(message);
}

/// Create an object of `size` bytes, and read it twice.
public fun parcel(size: u64, ctx: &mut TxContext): Parcel {
    assert!(size > 35);
    let mut bytes = vector[];
    let mut turn = 0;
    let count = size - 35;
    while (turn < count) {
        bytes.push_back(9);
        turn = turn + 1;
    };
    let parcel = Parcel { id: object::new(ctx), bytes };
    assert!(bcs::to_bytes(&parcel).length() == size);
    assert!(bcs::to_bytes(&parcel).length() == size);
    parcel
}
