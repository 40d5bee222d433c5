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
"""MIST."""
MAX_GAS_PRICE = 50_000_000_000
MAX_GAS_PRICE_FACTOR_OF_ABORTED = 100
"""A factor of the reference price: `max_gas_price_rgp_factor_for_aborted_transactions`."""
BASE_TX_COST_FIXED = 1_000
"""Gas units."""
MAX_GAS_COMPUTATION_BUCKET = 5_000_000
"""Gas units."""
GAS_ROUNDING_STEP = 1_000
"""Gas units, for estimates: the paid units have half of their digits rounded up."""
MIN_GAS_COMPUTATION = 1_000
"""Gas units: `half_digits_rounding` of the gas model."""

OBJECT_ACCESS_COST_READ_PER_BYTE = 15
"""Internal gas units."""
PACKAGE_PUBLISH_COST_PER_BYTE = 80
"""Internal gas units."""
STORAGE_COST_PER_BYTE = 100 * 76
"""MIST: `obj_data_cost_refundable` times `storage_gas_price`."""
