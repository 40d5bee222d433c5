/// An on-chain tool that mints a badge for an address. Badges are numbered within their collection.
module on_chain_examples::badge;

use nexus_tools::json;
use nexus_tools::on_chain_call::Call;
use nexus_tools::value;
use std::string::String;
use sui::derived_object;
use sui::package;

/// The one-time witness.
public struct BADGE has drop {}

/// The witness of the tool.
public struct Mint has drop {}

/// A shared object that counts its badges.
public struct Collection has key {
    id: UID,
    minted: u64,
}

/// A badge. The ID of a badge is derived from the collection and the number.
public struct Badge has key, store {
    id: UID,
    number: u64,
    title: String,
}

fun init(witness: BADGE, ctx: &mut TxContext) {
    package::claim_and_keep(witness, ctx);
    transfer::share_object(Collection { id: object::new(ctx), minted: 0 });
}

/// The function of the tool. Inputs: `to`, `title`. Variant: `ok` with `badge` and `number`.
public fun mint(call: &mut Call, collection: &mut Collection) {
    collection.minted = collection.minted + 1;
    let (number, title) = (collection.minted, call.get_string(b"title"));
    let id = derived_object::claim(&mut collection.id, number);
    let badge = Badge { id, number, title };
    let ports = value::empty_ports()
        .with(b"badge", json::from_address(object::id_address(&badge)))
        .with(b"number", json::from_u64(number));
    transfer::transfer(badge, call.get_address(b"to"));
    call.finish(Mint {}, b"ok", ports);
}
