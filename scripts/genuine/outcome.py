"""The outcome of a call, in the same form for both VMs."""

from collections.abc import Sequence
from dataclasses import dataclass

RETURNED = "RETURNED"
ABORTED = "ABORTED"
LIMIT = "LIMIT"

_ID_SIZE = 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call. `status` is a Move status code, or `RETURNED`.

    `sub_status` is the code of an abort. `place` is the module's address and name, the function's
    index and the instruction. `values` are the BCS bytes of the results.
    """

    status: str
    sub_status: int | None = None
    place: tuple[object, ...] = ()
    values: tuple[bytes, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the function returned."""
        return self.status == RETURNED


def agree(ours: Outcome, genuine: Outcome, fresh_ids: Sequence[bytes]) -> bool:
    """Return whether two outcomes are equal, except for the values of created IDs.

    Each VM derives IDs from its own transaction digest. `fresh_ids` are the IDs that our VM
    created. For each of these IDs, the genuine results must have one other ID at all the same
    positions.
    """
    if ours == genuine:
        return True
    if not ours.succeeded or not genuine.succeeded or len(ours.values) != len(genuine.values):
        return False
    renamed: dict[bytes, bytes] = {}
    pairs = zip(ours.values, genuine.values, strict=True)
    same = all(_agree(one, other, set(fresh_ids), renamed) for one, other in pairs)
    return same and len(set(renamed.values())) == len(renamed)


def _agree(ours: bytes, genuine: bytes, fresh: set[bytes], renamed: dict[bytes, bytes]) -> bool:
    if len(ours) != len(genuine):
        return False
    place = 0
    while place < len(ours):
        one = ours[place : place + _ID_SIZE]
        if one in fresh:
            other = genuine[place : place + _ID_SIZE]
            if renamed.setdefault(one, other) != other:
                return False
            place += _ID_SIZE
        elif ours[place] != genuine[place]:
            return False
        else:
            place += 1
    return True
