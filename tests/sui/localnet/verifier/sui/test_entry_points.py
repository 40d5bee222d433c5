import pytest

from nexus_tools.sui.bytecode import Ability, Opcode, ReferenceToken, Visibility
from nexus_tools.sui.types.address import Address

CONTEXT = "sui::tx_context::TxContext"


@pytest.mark.parametrize("mutable", [True, False])
def test_init_takes_the_context(sketch, returning, mutable):
    sketch.function("init", returning, [ReferenceToken(sketch.context, mutable)])
    sketch.verify()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"visibility": Visibility.PUBLIC}, "_::m. 'init' function must be private"),
        ({"visibility": Visibility.FRIEND}, "_::m. 'init' function must be private"),
        ({"entry": True}, "_::m. 'init' cannot be 'entry'"),
        (
            {"type_parameters": [Ability.NONE]},
            "_::m. 'init' function cannot have type parameters",
        ),
    ],
)
def test_init_is_a_plain_private_function(sketch, returning, options, reason):
    sketch.function("init", returning, [sketch.mutable(sketch.context)], **options)
    assert sketch.reason() == reason
    assert sketch.refused().function == "init"


def test_init_returns_nothing(sketch):
    code = [(Opcode.LD_U64, 1), Opcode.RET]
    sketch.function("init", code, [sketch.mutable(sketch.context)], ["u64"])
    assert sketch.reason() == "_::m, 'init' function cannot have return values"


@pytest.mark.parametrize("count", [0, 3])
def test_init_has_one_or_two_parameters(sketch, returning, count):
    sketch.function("init", returning, [sketch.mutable(sketch.context)] * count)
    expected = "Expected at least one and at most two parameters for _::m::init"
    assert sketch.reason() == expected


def test_last_parameter_of_init_is_the_context(sketch, returning):
    sketch.function("init", returning, ["u64"])
    expected = f"Expected last parameter for _::m::init to be &mut {CONTEXT} or &{CONTEXT}"
    assert sketch.reason() == f"{expected}, but found u64"


def test_context_by_value_is_rejected(sketch, returning):
    sketch.function("init", returning, [sketch.context])
    assert sketch.reason().endswith(f"but found {CONTEXT}")


def test_context_of_other_package_is_rejected(sketch, returning):
    other = sketch.foreign("tx_context", "TxContext", address=Address.of(9))
    sketch.function("init", returning, [sketch.mutable(other)])
    assert sketch.reason().endswith("but found &mut 0x9::tx_context::TxContext")


def test_init_cannot_be_called_by_code(sketch, returning):
    context = sketch.mutable(sketch.context)
    init = sketch.function("init", returning, [context])
    sketch.function("again", [(Opcode.MOVE_LOC, 0), (Opcode.CALL, init), Opcode.RET], [context])
    expected = "Cannot call a module's 'init' function from another Move function"
    assert sketch.reason() == f"_::m::init at offset 1. {expected}"
    assert (sketch.refused().function, sketch.refused().offset) == ("again", 1)


def test_entry_function_accepts_any_signature(sketch):
    potato = sketch.struct("Potato", Ability.NONE, {"value": "u64"})
    code = [(Opcode.MOVE_LOC, 0), Opcode.RET]
    sketch.function("pass", code, [potato], [potato], entry=True)
    sketch.verify()
