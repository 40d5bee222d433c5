"""The random bytes of the network: each round's come from a seed, which can be chosen.

On a real network they are a signature that validators make together, as long as these.
"""

import secrets
from hashlib import blake2b

from nexus_tools.sui.bcs import Codec, byte_vector, record, u64, vector
from nexus_tools.sui.localnet.execution import ObjectStore
from nexus_tools.sui.localnet.ledger import Ledger
from nexus_tools.sui.types.address import RANDOM, Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.object import MoveObject, Shared
from nexus_tools.sui.types.system_transaction import RandomnessStateUpdate
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive

SEEDS_SETTING = "randomness_seeds"
SEEDS: Codec[tuple[tuple[int, bytes], ...]] = vector(record((u64, byte_vector)))
"""The durable form of the seeds: the checkpoint from which each holds, and the seed."""

_BYTES = 48
_ID_BYTES = 32
_STATE = record((u64, u64, u64, u64))  # the field's name, version, epoch, round


class Randomness:
    """What comes next, by epoch and round. The same seed gives the same bytes again.

    A new network has a random seed. Another one takes effect with a checkpoint, so that going back
    to an earlier checkpoint brings the earlier seed back too.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        if ledger.setting(SEEDS_SETTING) is None:
            seed = secrets.token_bytes(32)
            ledger.set_setting(SEEDS_SETTING, SEEDS.encode(((0, seed),)))
        self.reload()

    def reload(self) -> None:
        """Take the seeds from the ledger."""
        self._seeds = SEEDS.decode(self._ledger.setting(SEEDS_SETTING) or b"\0")

    def seeds_with(self, seed: bytes, checkpoint: int) -> bytes:
        """The setting, with one more seed that is to hold from a checkpoint on."""
        return SEEDS.encode((*self._seeds, (checkpoint, seed)))

    def seeds_until(self, checkpoint: int) -> bytes:
        """The setting, with the seeds that held at a checkpoint."""
        return SEEDS.encode(tuple(each for each in self._seeds if each[0] <= checkpoint))

    def update(self, objects: ObjectStore, epoch: int) -> RandomnessStateUpdate:
        """The transaction that gives the object 0x8 the bytes of the next round of an epoch."""
        random = objects.get(RANDOM)
        assert random is not None
        assert isinstance(random.data, MoveObject)
        assert isinstance(random.owner, Shared)
        number = _next_round(objects, random.data, epoch)
        place = u64.encode(epoch) + u64.encode(number)
        _, seed = self._seeds[-1]
        drawn = blake2b(seed + place, digest_size=_BYTES).digest()
        return RandomnessStateUpdate(epoch, number, drawn, random.owner.initial_version)


def _next_round(objects: ObjectStore, random: MoveObject, epoch: int) -> int:
    """The number of the next round: rounds count from 0 in each epoch.

    `Random { id: UID, inner: Versioned { id: UID, version: u64 } }`; the inner state is a dynamic
    field `RandomInner { version, epoch, randomness_round, random_bytes }` under the version.
    """
    parent = Address(random.contents[_ID_BYTES : 2 * _ID_BYTES])
    version = random.contents[2 * _ID_BYTES :]
    inner = objects.get(dynamic_field_id(parent, TYPE_TAG.encode(Primitive.U64), version))
    assert inner is not None
    assert isinstance(inner.data, MoveObject)
    (_, _, last_epoch, last_round), end = _STATE.read(inner.data.contents, _ID_BYTES)
    has_begun = inner.data.contents[end:] != b"\0"
    return last_round + 1 if has_begun and last_epoch == epoch else 0
