/// Payments into address balances.
///
/// A payment as a coin would create an object with a storage cost, and the recipient would have to
/// merge its coins. An address balance is a single entry for any number of payments.
module nexus_tools::payment;

use sui::balance::Balance;
use sui::sui::SUI;

// === Package functions ===

/// Pay `balance` to an address. Has no effect if `balance` is 0.
public fun pay(balance: Balance<SUI>, to: address) {
    if (balance.value() == 0) balance.destroy_zero() else balance.send_funds(to);
}
