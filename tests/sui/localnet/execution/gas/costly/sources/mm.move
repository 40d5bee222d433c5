/// What is so much that the genuine node charges more than the least amount for it. The names of
/// module and structs count: the size of an event's type is charged for.
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

/// Emit an event of so many bytes, and its length.
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

/// Make an object of so many bytes, and look at it twice.
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
