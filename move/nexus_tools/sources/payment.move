/// How SUI leaves this package: into the address balance of whoever it is for.
///
/// A coin would be an object, whose storage somebody pays, and which its owner has to merge. An
/// address balance takes any number of payments and holds them under one entry.
module nexus_tools::payment;

use sui::balance::Balance;
use sui::sui::SUI;

// === Package functions ===

/// Pays `balance` to an address; nothing happens if there is nothing to pay.
public fun pay(balance: Balance<SUI>, to: address) {
    if (balance.value() == 0) balance.destroy_zero() else balance.send_funds(to);
}
