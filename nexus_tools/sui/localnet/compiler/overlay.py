"""Facts about the framework's sources that its bytecode does not contain.

The compiler turns method names, index syntax and methods of primitives into plain calls, so
bytecode does not contain them. This module lists the method names, index functions and primitives
of framework 1.62, by Move module. Functions that are not listed have equal names in source and
bytecode. The module `macros` has the macros, which exist only in source.
"""

from collections.abc import Mapping

# The primitive type whose methods a module defines (`defines_primitive`).
PRIMITIVES: Mapping[str, str] = {
    "std::bool": "bool",
    "std::u8": "u8",
    "std::u16": "u16",
    "std::u32": "u32",
    "std::u64": "u64",
    "std::u128": "u128",
    "std::u256": "u256",
    "std::vector": "vector",
    "sui::address": "address",
}

# The functions of a module that the compiler converts to one instruction (`bytecode_instruction`).
INSTRUCTIONS: Mapping[str, frozenset[str]] = {
    "std::vector": frozenset(
        {
            "empty",
            "length",
            "borrow",
            "borrow_mut",
            "push_back",
            "pop_back",
            "destroy_empty",
            "swap",
        }
    ),
}

_BORROWS = frozenset({"borrow", "borrow_mut"})

# The functions of a module that implement `value[key]` (`syntax(index)`).
INDEX_FUNCTIONS: Mapping[str, frozenset[str]] = {
    "std::vector": _BORROWS,
    "sui::bag": _BORROWS,
    "sui::kiosk": _BORROWS,
    "sui::linked_table": _BORROWS,
    "sui::object_bag": _BORROWS,
    "sui::object_table": _BORROWS,
    "sui::table": _BORROWS,
    "sui::table_vec": _BORROWS,
    "sui::vec_map": frozenset({"get", "get_mut"}),
}

# The functions that implement a module's methods (`public use fun`).
METHODS: Mapping[str, Mapping[str, str]] = {
    "std::ascii": {"String.to_string": "std::string::from_ascii"},
    "std::vector": {
        "vector.to_string": "std::string::utf8",
        "vector.try_to_string": "std::string::try_utf8",
        "vector.to_ascii_string": "std::ascii::string",
        "vector.try_to_ascii_string": "std::ascii::try_string",
    },
    "sui::address": {"address.to_id": "sui::object::id_from_address"},
    "sui::balance": {
        "Balance.into_coin": "sui::coin::from_balance",
        "Supply.value": "supply_value",
    },
    "sui::coin": {
        "Coin.split_vec": "sui::pay::split_vec",
        "Coin.join_vec": "sui::pay::join_vec",
        "Coin.split_and_transfer": "sui::pay::split_and_transfer",
        "Coin.divide_and_keep": "sui::pay::divide_and_keep",
        "TreasuryCap.into_supply": "treasury_into_supply",
    },
    "sui::coin_registry": {
        "CurrencyInitializer.make_supply_burn_only": "make_supply_burn_only_init",
        "CurrencyInitializer.make_supply_fixed": "make_supply_fixed_init",
    },
    "sui::funds_accumulator": {
        "Withdrawal.join": "withdrawal_join",
        "Withdrawal.limit": "withdrawal_limit",
        "Withdrawal.owner": "withdrawal_owner",
        "Withdrawal.split": "withdrawal_split",
    },
    "sui::kiosk": {"KioskOwnerCap.kiosk": "kiosk_owner_cap_for"},
    "sui::object": {
        "ID.to_address": "id_to_address",
        "ID.to_bytes": "id_to_bytes",
        "UID.as_inner": "uid_as_inner",
        "UID.to_inner": "uid_to_inner",
        "UID.to_address": "uid_to_address",
        "UID.to_bytes": "uid_to_bytes",
    },
    "sui::package": {
        "Publisher.burn": "burn_publisher",
        "Publisher.module_": "published_module",
        "Publisher.package": "published_package",
        "UpgradeCap.package": "upgrade_package",
        "UpgradeCap.policy": "upgrade_policy",
        "UpgradeCap.authorize": "authorize_upgrade",
        "UpgradeCap.commit": "commit_upgrade",
        "UpgradeTicket.package": "ticket_package",
        "UpgradeTicket.policy": "ticket_policy",
        "UpgradeTicket.digest": "ticket_digest",
        "UpgradeReceipt.cap": "receipt_cap",
        "UpgradeReceipt.package": "receipt_package",
    },
    "sui_system::staking_pool": {
        "StakedSui.amount": "staked_sui_amount",
        "StakedSui.activation_epoch": "stake_activation_epoch",
        "StakedSui.split_to_sender": "split_staked_sui",
        "StakedSui.join": "join_staked_sui",
        "FungibleStakedSui.pool_id": "fungible_staked_sui_pool_id",
        "FungibleStakedSui.value": "fungible_staked_sui_value",
        "FungibleStakedSui.split": "split_fungible_staked_sui",
        "FungibleStakedSui.join": "join_fungible_staked_sui",
    },
    "sui_system::validator": {"ValidatorMetadata.validate": "validate_metadata"},
}
