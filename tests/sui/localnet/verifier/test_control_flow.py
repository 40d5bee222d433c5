import pytest

from nexus_tools.sui.bytecode import ReferenceToken

MUT = ReferenceToken("u64", mutable=True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ([], "EMPTY_CODE_UNIT"),
        (["NOP"], "INVALID_FALL_THROUGH"),
        (["LD_TRUE", "BR_TRUE 0"], "INVALID_FALL_THROUGH"),
        (["BRANCH 0"], None),
    ],
)
def test_code_past_its_end_is_rejected(assemble, status, code, expected):
    assert status(assemble(code)) == expected


def test_loop_with_two_entries_is_rejected(assemble, status):
    code = ["LD_TRUE", "BR_TRUE 4", "NOP", "NOP", "NOP", "LD_TRUE", "BR_TRUE 2", "RET"]
    assert status(assemble(code)) == "INVALID_LOOP_SPLIT"


@pytest.mark.parametrize(("depth", "expected"), [(5, None), (6, "LOOP_MAX_DEPTH_REACHED")])
def test_loops_nest_at_most_five_deep(assemble, status, depth, expected):
    code = ["NOP"] * depth
    for head in reversed(range(depth)):
        code += ["LD_TRUE", f"BR_TRUE {head}"]
    assert status(assemble([*code, "RET"])) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (["POP", "RET"], "NEGATIVE_STACK_SIZE_WITHIN_BLOCK"),
        (["LD_TRUE", "RET"], "POSITIVE_STACK_SIZE_AT_BLOCK_END"),
        (["LD_TRUE", "BRANCH 2", "POP", "RET"], "POSITIVE_STACK_SIZE_AT_BLOCK_END"),
        (["RET", "POP", "RET"], "NEGATIVE_STACK_SIZE_WITHIN_BLOCK"),
        (["LD_TRUE"] * 1_025 + ["POP"] * 1_025 + ["RET"], "VALUE_STACK_OVERFLOW"),
        (["LD_TRUE", "POP"] * 10_001 + ["RET"], "VALUE_STACK_PUSH_OVERFLOW"),
    ],
)
def test_unbalanced_block_is_rejected(assemble, status, code, expected):
    assert status(assemble(code)) == expected


def test_function_has_at_most_1024_blocks(assemble, status):
    code = [line for start in range(1_024) for line in ("LD_TRUE", f"BR_TRUE {2 * start + 2}")]
    assert status(assemble([*code, "RET"])) == "TOO_MANY_BASIC_BLOCKS"


def test_unreachable_code_is_checked(assemble, status):
    assert status(assemble(["RET", "LD_TRUE", "ABORT"])) == "ABORT_TYPE_MISMATCH_ERROR"


def test_function_with_too_many_borrows_is_too_complex(assemble, status):
    """Each reference borrows from all previous ones, and each block makes as many again."""
    count = 120
    local_types = (MUT,) * count
    code = ["MUT_BORROW_LOC 0", "ST_LOC 1"]
    for local in range(1, count):
        code += [f"COPY_LOC {local}", f"ST_LOC {local + 1}"]
    loop = len(code)
    for _ in range(100):
        for local in range(1, count):
            code += [f"COPY_LOC {local}", f"ST_LOC {count - local + 1}"]
        code += ["LD_TRUE", f"BR_TRUE {loop}"]
    module = assemble([*code, "RET"], ("u64",), local_types=local_types)
    assert status(module) == "PROGRAM_TOO_COMPLEX"
