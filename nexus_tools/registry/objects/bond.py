"""`bond`: SUI locked as a pledge."""

from dataclasses import dataclass

from nexus_tools.sui.bcs import Codec, option, struct, u64


@dataclass(frozen=True, slots=True)
class Bond:
    """Locked collateral in MIST, and the terms under which it comes back."""

    balance_mist: int
    required_mist: int
    delay_ms: int
    released_at_ms: int | None

    @property
    def shortfall_mist(self) -> int:
        """What a slashed bond lacks."""
        return self.required_mist - self.balance_mist

    @property
    def is_whole(self) -> bool:
        """Whether all the collateral is there."""
        return self.shortfall_mist == 0

    @property
    def is_in_force(self) -> bool:
        """Whether the bond stands behind its owner: whole and not on release."""
        return self.is_whole and self.released_at_ms is None

    @property
    def reclaimable_at_ms(self) -> int | None:
        """When it can be reclaimed; None if it is not on release."""
        return None if self.released_at_ms is None else self.released_at_ms + self.delay_ms


BOND: Codec[Bond] = struct(Bond, u64, u64, u64, option(u64))
