"""Scenarios, which are combinations of the variants in which the vertices of a workflow end.

A vertex that can end in only one variant does not add scenarios. If `a` ends in `x` or `y`, and `b`
in `p`, `q` or `r`, there are six scenarios, with bit 0 on the right:

    a.x  010101     b.p  000011
    a.y  101010     b.q  001100     b.r  110000
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from random import Random

from nexus_tools.tool import is_error_variant
from nexus_tools.workflow.document.document import ERR_EVAL
from nexus_tools.workflow.linter.graph import Graph

MAX_SCENARIOS = 2**14
_SAMPLES = 2**13
_PRECISION = 8


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Sets of scenarios, each of which is a number with one bit per scenario.

    `takes` has, for each variant of the graph, the scenarios in which the vertex ends in this
    variant. `choices` has the same sets by vertex and variant, for vertices with several variants.
    `without_failures` are the scenarios without error variants. If `are_all` is false, the
    scenarios are a sample.
    """

    everything: int
    without_failures: int
    are_all: bool
    takes: Sequence[int]
    choices: dict[str, dict[str, int]]


def scenarios_of(graph: Graph) -> Scenarios:
    """Return all scenarios of a document, or a sample if they exceed `MAX_SCENARIOS`.

    For every variant, the sample has a scenario in which all other vertices end in their first
    variant. The sample also has `_SAMPLES` random scenarios. Each call returns the same sample,
    which does not depend on the order of the document.
    """
    options = _options(graph)
    counts = [len(variants) for variants in options.values()]
    are_all = prod(counts) <= MAX_SCENARIOS
    size, sets = _all(counts) if are_all else _some(counts, list(options))
    everything = calm = (1 << size) - 1
    takes = [0] * len(graph.variants)
    choices: dict[str, dict[str, int]] = {}
    for (vertex, variants), parts in zip(options.items(), sets, strict=True):
        for variant, part in zip(variants, parts, strict=True):
            if variant is not None:
                takes[graph.variants[vertex, variant]] = part
                calm &= ~part if _is_error(variant) else calm
            if len(variants) > 1:
                text = "none of its variants with edges" if variant is None else f"'{variant}'"
                choices.setdefault(vertex, {})[text] = part
    return Scenarios(everything, calm, are_all, takes, choices)


def _options(graph: Graph) -> dict[str, list[str | None]]:
    """Return the variants in which each vertex may end, with error variants last.

    If all variants with edges are error variants, None represents a variant without edges.
    """
    named: dict[str, list[str]] = {}
    for vertex, variant in graph.variants:
        named.setdefault(vertex, []).append(variant)
    options: dict[str, list[str | None]] = {}
    for vertex in sorted(named):
        variants = sorted(named[vertex], key=lambda variant: (_is_error(variant), variant))
        options[vertex] = [None, *variants] if _is_error(variants[0]) else [*variants]
    return options


def _is_error(variant: str) -> bool:
    return variant == ERR_EVAL or is_error_variant(variant)


def _all(counts: Sequence[int]) -> tuple[int, list[list[int]]]:
    """Return the number of all combinations, and the set of scenarios of each variant."""
    size = prod(counts)
    sets = []
    stretch = 1
    for count in counts:
        period = stretch * count
        periods = ((1 << size) - 1) // ((1 << period) - 1)
        first = ((1 << stretch) - 1) * periods
        sets.append([first << stretch * at for at in range(count)])
        stretch = period
    return size, sets


def _some(counts: Sequence[int], names: Sequence[str]) -> tuple[int, list[list[int]]]:
    others = 1 + sum(counts) - len(counts)
    sets = []
    other = 1
    for count, name in zip(counts, names, strict=True):
        parts = _random_parts(Random(name), count)  # noqa: S311 - a sample, not a secret
        for at in range(1, count):
            parts[at] |= 1 << _SAMPLES + other
            other += 1
        taken = sum(parts[1:])
        sets.append([(1 << _SAMPLES + others) - 1 & ~taken, *parts[1:]])
    return _SAMPLES + others, sets


def _random_parts(random: Random, count: int) -> list[int]:
    """Partition the samples into `count` parts of about equal size."""
    rest = (1 << _SAMPLES) - 1
    parts = []
    for left in range(count, 1, -1):
        parts.append(rest & _random_set(random, round(2**_PRECISION / left)))
        rest &= ~parts[-1]
    return [*parts, rest]


def _random_set(random: Random, chance: int) -> int:
    """Return each sample with the probability `chance` / 2^`_PRECISION`.

    The function compares, for all samples in parallel, a random number of `_PRECISION` bits with
    `chance`.
    """
    less, equal = 0, (1 << _SAMPLES) - 1
    for at in reversed(range(_PRECISION)):
        drawn = random.getrandbits(_SAMPLES)
        if chance >> at & 1:
            less |= equal & ~drawn
            equal &= drawn
        else:
            equal &= ~drawn
    return less
