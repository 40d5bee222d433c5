/// Payments of this package, which go into address balances.
///
/// A coin would be an object with a storage cost, which its owner has to merge. An address balance
/// is one entry for any number of payments.
module nexus_tools::payment;

use sui::balance::Balance;
use sui::sui::SUI;

// === Package functions ===

/// Pay `balance` to an address. Does nothing if it is 0.
public fun pay(balance: Balance<SUI>, to: address) {
    if (balance.value() == 0) balance.destroy_zero() else balance.send_funds(to);
}
