"""The epochs of the network: where each begins in the chain, and the system state in it."""

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
"""The durable form of where epochs begin: the first checkpoint of each."""

Committee = tuple[tuple[bytes, int], ...]

_FIRST_VERSION = 1


class Epoch(Struct, frozen=True):
    """An epoch, its checkpoints and its times in ms; None for the end of the one that lasts.

    `state` is the system state at the beginning of an epoch that is over, else that of now.
    """

    number: int
    first_checkpoint: int
    last_checkpoint: int | None
    start_ms: int
    end_ms: int | None
    state: SystemState


def read_system_state(find: Callable[[Address], Object | None]) -> SystemState:
    """The system state in what `find` gives of the objects."""
    wrapper = find(SYSTEM_STATE)
    assert wrapper is not None
    field = find(system_state_field(_contents(wrapper)))
    assert field is not None
    return decode_system_state(_contents(wrapper), _contents(field))


def environment_of(state: SystemState) -> Environment:
    """What transactions see of an epoch."""
    return Environment(
        state.epoch,
        state.epoch_start_timestamp_ms,
        state.reference_gas_price,
        protocol_rules(state.protocol_version),
    )


def committee_of(state: SystemState) -> Committee:
    """Who decides in the epoch: protocol keys and voting powers, in the order of the keys."""
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
    """The epochs of a ledger that has its genesis. `environment` is that of the present one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.reload()

    def reload(self) -> None:
        """Find out from the ledger which epoch it is."""
        starts = self._ledger.setting(EPOCH_STARTS_SETTING)
        self._starts = EPOCH_STARTS.decode(starts) if starts else (0,)
        state = read_system_state(self._ledger.get)
        self.environment = environment_of(state)

    def starts_with(self, checkpoint: int) -> bytes:
        """The setting, when the next epoch begins with this checkpoint."""
        return EPOCH_STARTS.encode((*self._starts, checkpoint))

    def starts_until(self, checkpoint: int) -> bytes:
        """The setting as it was when this checkpoint was the latest one."""
        # An epoch begins with the checkpoint behind the one that ended the epoch before.
        # With starts (0, 40), checkpoint 39 is the last of epoch 0 and has ended it: back there it
        # is epoch 1, and 40 stays; back at 38 it is epoch 0, and 40 goes.
        return EPOCH_STARTS.encode(
            tuple(start for start in self._starts if start <= checkpoint + 1)
        )

    def get(self, number: int) -> Epoch | None:
        """An epoch by its number; None if it has not begun."""
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
        """The system state that was made by the end of the epoch before; at first by genesis."""
        if checkpoint == 0:
            return read_system_state(lambda found: self._ledger.get_version(found, _FIRST_VERSION))
        made = self._ledger.checkpoint(checkpoint - 1)
        assert made is not None
        written = {value.id: value for value in made.transactions[-1].output_objects}
        return read_system_state(written.get)
