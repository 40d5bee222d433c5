/// Errors of all kinds, objects of all owners, events, and dynamic fields, for tests.
module sample::vault;

use sui::dynamic_field;
use sui::event;
use sui::transfer::Receiving;

const EEmpty: u64 = 7;

#[error]
const ETooMuch: vector<u8> = b"There is not that much.";

public struct VAULT has drop {}

public struct Vault has key, store { id: UID, amount: u64 }

public struct Filled has copy, drop { amount: u64 }

fun init(_: VAULT, ctx: &mut TxContext) {
    transfer::share_object(Vault { id: object::new(ctx), amount: 1 });
}

public fun new(amount: u64, ctx: &mut TxContext): Vault {
    event::emit(Filled { amount });
    Vault { id: object::new(ctx), amount }
}

public fun amount(self: &Vault): u64 { self.amount }

public fun take(self: &mut Vault, amount: u64) {
    assert!(self.amount != 0, EEmpty);
    assert!(amount <= self.amount, ETooMuch);
    self.amount = self.amount - amount;
}

public fun take_unchecked(self: &mut Vault, amount: u64) {
    self.amount = self.amount - amount;
}

public fun note(self: &mut Vault, key: u64, value: u64) {
    dynamic_field::add(&mut self.id, key, value);
}

public fun noted(self: &Vault, key: u64): u64 { *dynamic_field::borrow(&self.id, key) }

public fun receive(self: &mut Vault, ticket: Receiving<Vault>): Vault {
    transfer::receive(&mut self.id, ticket)
}

public fun destroy(self: Vault) {
    let Vault { id, .. } = self;
    id.delete();
}

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) { init(VAULT {}, ctx) }
