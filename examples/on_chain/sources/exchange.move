/// An on-chain tool that swaps the coins X of a vault into coins Y. The price is that of a constant
/// product (x * y = k), and the requester sets a limit.
///
/// Ports do not carry assets: the coins are in the vault before and after the swap.
///
/// The chain checks only the witness, so a leader may pass another vault. The requester therefore
/// passes the ID of the vault as an input. In a workflow the requester is the owner of the execution,
/// even if someone else wrote the workflow. The owner of the vault therefore stores in the vault how
/// much calls may swap, and at which price.
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

/// A shared object with the coins of one owner, and a pool that sets their price.
public struct Vault<phantom X, phantom Y> has key {
    id: UID,
    owner: address,
    x: Balance<X>,
    y: Balance<Y>,
    pool_x: Balance<X>,
    pool_y: Balance<Y>,
    /// The amount of X that calls may still swap, and the minimum of Y for 1 000 of X.
    allowed: u64,
    least_per_1000: u64,
}

/// The sender or requester is not the owner of the vault.
const ENotOwner: u64 = 0;
/// The input names another vault.
const EWrongVault: u64 = 1;
/// The owner of the vault does not allow this swap: call `allow` first.
const ENotAllowed: u64 = 2;

fun init(witness: EXCHANGE, ctx: &mut TxContext) { package::claim_and_keep(witness, ctx) }

/// Opens a vault with its pool.
public fun open<X, Y>(x: Coin<X>, pool_x: Coin<X>, pool_y: Coin<Y>, ctx: &mut TxContext) {
    transfer::share_object(Vault<X, Y> {
        id: object::new(ctx),
        owner: ctx.sender(),
        x: x.into_balance(),
        y: balance::zero(),
        pool_x: pool_x.into_balance(),
        pool_y: pool_y.into_balance(),
        allowed: 0,
        least_per_1000: 0,
    });
}

/// Allows calls to swap `amount` of X in total, for at least `least_per_1000` of Y for 1 000 of X. Only
/// the owner of the vault can call this function. A workflow cannot call it.
public fun allow<X, Y>(self: &mut Vault<X, Y>, amount: u64, least_per_1000: u64, ctx: &TxContext) {
    assert!(ctx.sender() == self.owner, ENotOwner);
    self.allowed = amount;
    self.least_per_1000 = least_per_1000;
}

/// The function of the tool. Inputs: the `vault`, the `amount` of X, and the minimum of Y (`least`).
/// Variants: `ok` with the amount of Y (`got`), and `too_dear` with the amount `offered`.
public fun swap<X, Y>(call: &mut Call, vault: &mut Vault<X, Y>) {
    assert!(call.get_address(b"vault") == object::id_address(vault), EWrongVault);
    assert!(call.requester() == vault.owner, ENotOwner);
    let (amount, least) = (call.get_u64(b"amount"), call.get_u64(b"least"));
    assert!(amount <= vault.allowed, ENotAllowed);
    let (x, y) = (vault.pool_x.value() as u128, vault.pool_y.value() as u128);
    let got = (y * (amount as u128) / (x + (amount as u128))) as u64;
    if (got < least) {
        let ports = value::empty_ports().with(b"offered", json::from_u64(got));
        call.finish(Swap<X, Y> {}, b"too_dear", ports);
        return
    };
    let allowed = (got as u128) * 1_000 >= (amount as u128) * (vault.least_per_1000 as u128);
    assert!(allowed, ENotAllowed);
    vault.allowed = vault.allowed - amount;
    vault.pool_x.join(vault.x.split(amount));
    vault.y.join(vault.pool_y.split(got));
    call.finish(Swap<X, Y> {}, b"ok", value::empty_ports().with(b"got", json::from_u64(got)));
}

/// Returns the owner's amount of Y.
public fun value_of_y<X, Y>(self: &Vault<X, Y>): u64 { self.y.value() }
