"""The epochs of the network: their first checkpoints and their system states."""

from collections.abc import Callable

from msgspec import Struct

from nexus_tools.sui.bcs import Codec, u64, vector
from nexus_tools.sui.localnet.execution import Environment, protocol_rules
from nexus_tools.sui.localnet.ledger import Ledger
from nexus_tools.sui.types.address import SYSTEM_STATE, Address
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.system_state import SystemState, decode_system_state, system_state_field

EPOCH_STARTS_SETTING = "epoch_starts"
EPOCH_STARTS: Codec[tuple[int, ...]] = vector(u64)
"""The stored form of the epoch starts: the number of each epoch's first checkpoint."""

Committee = tuple[tuple[bytes, int], ...]

_FIRST_VERSION = 1


class Epoch(Struct, frozen=True):
    """An epoch with its checkpoints and its times in ms since 1970.

    In the current epoch, `last_checkpoint` and `end_ms` are None.

    `state` is the system state at the start of a past epoch, or the current system state in the
    current epoch.
    """

    number: int
    first_checkpoint: int
    last_checkpoint: int | None
    start_ms: int
    end_ms: int | None
    state: SystemState


def read_system_state(find: Callable[[Address], Object | None]) -> SystemState:
    """Read the system state from the objects that `find` returns."""
    wrapper = find(SYSTEM_STATE)
    assert wrapper is not None
    field = find(system_state_field(_contents(wrapper)))
    assert field is not None
    return decode_system_state(_contents(wrapper), _contents(field))


def environment_of(state: SystemState) -> Environment:
    """Return the properties of the current epoch that transactions can read."""
    return Environment(
        state.epoch,
        state.epoch_start_timestamp_ms,
        state.reference_gas_price,
        protocol_rules(state.protocol_version),
    )


def committee_of(state: SystemState) -> Committee:
    """Return the validators' protocol keys and voting powers, sorted by key."""
    return tuple(
        sorted(
            (validator.metadata.protocol_public_key, validator.voting_power)
            for validator in state.validators.active_validators
        )
    )


def _contents(value: Object) -> bytes:
    assert isinstance(value.data, MoveObject)
    return value.data.contents


class Epochs:
    """The epochs of a ledger that has a genesis. `environment` belongs to the current epoch."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.reload()

    def reload(self) -> None:
        """Read the current epoch from the ledger."""
        starts = self._ledger.setting(EPOCH_STARTS_SETTING)
        self._starts = EPOCH_STARTS.decode(starts) if starts else (0,)
        state = read_system_state(self._ledger.get)
        self.environment = environment_of(state)

    def next_epoch_at(self, checkpoint: int) -> bytes:
        """Return the encoded epoch starts plus a new epoch that starts with this checkpoint."""
        return EPOCH_STARTS.encode((*self._starts, checkpoint))

    def starts_until(self, checkpoint: int) -> bytes:
        """Return the encoded epoch starts at the time when this checkpoint was the latest."""
        # An epoch starts with the checkpoint after the last checkpoint of the previous epoch. For
        # example, with the starts (0, 40), checkpoint 39 ended epoch 0. After a revert to 39, the
        # epoch is 1, so 40 stays. After a revert to 38, the epoch is 0, so 40 is removed.
        return EPOCH_STARTS.encode(
            tuple(start for start in self._starts if start <= checkpoint + 1)
        )

    def get(self, number: int) -> Epoch | None:
        """Return an epoch by its number, or None if it has not started."""
        if number >= len(self._starts):
            return None
        first = self._starts[number]
        if number + 1 == len(self._starts):
            state = read_system_state(self._ledger.get)
            return Epoch(number, first, None, state.epoch_start_timestamp_ms, None, state)
        last = self._starts[number + 1] - 1
        end = self._ledger.summary(last)
        assert end is not None
        state = self._state_before(first)
        start_ms = state.epoch_start_timestamp_ms
        return Epoch(number, first, last, start_ms, end.timestamp_ms, state)

    def _state_before(self, checkpoint: int) -> SystemState:
        """Return the system state at the start of the epoch with this first checkpoint."""
        if checkpoint == 0:
            return read_system_state(
                lambda object_id: self._ledger.get_version(object_id, _FIRST_VERSION)
            )
        checkpoint_before = self._ledger.checkpoint(checkpoint - 1)
        assert checkpoint_before is not None
        written = {value.id: value for value in checkpoint_before.transactions[-1].output_objects}
        return read_system_state(written.get)
