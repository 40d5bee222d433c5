"""A figure: a measured value, its peer, and its target."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import Any


class Bound(Enum):
    """The quantity that a target bounds, and whether the target is a minimum or a maximum."""

    VALUE_AT_LEAST = "at least"
    VALUE_AT_MOST = "at most"
    RATIO_AT_LEAST = "ratio at least"


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a figure."""

    bound: Bound
    amount: float

    def is_met(self, value: float, ratio: float | None) -> bool:
        """Return whether a value, or its ratio to the peer's, meets the target."""
        if self.bound is Bound.RATIO_AT_LEAST:
            return ratio is not None and ratio >= self.amount
        return value >= self.amount if self.bound is Bound.VALUE_AT_LEAST else value <= self.amount

    def __str__(self) -> str:
        if self.bound is Bound.RATIO_AT_LEAST:
            return f">= {self.amount:.0%} of peer"
        return f"{'>=' if self.bound is Bound.VALUE_AT_LEAST else '<='} {_shown(self.amount)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. `value` and `peer` are in `unit`, and `ratio` is their ratio."""

    name: str
    value: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    target: Target | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met, or None without a target."""
        return None if self.target is None else self.target.is_met(self.value, self.ratio)

    def as_json(self) -> dict[str, Any]:
        """Return all data of the figure, with the verdict."""
        return {
            "figure": self.name,
            "value": self.value,
            "unit": self.unit,
            "peer": self.peer,
            "peer_name": self.peer_name or None,
            "ratio": self.ratio,
            "target": None if self.target is None else str(self.target),
            "met": self.is_met,
            "note": self.note or None,
        }

    def row(self) -> tuple[str, ...]:
        """Return the cells of the figure's row in the table."""
        met = {None: "", True: "yes", False: "NO"}[self.is_met]
        peer = "" if self.peer is None else f"{_shown(self.peer)} ({self.peer_name})"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        target = "" if self.target is None else str(self.target)
        return self.name, f"{_shown(self.value)} {self.unit}", peer, ratio, target, met


def at_least(amount: float) -> Target:
    """Return a target with a minimum value."""
    return Target(Bound.VALUE_AT_LEAST, amount)


def at_most(amount: float) -> Target:
    """Return a target with a maximum value."""
    return Target(Bound.VALUE_AT_MOST, amount)


def at_least_of_peer(share: float) -> Target:
    """Return a target with a minimum share of the peer's value."""
    return Target(Bound.RATIO_AT_LEAST, share)


def compared(
    name: str,
    unit: str,
    samples: Sequence[float],
    peers: Mapping[str, Sequence[float]],
    *,
    target: Target | None = None,
    note: str = "",
) -> Figure:
    """Return a figure that is compared with a peer.

    The values of the figure are medians, and the ratio is the median of the ratios of single
    rounds. An event that slows a whole round slows both values, so the ratio hardly changes.
    `peers` maps the name of one peer to its values.
    """
    [(peer_name, peer)] = peers.items()
    ratio = median(own / other for own, other in zip(samples, peer, strict=True))
    return Figure(name, median(samples), unit, median(peer), peer_name, ratio, target, note)


HEADINGS = ("figure", "value", "peer", "ratio", "target", "met")


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a text table with notes below it."""
    rows = [HEADINGS, *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    rule = tuple("─" * width for width in widths)
    lines = [_line(row, widths) for row in (HEADINGS, rule, *rows[1:])]
    notes = dict.fromkeys(f"{_part(f.name)}: {f.note}" for f in figures if f.note)
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _part(name: str) -> str:
    return name.partition(" ")[0]


def _shown(number: float) -> str:
    if abs(number) >= 1_000:
        return f"{number:,.0f}"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"
