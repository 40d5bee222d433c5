/// An on-chain tool that swaps within its own vault: its owner's SUI into another coin and back, at
/// the price of a constant product (x * y = k), with a limit that the requester names.
///
/// Ports carry no assets: what is swapped is the vault's before and after.
module on_chain_examples::exchange;

use nexus_tools::json;
use nexus_tools::on_chain_call::Call;
use nexus_tools::value;
use sui::balance::{Self, Balance};
use sui::coin::Coin;
use sui::package;

/// The one-time witness.
public struct EXCHANGE has drop {}

/// The witness of the tool for coins of the type `T`.
public struct Swap<phantom X, phantom Y> has drop {}

/// What one owner holds of two coins, and a pool that prices them. It is shared.
public struct Vault<phantom X, phantom Y> has key {
    id: UID,
    owner: address,
    x: Balance<X>,
    y: Balance<Y>,
    pool_x: Balance<X>,
    pool_y: Balance<Y>,
}

/// Only the owner of the vault has its coins swapped.
const ENotOwner: u64 = 0;

fun init(witness: EXCHANGE, ctx: &mut TxContext) { package::claim_and_keep(witness, ctx) }

/// Opens a vault with a pool beside it.
public fun open<X, Y>(x: Coin<X>, pool_x: Coin<X>, pool_y: Coin<Y>, ctx: &mut TxContext) {
    transfer::share_object(Vault<X, Y> {
        id: object::new(ctx),
        owner: ctx.sender(),
        x: x.into_balance(),
        y: balance::zero(),
        pool_x: pool_x.into_balance(),
        pool_y: pool_y.into_balance(),
    });
}

/// The tool's function: `amount` of X, `least` of Y -> `ok` with `got`, or `too_dear` with
/// `offered`.
public fun swap<X, Y>(call: &mut Call, vault: &mut Vault<X, Y>) {
    assert!(call.requester() == vault.owner, ENotOwner);
    let (amount, least) = (call.get_u64(b"amount"), call.get_u64(b"least"));
    let (x, y) = (vault.pool_x.value() as u128, vault.pool_y.value() as u128);
    let got = (y * (amount as u128) / (x + (amount as u128))) as u64;
    if (got < least) {
        let ports = value::none().with(b"offered", json::from_u64(got));
        call.finish(Swap<X, Y> {}, b"too_dear", ports);
        return
    };
    vault.pool_x.join(vault.x.split(amount));
    vault.y.join(vault.pool_y.split(got));
    call.finish(Swap<X, Y> {}, b"ok", value::none().with(b"got", json::from_u64(got)));
}

/// What the owner holds of Y.
public fun value_of_y<X, Y>(self: &Vault<X, Y>): u64 { self.y.value() }
