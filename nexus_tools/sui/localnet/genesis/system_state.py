"""The system state 0x5 of a new network: validators with stake, and the first coins.

`0x3::genesis::create` creates the system state, as in `sui-genesis-builder`, with the parameters of
a new network (`sui-config/src/genesis.rs`, `sui-types/src/governance.rs`).
"""

from collections.abc import Iterator, Sequence

from nexus_tools.sui.localnet.genesis.genesis_calls import GenesisCalls
from nexus_tools.sui.localnet.genesis.validators import (
    COMMISSION_RATE,
    GAS_PRICE,
    STAKE_MIST,
    VALIDATORS,
    GenesisValidator,
)
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.address import SUI_SYSTEM, Address

_SUI = 1_000_000_000

STAKE_SUBSIDY_MIST = 1_000_000_000 * _SUI
"""The subsidy that is added to rewards over time: a billion SUI."""

EPOCH_DURATION_MS = 86_400_000
"""The shortest epoch for which the subsidy is paid: a day."""

_SUBSIDY_START_EPOCH = 0
_SUBSIDY_MIST = 1_000_000 * _SUI
_SUBSIDY_PERIOD_EPOCHS = 10
_SUBSIDY_DECREASE_RATE = 1_000  # the rate in basis points

_MAX_VALIDATORS = 150
_MIN_JOINING_STAKE_MIST = 30_000_000 * _SUI
_LOW_STAKE_MIST = 20_000_000 * _SUI
_VERY_LOW_STAKE_MIST = 15_000_000 * _SUI
_LOW_STAKE_GRACE_EPOCHS = 7


def create_system_state(
    founding: GenesisCalls,
    supply: Value,
    timestamp_ms: int,
    coins: Sequence[tuple[Address, int]],
    protocol_version: int,
) -> None:
    """Create 0x5 with its dynamic fields, and a coin for each address and amount (MIST) in `coins`.

    `supply` is the balance with all SUI. Subsidy, stakes and coins must add up to the whole supply.
    """
    (state_id,) = founding.call("object", "sui_system_state")
    allocations = [*_stakes(), *([bytes(owner), amount, [[]]] for owner, amount in coins)]
    founding.call(
        "genesis",
        "create",
        state_id,
        supply,
        _chain_parameters(timestamp_ms, protocol_version),
        [_metadata(validator) for validator in VALIDATORS],
        [STAKE_SUBSIDY_MIST, allocations],
        package=SUI_SYSTEM,
    )


def _chain_parameters(timestamp_ms: int, protocol_version: int) -> Value:
    """Return a `GenesisChainParameters` with its fields in the order of the Move struct."""
    return [
        protocol_version,
        timestamp_ms,
        EPOCH_DURATION_MS,
        _SUBSIDY_START_EPOCH,
        _SUBSIDY_MIST,
        _SUBSIDY_PERIOD_EPOCHS,
        _SUBSIDY_DECREASE_RATE,
        _MAX_VALIDATORS,
        _MIN_JOINING_STAKE_MIST,
        _LOW_STAKE_MIST,
        _VERY_LOW_STAKE_MIST,
        _LOW_STAKE_GRACE_EPOCHS,
    ]


def _metadata(validator: GenesisValidator) -> Value:
    """Return a `GenesisValidatorMetadata`."""
    texts = (validator.name, f"{validator.name} of the localnet", "", "")
    return [
        *(bytearray(text.encode()) for text in texts),
        bytes(validator.address),
        GAS_PRICE,
        COMMISSION_RATE,
        bytearray(validator.protocol_public_key),
        bytearray(validator.proof_of_possession),
        bytearray(validator.network_public_key),
        bytearray(validator.worker_public_key),
        *(bytearray(address.encode()) for address in validator.network_addresses()),
    ]


def _stakes() -> Iterator[Value]:
    """Yield a `TokenAllocation` for each validator, which is the validator's stake with itself."""
    for validator in VALIDATORS:
        address = bytes(validator.address)
        yield [address, STAKE_MIST, [[address]]]
