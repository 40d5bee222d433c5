"""The failures of tests, and the comparison with expected failures."""

from collections.abc import Iterator, Mapping
from types import TracebackType

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import Argument, MoveTest
from nexus_tools.sui.localnet.move_test.compilation.build import EXTENSION
from nexus_tools.sui.localnet.move_test.compilation.source_names import ConstantName, Names
from nexus_tools.sui.localnet.vm import (
    ErrorKind,
    Function,
    Location,
    MoveAbort,
    OutOfGas,
    PrimitiveError,
)
from nexus_tools.sui.types.address import Address

ABORT, OUT_OF_GAS = "ABORTED", "OUT_OF_GAS"


class Frame(Struct, frozen=True):
    """A running function and its current instruction."""

    address: bytes
    module: str
    function: str
    instruction: int


class Failure(Struct, frozen=True):
    """The failure of a test.

    `kind` is the name of the VM status. An abort has a `code`, and a vector error has a
    `sub_status`. `frames` are the running functions from the innermost to the outermost. `place` is
    the address and name of the failed module.
    """

    kind: str
    message: str
    code: int | None = None
    sub_status: int | None = None
    frames: tuple[Frame, ...] = ()
    place: tuple[bytes, str] | None = None

    @property
    def is_of_the_code(self) -> bool:
        """Whether the tested code failed. A feature that the VM lacks is a different failure."""
        return self.kind in (ABORT, OUT_OF_GAS, *ErrorKind)


def failure_of(error: Exception) -> Failure:
    """Return the failure for an exception of the VM."""
    # A Python traceback lists the caller before the callee. A Move call stack lists the callee
    # before the caller.
    frames = tuple(reversed(list(_frames(error.__traceback__))))
    if isinstance(error, MoveAbort):
        frames, message = _frames_from(error.location, frames), _without_extension(str(error))
        return Failure(ABORT, message, error.code, frames=frames, place=_place(error.location))
    if isinstance(error, PrimitiveError):
        if error.location is not None:
            frames = _frames_from(error.location, frames)
        module_id = _place(error.location) if error.location else _top(frames)
        kind = str(error.kind)
        return Failure(
            kind, str(error), sub_status=error.sub_status, frames=frames, place=module_id
        )
    if isinstance(error, OutOfGas):
        return Failure(OUT_OF_GAS, "out of gas", frames=frames, place=_top(frames))
    return Failure(type(error).__name__, str(error), frames=frames, place=_top(frames))


def _place(location: Location) -> tuple[bytes, str]:
    return bytes(location.package), _without_extension(location.module)


def _without_extension(text: str) -> str:
    """Replace the names of extension modules with the names of the modules that they extend."""
    return text.replace(EXTENSION, "")


def _top(frames: tuple[Frame, ...]) -> tuple[bytes, str] | None:
    return (frames[0].address, frames[0].module) if frames else None


def _frames_from(location: Location, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return the frames with the location of the error as the first frame."""
    name = location.function_name or "?"
    first_frame = Frame(*_place(location), name, location.instruction)
    return (first_frame, *(frames[1:] if frames and frames[0].function == name else frames))


def _frames(traceback: TracebackType | None) -> Iterator[Frame]:
    """Yield the Move frames of a traceback. A translated function is one Python function."""
    while traceback is not None:
        names: Mapping[str, object] = traceback.tb_frame.f_globals
        function, calls = names.get("function"), names.get("calls")
        if isinstance(function, Function) and isinstance(calls, Mapping):
            yield Frame(
                bytes(function.module.address),
                _without_extension(function.module.name),
                function.name,
                calls.get(traceback.tb_lineno, 0),
            )
        traceback = traceback.tb_next


_KINDS = {
    "arithmetic_error": "ARITHMETIC_ERROR",
    "vector_error": "VECTOR_OPERATION_ERROR",
    "out_of_gas": OUT_OF_GAS,
}
_KEYS = frozenset({"abort_code", "location", "minor_status", *_KINDS})


class ExpectedFailure(Struct, frozen=True):
    """The requirements of an `expected_failure` attribute. None allows any value.

    `constant` is the constant whose value or name the abort code must have.
    """

    kind: str | None = None
    code: int | None = None
    constant: ConstantName | None = None
    sub_status: int | None = None
    place: tuple[bytes, str] | None = None

    def is_met_by(self, failure: Failure, constant: ConstantName | None) -> bool:
        """Return whether a failure meets the requirements.

        `constant` is the constant of the failure's abort code.
        """
        if self.constant is not None and self.code is None and constant != self.constant:
            return False
        pairs = (
            (self.kind, failure.kind),
            (self.code, failure.code),
            (self.sub_status, failure.sub_status),
            (self.place, failure.place),
        )
        return all(expected in (None, actual) for expected, actual in pairs)

    def in_words(self) -> str:
        """Return a description of the expected failure, which completes "it should have …"."""
        if self.kind is None:
            return "failed"
        abort_value = f"{self.constant[0]}::{self.constant[1]}" if self.constant else self.code
        kind = f"aborted with {abort_value}" if self.kind == ABORT else f"ended with {self.kind}"
        sub_status = "" if self.sub_status is None else f" {self.sub_status}"
        location = f" in {Address(self.place[0]).short()}::{self.place[1]}" if self.place else ""
        return f"{kind}{sub_status}{location}"


def expected_failure(test: MoveTest, names: Names) -> ExpectedFailure | None:
    """Return the expected failure of a test, or None if it is expected to pass.

    Raises:
        ValidationError: The attribute has an unknown argument, or refers to an unknown item.
    """
    attribute = test.expected_failure
    if attribute is None:
        return None
    arguments = dict(attribute.arguments)
    unknown = arguments.keys() - _KEYS
    if unknown:
        raise ValidationError(
            "expected_failure_unsupported",
            f"{test.title}: `expected_failure` does not support {', '.join(sorted(unknown))}",
        )
    location = arguments.get("location")
    module_id = names.module_id(test.module, location) if location is not None else None
    if "abort_code" in arguments:
        return _abort(test, arguments["abort_code"], module_id, names)
    minor_status = arguments.get("minor_status")
    sub_status = names.number(test.module, minor_status) if minor_status is not None else None
    for key, kind in _KINDS.items():
        if key in arguments:
            return ExpectedFailure(kind, sub_status=sub_status, place=module_id)
    return ExpectedFailure()


def _abort(
    test: MoveTest, value: Argument, place: tuple[bytes, str] | None, names: Names
) -> ExpectedFailure:
    if len(value) == 1 and value[0][0].isdigit():
        return ExpectedFailure(ABORT, names.number(test.module, value), place=place)
    constant = names.constant(test.module, value)
    place = place or names.module_id(constant[0], None)
    return ExpectedFailure(ABORT, names.value(constant), constant, place=place)
