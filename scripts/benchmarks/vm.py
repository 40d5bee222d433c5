"""Move instructions per second, compared with Sui's own VM on the same functions.

Sui's VM is created for each call, so the time of a call of an empty function is subtracted. Our VM
translates the functions before they are timed. The number of instructions is metered in another
run.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.compiled import compiled
from benchmarks.figure import Figure, at_least, at_least_of_peer, compared
from benchmarks.rounds import interleaved
from genuine import Call, call_reference
from nexus_tools.sui.bytecode import relocate
from nexus_tools.sui.localnet.natives import NATIVES, NativeGas, ObjectRuntime, TransactionContext
from nexus_tools.sui.localnet.vm import Context, Machine, Meter, Reference
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.digest import Digest
from packages import framework_packages, package_of

# The iterations of each loop. The wheel limits a call to 5 000 000 units of gas.
KERNELS = {
    "arithmetic": 50_000,
    "vectors": 50_000,
    "strings": 2_000,
    "hashing": 50_000,
    "tables": 10_000,
    "structs": 50_000,
    "generics": 50_000,
    "references": 30_000,
    "enums": 50_000,
    "bcs": 3_000,
}
MODULE = "loops"
ROUNDS = 7

_PACKAGE = Address((0x7E57).to_bytes(32, "big"))
_BUDGET = 10**12
_PEER = "genuine VM"
_TARGET = at_least(10)
_KERNEL_TARGET = at_least_of_peer(1.0)
_NOTE = "millions of instructions per second, without the setup time of the genuine VM"


def measure(_: Path) -> Iterator[Figure]:
    """Yield one figure for each kernel, and their median."""
    module = relocate(compiled("kernels"), bytes(_PACKAGE))
    genuine, ours = _Genuine(module), _Ours(module)
    figures = []
    for kernel in KERNELS:
        _check_equal(kernel, genuine.result(kernel), ours.result(kernel))
        figures.append(_compare(kernel, ours.instructions(kernel), genuine, ours))
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
    return compared(
        f"vm {kernel}", "M/s", speeds, {_PEER: peers}, target=_KERNEL_TARGET, note=_NOTE
    )


class _Genuine:
    """Sui's own VM in the wheel `sui-sandbox`."""

    def __init__(self, module: bytes) -> None:
        self._packages = {_PACKAGE: [module]}

    def result(self, kernel: str) -> int:
        """Return the result of a kernel."""
        return int.from_bytes(self._call(kernel)[0], "little")

    def seconds(self, kernel: str) -> float:
        """Return the duration of one call, including the setup of the VM."""
        begin = perf_counter()
        self._call(kernel)
        return perf_counter() - begin

    def _call(self, kernel: str) -> Sequence[bytes]:
        turns = KERNELS.get(kernel, 0).to_bytes(8, "little")
        call = Call(_PACKAGE, MODULE, kernel, arguments=(("u64", turns),))
        outcome = call_reference(call, self._packages)
        if not outcome.succeeded:
            raise RuntimeError(f"the genuine VM refuses {kernel}: {outcome}")
        return outcome.values


class _Ours:
    """The VM of the localnet."""

    def __init__(self, module: bytes) -> None:
        packages = {**framework_packages(), _PACKAGE: package_of(_PACKAGE, [module])}
        self._machine = Machine(NATIVES, packages.get)

    def result(self, kernel: str) -> int:
        """Return the result of a kernel."""
        return self._call(kernel, Meter(_BUDGET))

    def seconds(self, kernel: str) -> float:
        """Return the duration of one call."""
        begin = perf_counter()
        self.result(kernel)
        return perf_counter() - begin

    def instructions(self, kernel: str) -> int:
        """Return the number of instructions of a call, without the charges of native functions."""
        meter = Meter(_BUDGET)
        meter.native_calls = -_BUDGET
        self._call(kernel, meter)
        return meter.instructions

    def _call(self, kernel: str, meter: Meter) -> int:
        function = self._machine.types.function(_PACKAGE, MODULE, kernel)
        assert function is not None, f"the kernel {kernel} does not exist"
        runtime = ObjectRuntime(
            TransactionContext(ZERO, Digest(bytes(32)), 0, 0, 1, 1, _BUDGET, None),
            {},
            lambda _: None,
            self._machine.types.decode,
            NativeGas(_BUDGET, meter),
        )
        arguments: list[Any] = [KERNELS.get(kernel, 0)]
        if len(function.parameters) > 1:
            arguments.append(Reference([runtime.transaction.as_move_value()], 0))
        context = Context(self._machine.types, meter, runtime)
        [value] = self._machine.call(function, (), arguments, context)
        return int(value)


def _check_equal(kernel: str, genuine: int, ours: int) -> None:
    if genuine != ours:
        raise RuntimeError(f"{kernel} returns {ours}, but {genuine} in the genuine VM")
