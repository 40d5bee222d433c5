"""The time to read, lint, draw and plan a workflow of thousands of vertices.

A ladder forks and joins 666 or 1 333 times, so 2^666 paths lead through the smaller ladder. A
document of branches has 2^400 combinations of variants, and the linter examines some of them. Every
Leader that dispatches a workflow plans its document. The most expensive documents have all possible
edges between a few vertices.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from benchmarks.figure import Figure, at_most
from nexus_tools.errors import ValidationError
from nexus_tools.workflow import create_plan, draw_svg, lint, read_document

ROUNDS = 3
LADDERS = {2_000: 1.0, 4_000: 3.0}
BRANCHES = 400
TARGET_BRANCHES_S = 1.0
PICTURES = (500, 1_000, 2_000)
MOST_EDGES = 32_768
TARGET_PLAN_S = 3.0


def measure(_: Path) -> Iterator[Figure]:
    """Yield the CPU seconds for linting, planning and drawing the documents."""
    for vertices, target in LADDERS.items():
        text = json.dumps(_ladder(vertices))
        seconds = _seconds(partial(_lint, text))
        yield Figure(f"workflows ladder {vertices}", seconds, "s", target=at_most(target))
    text = json.dumps(_branches())
    seconds = _seconds(partial(_lint, text))
    yield Figure(f"workflows branches {BRANCHES}", seconds, "s", target=at_most(TARGET_BRANCHES_S))
    for vertices in PICTURES:
        document = read_document(json.dumps(_ladder(vertices)))[0]
        seconds = _seconds(partial(draw_svg, document))
        yield Figure(f"workflows picture {vertices}", seconds, "s")
    for kind in ("normal", "static", "collect", "break"):
        seconds = _seconds(partial(_plan, json.dumps(_dense(kind))))
        yield Figure(f"workflows plan {kind}", seconds, "s", target=at_most(TARGET_PLAN_S))


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return median(times)


def _lint(text: str) -> None:
    document, warnings = read_document(text)
    if found := [*warnings, *lint(document, strict=True)]:
        raise ValueError(f"the document has a problem:  {found[0]}")


def _plan(text: str) -> None:
    with suppress(ValidationError):
        create_plan(read_document(text)[0])


def _dense(kind: str) -> dict[str, Any]:
    """Return a document whose region has a vertex that nearly all edges enter or leave."""
    edges = [_edge(0, "ok", "p", 1, "x") | {"kind": "for_each"}, _edge(1, "ok", "p", 2, "x")]
    return _document(edges + [_edge(1, "ok", "p", 2, "y") | {"kind": kind}] * (MOST_EDGES - 2))


def _ladder(vertices: int) -> dict[str, Any]:
    edges = []
    for fork in range(0, vertices - 3, 3):
        left, right, join = fork + 1, fork + 2, fork + 3
        edges += [_edge(fork, "ok", "p", left, "x"), _edge(fork, "ok", "q", right, "x")]
        edges += [_edge(left, "ok", "p", join, "x"), _edge(right, "ok", "p", join, "y")]
    return _document(edges)


def _branches() -> dict[str, Any]:
    """Return a chain of vertices. Each vertex chooses one of two edges to the next."""
    edges = []
    for fork in range(0, 3 * BRANCHES, 3):
        left, right, join = fork + 1, fork + 2, fork + 3
        edges += [_edge(fork, "one", "p", left, "x"), _edge(fork, "two", "p", right, "x")]
        edges += [_edge(left, "ok", "p", join, "x"), _edge(right, "ok", "p", join, "x")]
    return _document(edges)


def _edge(source: int, variant: str, port: str, target: int, into: str) -> dict[str, Any]:
    return {
        "from": {"vertex": f"v{source}", "output_variant": variant, "output_port": port},
        "to": {"vertex": f"v{target}", "input_port": into},
    }


def _document(edges: list[dict[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(edge[end]["vertex"] for edge in edges for end in ("from", "to"))
    kind = {"variant": "off_chain", "tool_fqn": "xyz.example.any@1"}
    vertices: list[dict[str, Any]] = [{"name": name, "kind": kind} for name in names]
    vertices[0]["entry_ports"] = [{"name": "x"}]
    return {"vertices": vertices, "edges": edges}
