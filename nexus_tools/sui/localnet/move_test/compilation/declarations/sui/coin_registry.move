module sui::coin_registry;

public native fun create_coin_data_registry_for_testing(
    ctx: &mut TxContext,
): sui::coin_registry::CoinRegistry;
public native fun unwrap_for_testing<T>(
    init: sui::coin_registry::CurrencyInitializer<T>,
): sui::coin_registry::Currency<T>;
public native fun finalize_unwrap_for_testing<T>(
    init: sui::coin_registry::CurrencyInitializer<T>,
    ctx: &mut TxContext,
): (sui::coin_registry::Currency<T>, sui::coin_registry::MetadataCap<T>);
public native fun migrate_legacy_metadata_for_testing<T>(
    registry: &mut sui::coin_registry::CoinRegistry,
    legacy: &sui::coin::CoinMetadata<T>,
    ctx: &mut TxContext,
): sui::coin_registry::Currency<T>;
