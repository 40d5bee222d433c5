import pytest

from nexus_tools.sui.bytecode import Ability, DatatypeTypeParameter, Opcode
from nexus_tools.sui.types.address import SUI_FRAMEWORK

NO_WITNESS = (
    "Expected last (and at most second) parameter for _::m::init to be"
    " &mut sui::tx_context::TxContext or &sui::tx_context::TxContext; optional first parameter"
    " must be of one-time witness type whose name is the same as the capitalized module name"
    " (_::m::M) and which has no fields or a single field of type bool"
)
NOT_TAKEN = (
    "init function of a module containing one-time witness type candidate must have _::m::M as"
    " the first parameter (a struct which has no fields or a single field of type bool)"
)


def with_init(sketch, *witnesses):
    context = sketch.mutable(sketch.context)
    sketch.function("init", [Opcode.RET], [*witnesses, context])
    return sketch


def witness(sketch, name="M", abilities=Ability.DROP, fields=None, parameters=()):
    return sketch.struct(name, abilities, fields or {"dummy": "bool"}, parameters)


def test_witness_taken_by_init_is_accepted(sketch):
    with_init(sketch, witness(sketch)).verify()


def test_witness_does_not_require_init(sketch):
    witness(sketch)
    sketch.verify()


@pytest.mark.parametrize("abilities", [Ability.NONE, Ability.DROP | Ability.COPY, Ability.STORE])
def test_witness_has_only_drop(sketch, abilities):
    with_init(sketch, witness(sketch, abilities=abilities))
    expected = "one-time witness type candidate _::m::M must have a single ability: drop"
    assert sketch.reason() == expected


def test_witness_is_not_generic(sketch):
    parameter = DatatypeTypeParameter(Ability.NONE, is_phantom=True)
    with_init(sketch, witness(sketch, parameters=[parameter]))
    expected = "one-time witness type candidate _::m::M cannot have type parameters"
    assert sketch.reason() == expected


def test_witness_has_one_field(sketch):
    with_init(sketch, witness(sketch, fields={"a": "bool", "b": "bool"}))
    assert sketch.reason() == NO_WITNESS


def test_witness_field_is_a_boolean(sketch):
    with_init(sketch, witness(sketch, fields={"value": "u64"}))
    assert sketch.reason() == NO_WITNESS


def test_witness_is_named_like_module_in_capitals(sketch):
    with_init(sketch, witness(sketch, name="W"))
    assert sketch.reason() == NO_WITNESS


def test_enum_is_not_a_witness(sketch):
    with_init(sketch, sketch.enum("M", Ability.DROP, {"Only": {"dummy": "bool"}}))
    assert sketch.reason() == NO_WITNESS


def test_init_must_take_the_witness(sketch):
    witness(sketch)
    assert with_init(sketch).reason() == NOT_TAKEN


def test_init_takes_no_other_type_than_the_witness(sketch):
    witness(sketch)
    assert with_init(sketch, witness(sketch, name="W")).reason() == NOT_TAKEN


def test_witness_cannot_be_created_by_code(sketch):
    token = witness(sketch)
    code = [Opcode.LD_TRUE, (Opcode.PACK, sketch.definition(token)), Opcode.RET]
    sketch.function("pack", code, returns=[token])
    expected = "one-time witness type _::m::M is instantiated in the _::m::pack function"
    assert sketch.reason() == f"{expected} and must never be"
    assert (sketch.refused().function, sketch.refused().offset) == ("pack", 1)


def test_sui_coin_may_be_created_by_code(sketched):
    sketch = sketched("sui", SUI_FRAMEWORK)
    token = witness(sketch, name="SUI")
    code = [Opcode.LD_TRUE, (Opcode.PACK, sketch.definition(token)), Opcode.RET]
    sketch.function("pack", code, returns=[token])
    sketch.verify()
