module sui::package;

public native fun test_claim<T: drop>(witness: T, ctx: &mut TxContext): sui::package::Publisher;
public native fun test_publish(package: ID, ctx: &mut TxContext): sui::package::UpgradeCap;
public native fun test_upgrade(ticket: sui::package::UpgradeTicket): sui::package::UpgradeReceipt;
