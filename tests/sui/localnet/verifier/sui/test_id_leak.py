import pytest

from nexus_tools.sui.bytecode import Opcode, VecOperand
from nexus_tools.sui.localnet.verifier import TickMeter, VerificationError, verify_sui_module
from nexus_tools.sui.types.address import SUI_FRAMEWORK

CONTEXT, ID = 0, 1


def refusal(name):
    return (
        "PartialVMError with status UNKNOWN_VERIFICATION_ERROR with sub status 1 and message"
        f" Invalid object creation in _::m::{name}. Object created without a newly created UID."
        " The UID must come directly from sui::object::new. Or for tests, it can come from"
        " sui::test_scenario::new_object"
    )


def fresh(sketch):
    """Push a new id; the context is the first parameter."""
    return [(Opcode.COPY_LOC, CONTEXT), (Opcode.CALL, sketch.new)]


def packing(sketch, token):
    return [(Opcode.PACK, sketch.definition(token)), Opcode.RET]


def function(sketch, code, *parameters, name="make", **options):
    """Add a function that takes the context and returns a `Dog`."""
    dog = sketch.object("Dog")
    context = sketch.mutable(sketch.context)
    sketch.function(name, code, [context, *parameters], [dog], **options)
    return sketch


@pytest.fixture
def dog(sketch):
    return sketch.object("Dog")


def test_object_with_new_id_is_accepted(sketch, dog):
    function(sketch, [*fresh(sketch), *packing(sketch, dog)]).verify()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("object", "new_uid_from_hash"),
        ("derived_object", "claim"),
        ("test_scenario", "new_object"),
    ],
)
def test_other_id_functions_are_known(sketch, dog, module, name):
    callee = sketch.callee(module, name, [], [sketch.uid])
    function(sketch, [(Opcode.CALL, callee), *packing(sketch, dog)]).verify()


def test_new_id_stays_new_in_a_local(sketch, dog):
    kept = [(Opcode.ST_LOC, ID), (Opcode.MOVE_LOC, ID)]
    function(sketch, [*fresh(sketch), *kept, *packing(sketch, dog)]).verify()


def test_id_of_other_object_is_rejected(sketch, dog):
    cat = sketch.object("Cat")
    code = [(Opcode.MOVE_LOC, 1), (Opcode.UNPACK, sketch.definition(cat)), *packing(sketch, dog)]
    function(sketch, code, cat, name="transmute")
    assert sketch.reason() == refusal("transmute")
    assert (sketch.refused().function, sketch.refused().offset) == ("transmute", 2)


def test_id_from_parameter_is_rejected(sketch, dog):
    function(sketch, [(Opcode.MOVE_LOC, 1), *packing(sketch, dog)], sketch.uid)
    assert sketch.reason() == refusal("make")


def test_id_from_unknown_function_is_rejected(sketch, dog):
    context = sketch.mutable(sketch.context)
    callee = sketch.callee("object", "new", [context], [sketch.uid], address=b"\x09" * 32)
    function(sketch, [(Opcode.COPY_LOC, 0), (Opcode.CALL, callee), *packing(sketch, dog)])
    assert sketch.reason() == refusal("make")


def test_id_from_vector_is_rejected(sketch, dog):
    uids = VecOperand(sketch.signature([sketch.uid]), 1)
    hidden = [(Opcode.VEC_PACK, uids), (Opcode.VEC_UNPACK, uids)]
    function(sketch, [*fresh(sketch), *hidden, *packing(sketch, dog)])
    assert sketch.reason() == refusal("make")


def branching(sketch, dog, one, other):
    """Return code with two paths to an id, and an object with it."""
    first = len(one) + 1
    code = [Opcode.LD_TRUE, (Opcode.BR_FALSE, first + 3)]
    code += [*one, (Opcode.ST_LOC, 2), (Opcode.BRANCH, first + 4 + len(other))]
    code += [*other, (Opcode.ST_LOC, 2)]
    code += [(Opcode.MOVE_LOC, 2), *packing(sketch, dog)]
    return function(sketch, code, sketch.uid)


def test_id_that_is_new_on_both_paths_is_accepted(sketch, dog):
    branching(sketch, dog, fresh(sketch), fresh(sketch)).verify()


@pytest.mark.parametrize("swapped", [False, True])
def test_id_that_is_new_on_one_path_is_rejected(sketch, dog, swapped):
    ways = [fresh(sketch), [(Opcode.MOVE_LOC, 1)]]
    branching(sketch, dog, *(reversed(ways) if swapped else ways))
    assert sketch.reason() == refusal("make")


def test_id_replaced_by_later_iteration_is_rejected(sketch, dog):
    # local 2 = new; loop { if (true) break; local 2 = the id handed in }; Dog { id: local 2 }
    code = [
        *fresh(sketch),
        (Opcode.ST_LOC, 2),
        Opcode.LD_TRUE,
        (Opcode.BR_TRUE, 8),
        (Opcode.MOVE_LOC, 1),
        (Opcode.ST_LOC, 2),
        (Opcode.BRANCH, 3),
        (Opcode.MOVE_LOC, 2),
        *packing(sketch, dog),
    ]
    function(sketch, code, sketch.uid)
    assert sketch.reason() == refusal("make")


def test_endless_loop_is_accepted(sketch, dog):
    function(sketch, [(Opcode.BRANCH, 0)]).verify()


def test_unreachable_code_is_not_checked(sketch, dog):
    dead = [(Opcode.MOVE_LOC, 1), *packing(sketch, dog)]
    function(sketch, [*fresh(sketch), *packing(sketch, dog), *dead], sketch.uid).verify()


def test_clock_may_have_its_fixed_id(sketched):
    sketch = sketched("clock", SUI_FRAMEWORK)
    clock = sketch.object("Clock")
    code = [(Opcode.MOVE_LOC, 0), *packing(sketch, clock)]
    sketch.function("create", code, [sketch.uid], [clock])
    sketch.verify()
    sketch.function("another", code, [sketch.uid], [clock])
    assert sketch.refused().function == "another"


def test_all_paths_of_a_switch_are_followed(sketch, dog):
    code = [
        *fresh(sketch),
        (Opcode.ST_LOC, 2),
        (Opcode.COPY_LOC, 3),
        (Opcode.VARIANT_SWITCH, 0),
        (Opcode.MOVE_LOC, 1),
        (Opcode.ST_LOC, 2),
        (Opcode.MOVE_LOC, 2),
        *packing(sketch, dog),
    ]
    function(sketch, code, sketch.uid, switch=[7, 5])
    assert sketch.reason() == refusal("make")


@pytest.mark.parametrize(
    "code",
    [
        [Opcode.POP, Opcode.RET],
        [(Opcode.PACK, 0), Opcode.RET],
        [Opcode.LD_TRUE, (Opcode.VEC_UNPACK, VecOperand(0, 2**63)), Opcode.RET],
        [(Opcode.VEC_PACK, VecOperand(0, 2**64 - 1)), Opcode.RET],
        [Opcode.LD_TRUE, (Opcode.BRANCH, 2), Opcode.POP, Opcode.RET],
    ],
)
def test_unbalanced_stack_is_rejected(sketch, dog, code):
    function(sketch, code)
    assert "VERIFIER_INVARIANT_VIOLATION" in sketch.reason()


def test_module_that_exceeds_tick_limit_is_rejected(sketch, dog):
    function(sketch, [*fresh(sketch), *packing(sketch, dog)])
    module = sketch.build()
    verify_sui_module(module, TickMeter("m", maximum=81))
    with pytest.raises(VerificationError) as caught:
        verify_sui_module(module, TickMeter("m", maximum=80))
    assert caught.value.status == "SUI_MOVE_VERIFICATION_TIMEDOUT"
    # 10 for the function, 10 for its block, 15 for each of four instructions.
    assert "`10 current + 70 new > 80 max`" in str(caught.value)
