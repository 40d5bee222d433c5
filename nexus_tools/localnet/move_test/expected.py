"""Whether a test failed as it says that it should."""

from nexus_tools.dataclass import dataclass
from nexus_tools.errors import ValidationError
from nexus_tools.localnet.move_test.attributes import Argument, MoveTest
from nexus_tools.localnet.move_test.failure import ABORT, OUT_OF_GAS, Failure
from nexus_tools.localnet.move_test.names import ConstantName, Names
from nexus_tools.sui.address import Address

_KINDS = {
    "arithmetic_error": "ARITHMETIC_ERROR",
    "vector_error": "VECTOR_OPERATION_ERROR",
    "out_of_gas": OUT_OF_GAS,
}
_KEYS = frozenset({"abort_code", "location", "minor_status", *_KINDS})


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """What an attribute `expected_failure` asks for; what is None may be anything.

    `constant` is the constant whose value or name the abort code has.
    """

    kind: str | None = None
    code: int | None = None
    constant: ConstantName | None = None
    sub_status: int | None = None
    place: tuple[bytes, str] | None = None

    def is_met_by(self, failure: Failure, constant: ConstantName | None) -> bool:
        """Whether this is the failure; `constant` is what its code names, if it names one."""
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
        """What was expected, to stand after "it should have"."""
        if self.kind is None:
            return "failed"
        what = f"{self.constant[0]}::{self.constant[1]}" if self.constant else self.code
        kind = f"aborted with {what}" if self.kind == ABORT else f"ended with {self.kind}"
        sub_status = "" if self.sub_status is None else f" {self.sub_status}"
        place = f" in {Address(self.place[0]).short()}::{self.place[1]}" if self.place else ""
        return f"{kind}{sub_status}{place}"


def expected_failure(test: MoveTest, names: Names) -> ExpectedFailure | None:
    """What a test expects; None if it is to pass.

    Raises `ValidationError` if the attribute names something that cannot be found, or asks for
    something that is not known.
    """
    attribute = test.expected_failure
    if attribute is None:
        return None
    given = dict(attribute.arguments)
    unknown = given.keys() - _KEYS
    if unknown:
        raise ValidationError(
            "expected_failure_unsupported", f"{test.title} expects {', '.join(sorted(unknown))}"
        )
    location = given.get("location")
    place = names.module_id(test.module, location) if location is not None else None
    if "abort_code" in given:
        return _abort(test, given["abort_code"], place, names)
    minor = given.get("minor_status")
    sub_status = names.number(test.module, minor) if minor is not None else None
    for key, kind in _KINDS.items():
        if key in given:
            return ExpectedFailure(kind, sub_status=sub_status, place=place)
    return ExpectedFailure()


def _abort(
    test: MoveTest, value: Argument, place: tuple[bytes, str] | None, names: Names
) -> ExpectedFailure:
    if len(value) == 1 and value[0][0].isdigit():
        return ExpectedFailure(ABORT, names.number(test.module, value), place=place)
    constant = names.constant(test.module, value)
    place = place or names.module_id(constant[0], None)
    return ExpectedFailure(ABORT, names.value(constant), constant, place=place)
