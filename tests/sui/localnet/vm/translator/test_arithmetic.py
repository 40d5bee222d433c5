import pytest

from nexus_tools.sui.localnet.vm import ErrorKind, InvalidCode, PrimitiveError

WIDTHS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u128": 128, "u256": 256}


def binary(name):
    return [("COPY_LOC", 0), ("COPY_LOC", 1), name, "RET"]


@pytest.fixture
def compute(run):
    def compute_one(name, type_, left, right, right_type=None):
        (result,) = run(binary(name), (type_, right_type or type_), (type_,), left, right)
        return result

    return compute_one


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("ADD", 200, 55, 255),
        ("SUB", 5, 5, 0),
        ("MUL", 15, 17, 255),
        ("DIV", 255, 2, 127),
        ("MOD", 255, 16, 15),
        ("BIT_AND", 0b1100, 0b1010, 0b1000),
        ("BIT_OR", 0b1100, 0b1010, 0b1110),
        ("XOR", 0b1100, 0b1010, 0b0110),
    ],
)
def test_operation_on_bytes_returns(compute, name, left, right, expected):
    assert compute(name, "u8", left, right) == expected


@pytest.mark.parametrize(("type_", "bits"), WIDTHS.items())
def test_addition_reaches_maximum_of_type(compute, type_, bits):
    assert compute("ADD", type_, 2**bits - 2, 1) == 2**bits - 1


@pytest.mark.parametrize(("type_", "bits"), WIDTHS.items())
@pytest.mark.parametrize(
    "operation", [("ADD", -1, 1), ("SUB", 0, 1), ("MUL", -1, 2), ("DIV", 7, 0), ("MOD", 7, 0)]
)
def test_overflow_is_an_arithmetic_error(compute, type_, bits, operation):
    name, left, right = operation
    with pytest.raises(PrimitiveError) as caught:
        compute(name, type_, left % 2**bits, right)
    assert (caught.value.kind, caught.value.sub_status) == (ErrorKind.ARITHMETIC_ERROR, None)
    assert caught.value.location.instruction == 2


@pytest.mark.parametrize(("type_", "bits"), list(WIDTHS.items())[:-1])
def test_shift_by_width_is_an_error(compute, type_, bits):
    assert compute("SHR", type_, 2**bits - 1, bits - 1, "u8") == 1


@pytest.mark.parametrize("name", ["SHL", "SHR"])
@pytest.mark.parametrize(("type_", "bits"), list(WIDTHS.items())[:-1])
def test_shift_by_width_or_more_is_an_arithmetic_error(compute, name, type_, bits):
    with pytest.raises(PrimitiveError, match="ARITHMETIC_ERROR"):
        compute(name, type_, 1, bits, "u8")


def test_u256_can_be_shifted_by_any_u8(compute):
    assert compute("SHL", "u256", 1, 255, "u8") == 2**255


def test_left_shift_drops_high_bits(compute):
    assert compute("SHL", "u8", 0b1100_0011, 2, "u8") == 0b0000_1100


@pytest.mark.parametrize(("name", "bits"), [(f"CAST_U{bits}", bits) for bits in WIDTHS.values()])
def test_cast_keeps_fitting_values(run, name, bits):
    code = [("COPY_LOC", 0), name, "RET"]
    assert run(code, ("u256",), (f"u{bits}",), 2**bits - 1) == [2**bits - 1]


@pytest.mark.parametrize(
    ("name", "bits"), [(f"CAST_U{bits}", bits) for bits in list(WIDTHS.values())[:-1]]
)
def test_cast_of_too_large_value_is_an_arithmetic_error(run, name, bits):
    code = [("COPY_LOC", 0), name, "RET"]
    with pytest.raises(PrimitiveError, match="ARITHMETIC_ERROR"):
        run(code, ("u256",), (f"u{bits}",), 2**bits)


@pytest.mark.parametrize(
    ("name", "type_", "value"),
    [
        ("LD_U8", "u8", 2**8 - 1),
        ("LD_U16", "u16", 2**16 - 1),
        ("LD_U32", "u32", 2**32 - 1),
        ("LD_U64", "u64", 2**64 - 1),
        ("LD_U128", "u128", 2**128 - 1),
        ("LD_U256", "u256", 2**256 - 1),
    ],
)
def test_literals_have_width_of_their_instruction(run, name, type_, value):
    assert run([(name, value), "RET"], (), (type_,)) == [value]


def test_operands_of_different_width_are_rejected(run):
    with pytest.raises(InvalidCode, match="expected u8, got u64"):
        run(binary("ADD"), ("u8", "u64"), ("u8",), 1, 1)


def test_long_chain_of_operations_is_split_into_lines(run):
    steps = 3000
    code = [("COPY_LOC", 0), *[("LD_U64", 1), "XOR"] * steps, "RET"]
    assert run(code, ("u64",), ("u64",), 6) == [6]
