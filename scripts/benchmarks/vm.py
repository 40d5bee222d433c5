"""Move instructions per second, beside the genuine VM on the same functions.

The genuine VM is built anew for each call: what a call of an empty function takes is subtracted.
Ours has translated the functions before they are timed. How many instructions there are is what the
meter of one more run says.
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import sui_sandbox

from benchmarks.figure import Figure, at_least, compared
from benchmarks.processes import ROOT
from benchmarks.rounds import interleaved
from nexus_tools.localnet.bytecode import deserialize
from nexus_tools.localnet.bytecode.relocate import relocate
from nexus_tools.localnet.compiler import MoveBuilder, install_builder, read_sources
from nexus_tools.localnet.vm import Context, Machine, Meter
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import MovePackage, TypeOrigin

KERNELS = ("arithmetic", "vectors", "structs", "generics", "enums", "calls")
MODULE = "loops"
# Of the sandbox's 5 000 000 units of gas, the dearest kernel takes 3 000 000 for so many turns.
TURNS = 50_000
ROUNDS = 7

_PACKAGE = Address((0x7E57).to_bytes(32, "big"))
_BUDGET = 10**12
_PEER = "genuine VM"
_TARGET = at_least(10)
_NOTE = "millions of executed instructions per second; set-up of the genuine VM is subtracted"


def measure(_: Path) -> Iterator[Figure]:
    """One figure for each kernel, and their median."""
    module = _compiled()
    package = _package(module)
    genuine, ours = _Genuine(module), _Ours(package)
    figures = []
    for kernel in KERNELS:
        _check_equal(kernel, genuine.result(kernel), ours.result(kernel))
        figures.append(_compare(kernel, _count(package, kernel), genuine, ours))
        yield figures[-1]
    speeds, peers = [figure.value for figure in figures], [figure.peer or 0 for figure in figures]
    yield compared("vm median", "M/s", speeds, {_PEER: peers}, target=_TARGET)


def _compare(kernel: str, instructions: int, genuine: "_Genuine", ours: "_Ours") -> Figure:
    times = interleaved(
        ROUNDS,
        {
            "empty": lambda: genuine.seconds("empty"),
            "genuine": lambda: genuine.seconds(kernel),
            "ours": lambda: ours.seconds(kernel),
        },
    )
    set_up = median(times["empty"])
    speeds = [instructions / taken / 1e6 for taken in times["ours"]]
    peers = [instructions / (taken - set_up) / 1e6 for taken in times["genuine"]]
    return compared(f"vm {kernel}", "M/s", speeds, {_PEER: peers}, target=_TARGET, note=_NOTE)


def _compiled() -> bytes:
    """The module of the kernels, at its address."""
    builder = MoveBuilder(
        install_builder(ROOT / ".cache" / "sui-move-builder"), ROOT / ".cache" / "wasmtime"
    )
    [module] = builder.build(read_sources(ROOT / "move" / "kernels")).modules
    return relocate(module, bytes(_PACKAGE))


def _package(module: bytes) -> MovePackage:
    compiled = deserialize(module)
    origins = tuple(
        TypeOrigin(compiled.name, compiled.datatype_id(definition.handle)[2], _PACKAGE)
        for definition in (*compiled.struct_definitions, *compiled.enum_definitions)
    )
    return MovePackage(_PACKAGE, 1, ((compiled.name, module),), origins, ())


class _Genuine:
    """The VM of the sandbox."""

    def __init__(self, module: bytes) -> None:
        self._package = f"0x{_PACKAGE.hex()}"
        self._modules = {self._package: [module]}

    def result(self, kernel: str) -> int:
        """What a kernel answers."""
        answer = self._call(kernel)
        return int.from_bytes(base64.b64decode(answer["return_values"][0][0]), "little")

    def seconds(self, kernel: str) -> float:
        """How long one call takes, with the set-up of the VM."""
        begin = perf_counter()
        self._call(kernel)
        return perf_counter() - begin

    def _call(self, kernel: str) -> dict[str, Any]:
        answer: dict[str, Any] = sui_sandbox.call_view_function(
            self._package,
            MODULE,
            kernel,
            pure_inputs=[TURNS.to_bytes(8, "little")],
            package_bytecodes=self._modules,
            fetch_deps=False,
        )
        if not answer["success"]:
            raise RuntimeError(f"the genuine VM refuses {kernel}: {answer['error']}")
        return answer


class _Ours:
    """The VM of the localnet."""

    def __init__(self, package: MovePackage) -> None:
        self._machine = Machine({}, {package.id: package}.get)

    def result(self, kernel: str, meter: Meter | None = None) -> int:
        """What a kernel answers."""
        function = self._machine.function(_PACKAGE, MODULE, kernel)
        assert function is not None, f"there is no kernel {kernel}"
        context = Context(self._machine, meter or Meter(_BUDGET))
        [value] = self._machine.call(function, (), [TURNS], context)
        return int(value)

    def seconds(self, kernel: str) -> float:
        """How long one call takes."""
        begin = perf_counter()
        self.result(kernel)
        return perf_counter() - begin


def _count(package: MovePackage, kernel: str) -> int:
    """The exact number of instructions that a call of the kernel executes."""
    meter = Meter(_BUDGET)
    _Ours(package).result(kernel, meter)
    return meter.instructions


def _check_equal(kernel: str, genuine: int, ours: int) -> None:
    if genuine != ours:
        raise RuntimeError(f"{kernel} answers {ours}, and {genuine} in the genuine VM")
