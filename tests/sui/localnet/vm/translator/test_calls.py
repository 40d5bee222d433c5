import pytest

from nexus_tools.sui.localnet.vm import (
    Context,
    ErrorKind,
    InvalidCode,
    LinkError,
    Location,
    Meter,
    MoveAbort,
    NativeAbort,
    OutOfGas,
    PrimitiveError,
    Reference,
    borrow,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag

PACKAGE = Address.of(0xABC)


def test_abort_has_code_and_location(assembler, call):
    inner = assembler.function("inner", (), (), ["NOP", ("LD_U64", 2**64 - 1), "ABORT"])
    assembler.function("outer", (), (), [("CALL", inner), "RET"])
    with pytest.raises(MoveAbort) as caught:
        call(assembler, "outer")
    assert caught.value.code == 2**64 - 1
    assert caught.value.location == Location(PACKAGE, "m", 0, 2, "inner")


def test_functions_call_each_other_in_any_order(assembler, call):
    is_odd = assembler.handle("is_odd", ("u64",), ("bool",))
    is_even = assembler.handle("is_even", ("u64",), ("bool",))
    for this, other, at_zero in ((is_odd, is_even, "LD_FALSE"), (is_even, is_odd, "LD_TRUE")):
        code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_FALSE", 6), at_zero, "RET"]
        code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", other), "RET"]
        assembler.define(this, code)
    assert call(assembler, "is_odd", 301) == [True]
    assert call(assembler, "is_even", 301) == [False]


@pytest.fixture
def descend(assembler):
    """Return a function that calls itself as often as its argument."""
    handle = assembler.handle("descend", ("u64",))
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 8)]
    code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "RET"]
    assembler.define(handle, code)
    return handle


@pytest.mark.usefixtures("descend")
def test_calls_nest_up_to_1024_deep(assembler, call):
    assert call(assembler, "descend", 1024) == []


@pytest.mark.usefixtures("descend")
def test_deeper_call_fails_at_the_call(assembler, call):
    with pytest.raises(PrimitiveError) as caught:
        call(assembler, "descend", 1025)
    assert caught.value.kind == ErrorKind.CALL_STACK_OVERFLOW
    assert caught.value.location == Location(PACKAGE, "m", 0, 7, "descend")


@pytest.mark.usefixtures("descend")
def test_depth_starts_again_with_every_call(assembler, machine_of):
    machine = machine_of(assembler.package())
    function = machine.types.function(PACKAGE, "m", "descend")
    context = Context(machine.types, Meter(10_000_000))
    for _ in range(3):
        with pytest.raises(PrimitiveError, match="CALL_STACK_OVERFLOW"):
            machine.call(function, (), [2000], context)
        machine.call(function, (), [1024], context)


def test_abort_at_great_depth_reaches_caller(assembler, call):
    handle = assembler.handle("dive", ("u64",))
    code = [("COPY_LOC", 0), ("LD_U64", 0), "EQ", ("BR_TRUE", 9)]
    code += [("MOVE_LOC", 0), ("LD_U64", 1), "SUB", ("CALL", handle), "RET", ("LD_U64", 4), "ABORT"]
    assembler.define(handle, code)
    with pytest.raises(MoveAbort) as caught:
        call(assembler, "dive", 1000)
    assert caught.value.code == 4


def test_endless_recursion_ends_with_budget_or_call_stack(assembler, call):
    handle = assembler.handle("endless")
    assembler.define(handle, [("CALL", handle), "RET"])
    with pytest.raises(PrimitiveError, match="CALL_STACK_OVERFLOW"):
        call(assembler, "endless")
    with pytest.raises(OutOfGas):
        call(assembler, "endless", budget=500)


def test_type_arguments_are_passed_on(assembler, call):
    seen = []
    assembler.function("see", (), (), None, (0,))
    parameter = ("T", 0)
    see = assembler.instance(4, 0, ("vector", parameter))
    middle = assembler.function("middle", (), (), [("CALL_GENERIC", see), "RET"], (0,))
    code = [("CALL_GENERIC", assembler.instance(4, middle, "u8")), "RET"]
    assembler.function("f", (), (), code)
    natives = {(bytes(PACKAGE), "m", "see"): lambda _, types: seen.append(types)}
    call(assembler, "f", natives=natives)
    assert seen == [(VectorTag(Primitive.U8),)]


def test_type_arguments_belong_to_the_call(assembler, call):
    struct = assembler.struct("S", ["u8"])
    assembler.function("see", (), ("u64",), None, (0,))
    natives = {(bytes(PACKAGE), "m", "see"): lambda _, types: len(str(types[0]))}
    tag = StructTag(PACKAGE, "m", "S")
    assert struct.handle == 0
    assert call(assembler, "see", types=(tag,), natives=natives) == [len(str(tag))]


def test_growing_type_arguments_are_an_error(assembler, call):
    """The bytecode verifier rejects such code, and the machine must not hang on it."""
    handle = assembler.handle("grow", type_parameters=(0,))
    wider = assembler.instance(4, handle, ("vector", ("T", 0)))
    assembler.define(handle, [("CALL_GENERIC", wider), "RET"])
    with pytest.raises(PrimitiveError) as caught:
        call(assembler, "grow", types=(Primitive.U8,))
    assert caught.value.kind == ErrorKind.TOO_MANY_TYPE_NODES
    assert caught.value.location.instruction == 0


def test_native_receives_and_returns_references(assembler, call):
    vector, element = ("&mut", ("vector", "u64")), ("&mut", "u64")
    first = assembler.function("first", (vector,), (element,), None)
    code = [("LD_U64", 7), ("MOVE_LOC", 0), ("CALL", first), "WRITE_REF", "RET"]
    assembler.function("f", (vector,), (), code)
    natives = {(bytes(PACKAGE), "m", "first"): lambda _c, _t, r: Reference(r.read(), 0)}
    numbers = [1, 2]
    call(assembler, "f", borrow(numbers), natives=natives)
    assert numbers == [7, 2]


def test_native_returns_several_results_as_tuple(assembler, call):
    assembler.function("two", ("u64",), ("u64", "u64"), None)
    natives = {(bytes(PACKAGE), "m", "two"): lambda _c, _t, n: (n, n + 1)}
    assert call(assembler, "two", 4, natives=natives) == [4, 5]


def test_native_abort_is_located_at_the_native(assembler, call):
    native = assembler.function("fail", (), (), None)
    assembler.function("f", (), (), ["NOP", ("CALL", native), "RET"])

    def fail(_context, _types):
        raise NativeAbort(13)

    with pytest.raises(MoveAbort) as caught:
        call(assembler, "f", natives={(bytes(PACKAGE), "m", "fail"): fail})
    assert caught.value.code == 13
    assert caught.value.location == Location(PACKAGE, "m", 0, 0, "fail")


def test_unknown_native_raises_link_error(assembler, call):
    assembler.function("f", (), (), None)
    with pytest.raises(LinkError, match="native function 0xabc::m::f does not exist"):
        call(assembler, "f")


def test_native_uses_meter_of_transaction(assembler, call):
    assembler.function("f", (), (), None)
    natives = {(bytes(PACKAGE), "m", "f"): lambda context, _: context.meter.charge(101)}
    call(assembler, "f", natives=natives, budget=102)
    with pytest.raises(OutOfGas):
        call(assembler, "f", natives=natives, budget=101)


def test_call_with_wrong_argument_type_is_rejected(assembler, call):
    inner = assembler.function("inner", ("u8",), (), ["RET"])
    assembler.function("f", (), (), [("LD_U64", 1), ("CALL", inner), "RET"])
    with pytest.raises(InvalidCode, match="expected u8, got u64"):
        call(assembler, "f")


@pytest.mark.parametrize(
    "code",
    [
        ["POP", "RET"],
        [("LD_U64", 1), "RET", "RET"],
        ["LD_TRUE", ("BR_TRUE", 2), "NOP"],
        [("EXISTS_DEPRECATED", 0), "POP", "RET"],
    ],
)
def test_invalid_code_is_rejected(assembler, call, code):
    assembler.struct("S", ["u8"])
    assembler.function("f", (), (), code)
    with pytest.raises(InvalidCode):
        call(assembler, "f")


def test_local_without_value_is_rejected(assembler, call):
    assembler.function("f", (), ("u64",), [("MOVE_LOC", 0), "RET"], local_types=("u64",))
    with pytest.raises(InvalidCode, match="cannot be executed"):
        call(assembler, "f")


@pytest.mark.usefixtures("descend")
def test_call_depth_does_not_depend_on_python_caller(assembler, call):
    def from_depth(frames):
        return from_depth(frames - 1) if frames else call(assembler, "descend", 1024)

    assert from_depth(400) == []
