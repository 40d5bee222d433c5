"""The size limits and costs of a transaction.

Source of the values and names: `sui-protocol-config/src/lib.rs`.
"""

MAX_TX_SIZE_BYTES = 128 * 1024
MAX_INPUT_OBJECTS = 2_048
MAX_GAS_PAYMENT_OBJECTS = 256
MAX_PURE_ARGUMENT_SIZE = 16 * 1024
MAX_PROGRAMMABLE_TX_COMMANDS = 1_024
MAX_ARGUMENTS = 512
MAX_TYPE_ARGUMENTS = 16
MAX_TYPE_ARGUMENT_DEPTH = 16
MAX_MOVE_IDENTIFIER_LENGTH = 128
MAX_MODULES_IN_PUBLISH = 64
MAX_PACKAGE_DEPENDENCIES = 32
MAX_PUBLISH_OR_UPGRADE_PER_PTB = 5

MAX_MOVE_OBJECT_SIZE = 250 * 1024
MAX_SIZE_WRITTEN_OBJECTS = 5_000_000
MAX_SERIALIZED_TX_EFFECTS_SIZE_BYTES = 512 * 1024

MAX_TX_GAS = 50_000_000_000_000
"""The maximum gas budget in MIST."""
MAX_GAS_PRICE = 50_000_000_000
MAX_GAS_PRICE_FACTOR_OF_ABORTED = 100
"""The maximum gas price of a transaction that aborts, as a multiple of the reference price.

Sui calls this factor `max_gas_price_rgp_factor_for_aborted_transactions`.
"""
BASE_TX_COST_FIXED = 1_000
"""The minimum gas budget in gas units."""
MAX_GAS_COMPUTATION_BUCKET = 5_000_000
"""The maximum computation of a transaction in gas units."""
GAS_ROUNDING_STEP = 1_000
"""The rounding step for estimates, in gas units.

Billed units are rounded up, as in `rounded_computation`.
"""
MIN_GAS_COMPUTATION = 1_000
"""The minimum of billed gas units (`half_digits_rounding` of Sui's gas model)."""

OBJECT_ACCESS_COST_READ_PER_BYTE = 15
"""The cost of reading a byte of an object, in internal gas units."""
PACKAGE_PUBLISH_COST_PER_BYTE = 80
"""The cost of publishing a byte of a package, in internal gas units."""
STORAGE_COST_PER_BYTE = 100 * 76
"""The price of storing a byte, in MIST: `obj_data_cost_refundable` times `storage_gas_price`."""
