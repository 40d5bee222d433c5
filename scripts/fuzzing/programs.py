"""Move programs: the localnet's VM must run them as Sui's own VM does.

An input is the source of a module. Its functions `run_…` are called with random arguments.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from differential.comparison import Difference
from differential.exposed_packages import framework
from differential.programs import (
    Source,
    compare_programs,
    compiled,
    framework_programs,
    language_programs,
    move_builder,
)
from fuzzing.finding import Broken
from nexus_tools.errors import NexusError
from nexus_tools.sui.localnet.compiler import MoveBuilder
from nexus_tools.sui.localnet.verifier import verify_module, verify_sui_module
from packages import framework_modules

_ROUNDS = 4
_WRITERS = st.sampled_from([language_programs, framework_programs])
_NUMBERS = st.lists(st.integers(0, 9_999), min_size=1, max_size=10, unique=True)
# Hypothesis prefers the first choice when it shrinks an input, so it removes unneeded statements.
_IS_KEPT = st.sampled_from([False, *[True] * 500])


def inputs() -> st.SearchStrategy[bytes]:
    """Return programs with or without the framework, sometimes with a statement removed."""
    # Create slow fixtures before the first input is timed.
    framework()
    _builder()
    return _modules()


@st.composite
def _modules(draw: st.DrawFn) -> bytes:
    write: Callable[[str, Sequence[int]], Source] = draw(_WRITERS)
    source = write(str(draw(st.integers(0, 2**32))), draw(_NUMBERS))
    programs = [
        replace(program, statements=tuple([one for one in program.statements if draw(_IS_KEPT)]))
        for program in source.programs
    ]
    return replace(source, programs=tuple(programs)).text.encode()


def check(data: bytes) -> str:
    """Run the programs in both VMs. Also verify the compiled module with our verifier."""
    try:
        module = compiled(_builder(), data.decode(errors="replace"))
    except NexusError:
        return "refused by the compiler"
    verify_module(module, framework_modules().get)
    verify_sui_module(module)
    seed = hashlib.blake2b(data, digest_size=8).hexdigest()
    coverages, differences = compare_programs(framework(), module, seed, _ROUNDS)
    for difference in differences:
        raise Broken(f"{_kind(difference)}: {difference}")
    returned = sum(coverage.succeeded > 0 for coverage in coverages)
    return "all return" if returned == len(coverages) else "some return" if returned else "failed"


def _kind(difference: Difference) -> str:
    return f"ours: {difference.ours.status}, genuine VM: {difference.genuine.status}"


@cache
def _builder() -> MoveBuilder:
    return move_builder()
