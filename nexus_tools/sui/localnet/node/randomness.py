"""The random bytes of the network.

A seed determines the bytes of each round, and tests may choose the seed.

On a real network, the random bytes are a joint signature of the validators, which also has 48
bytes.
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
"""The stored form of the seeds.

Each pair consists of the first checkpoint that uses a seed, and the seed.
"""

_BYTES = 48
_ID_BYTES = 32
_STATE = record((u64, u64, u64, u64))  # the name of the field, the version, the epoch and the round


class Randomness:
    """A generator of random bytes. Seed, epoch and round determine the bytes.

    A new network has a random seed. A new seed takes effect with a checkpoint, so a revert to an
    earlier checkpoint also restores the earlier seed.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        if ledger.setting(SEEDS_SETTING) is None:
            seed = secrets.token_bytes(32)
            ledger.set_setting(SEEDS_SETTING, SEEDS.encode(((0, seed),)))
        self.reload()

    def reload(self) -> None:
        """Read the seeds from the ledger."""
        self._seeds = SEEDS.decode(self._ledger.setting(SEEDS_SETTING) or b"\0")

    def seeds_with(self, seed: bytes, checkpoint: int) -> bytes:
        """Return the encoded seeds plus a new seed that takes effect at this checkpoint."""
        return SEEDS.encode((*self._seeds, (checkpoint, seed)))

    def seeds_until(self, checkpoint: int) -> bytes:
        """Return the encoded seeds that have taken effect at this checkpoint or earlier."""
        return SEEDS.encode(tuple(entry for entry in self._seeds if entry[0] <= checkpoint))

    def update(self, objects: ObjectStore, epoch: int) -> RandomnessStateUpdate:
        """Return the transaction that writes the next round's bytes into the object 0x8."""
        random = objects.get(RANDOM)
        assert random is not None
        assert isinstance(random.data, MoveObject)
        assert isinstance(random.owner, Shared)
        number = _next_round(objects, random.data, epoch)
        place = u64.encode(epoch) + u64.encode(number)
        _, seed = self._seeds[-1]
        random_bytes = blake2b(seed + place, digest_size=_BYTES).digest()
        return RandomnessStateUpdate(epoch, number, random_bytes, random.owner.initial_version)


def _next_round(objects: ObjectStore, random: MoveObject, epoch: int) -> int:
    """Return the number of the next round. Rounds count from 0 in each epoch.

    The object is `Random { id: UID, inner: Versioned { id: UID, version: u64 } }`. The object has a
    dynamic field whose name is the version. The field's value is `RandomInner { version, epoch,
    randomness_round, random_bytes }`.
    """
    parent = Address(random.contents[_ID_BYTES : 2 * _ID_BYTES])
    version = random.contents[2 * _ID_BYTES :]
    inner = objects.get(dynamic_field_id(parent, TYPE_TAG.encode(Primitive.U64), version))
    assert inner is not None
    assert isinstance(inner.data, MoveObject)
    (_, _, last_epoch, last_round), end = _STATE.read(inner.data.contents, _ID_BYTES)
    has_begun = inner.data.contents[end:] != b"\0"
    return last_round + 1 if has_begun and last_epoch == epoch else 0
