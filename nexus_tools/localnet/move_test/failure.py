"""How a test ended: what stopped it, by name and place."""

from collections.abc import Iterator, Mapping
from types import TracebackType

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.vm import (
    ErrorKind,
    Function,
    Location,
    MoveAbort,
    OutOfGas,
    PrimitiveError,
)

ABORT, OUT_OF_GAS = "ABORTED", "OUT_OF_GAS"


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that was running, and the instruction that it was at."""

    address: bytes
    module: str
    function: str
    instruction: int


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended a test.

    `kind` is the name of the VM's status. An abort has a `code`; an error of a vector has a
    `sub_status`. `frames` are the functions that were running, the last one called first.
    """

    kind: str
    message: str
    code: int | None = None
    sub_status: int | None = None
    frames: tuple[Frame, ...] = ()
    place: tuple[bytes, str] | None = None

    @property
    def is_of_the_code(self) -> bool:
        """Whether the test's code failed; otherwise this VM lacks what the test needs."""
        return self.kind in (ABORT, OUT_OF_GAS, *ErrorKind)


def failure_of(error: Exception) -> Failure:
    """What ended a call of the machine."""
    frames = tuple(reversed(list(_frames(error.__traceback__))))
    if isinstance(error, MoveAbort):
        frames = _from(error.location, frames)
        return Failure(ABORT, str(error), error.code, frames=frames, place=_place(error.location))
    if isinstance(error, PrimitiveError):
        if error.location is not None:
            frames = _from(error.location, frames)
        place = _place(error.location) if error.location else _top(frames)
        kind = str(error.kind)
        return Failure(kind, str(error), sub_status=error.sub_status, frames=frames, place=place)
    if isinstance(error, OutOfGas):
        return Failure(OUT_OF_GAS, "out of gas", frames=frames, place=_top(frames))
    return Failure(type(error).__name__, str(error), frames=frames, place=_top(frames))


def _place(location: Location) -> tuple[bytes, str]:
    return bytes(location.package), location.module


def _top(frames: tuple[Frame, ...]) -> tuple[bytes, str] | None:
    return (frames[0].address, frames[0].module) if frames else None


def _from(location: Location, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames, of which the first is the place itself."""
    name = location.function_name or "?"
    top = Frame(bytes(location.package), location.module, name, location.instruction)
    return (top, *(frames[1:] if frames and frames[0].function == name else frames))


def _frames(traceback: TracebackType | None) -> Iterator[Frame]:
    """Each translated function is one Python function, whose lines are its calls."""
    while traceback is not None:
        names: Mapping[str, object] = traceback.tb_frame.f_globals
        function, calls = names.get("function"), names.get("calls")
        if isinstance(function, Function) and isinstance(calls, Mapping):
            yield Frame(
                bytes(function.module.address),
                function.module.name,
                function.name,
                calls.get(traceback.tb_lineno, 0),
            )
        traceback = traceback.tb_next
