/// An on-chain tool that swaps within its own vault: its owner's SUI into another coin and back, at
/// the price of a constant product (x * y = k), with a limit that the requester names.
///
/// Ports carry no assets: what is swapped is the vault's before and after.
///
/// The chain checks the witness alone: a leader may pass another vault. So the requester names the
/// vault in the inputs. In a workflow the requester is the owner of the execution, whoever wrote the
/// workflow. So the owner says in the vault how much may be swapped, and at which price.
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
    /// How much of X calls may still swap, and the least of Y for 1 000 of it.
    allowed: u64,
    least_per_1000: u64,
}

/// Only the owner of the vault has its coins swapped.
const ENotOwner: u64 = 0;
/// The requester named another vault.
const EWrongVault: u64 = 1;
/// The owner of the vault allows no such swap: call `allow` first.
const ENotAllowed: u64 = 2;

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
        allowed: 0,
        least_per_1000: 0,
    });
}

/// Allows calls to swap so much of X in all, for at least so much of Y for 1 000 of it. The owner of
/// the vault sends it: no workflow can.
public fun allow<X, Y>(self: &mut Vault<X, Y>, amount: u64, least_per_1000: u64, ctx: &TxContext) {
    assert!(ctx.sender() == self.owner, ENotOwner);
    self.allowed = amount;
    self.least_per_1000 = least_per_1000;
}

/// The tool's function: the `vault`, `amount` of X, `least` of Y -> `ok` with `got`, or `too_dear` with
/// `offered`.
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

/// What the owner holds of Y.
public fun value_of_y<X, Y>(self: &Vault<X, Y>): u64 { self.y.value() }
