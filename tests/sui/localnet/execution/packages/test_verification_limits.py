"""Packages whose verification takes long, although none of their functions does."""

import pytest

from nexus_tools.sui.bytecode import (
    Code,
    CompiledModule,
    FunctionDefinition,
    FunctionHandle,
    Instruction,
    ModuleHandle,
    Opcode,
    Visibility,
    serialize,
)
from nexus_tools.sui.localnet.verifier import (
    TICKS_MAX,
    PackageMeter,
    TickMeter,
    VerificationError,
    verify_module,
    verify_sui_module,
)
from nexus_tools.sui.types.execution_status import ErrorKind

# A module of two functions takes about 0.8 million ticks. Each branch that ends in a join takes
# five for every local there. The module has the maximum of both.
_LOCALS, _BRANCHES, _FUNCTIONS = 128, 500, 2


def _code():
    """Return repeated bytecode of `if (true) {}`."""
    code = []
    for _ in range(_BRANCHES):
        after = len(code) + 3
        code += [Instruction(Opcode.LD_TRUE), Instruction(Opcode.BR_TRUE, after)]
        code += [Instruction(Opcode.NOP)]
    return Code(1, (*code, Instruction(Opcode.RET)), ())


def slow_module(name):
    names = [f"f{number}" for number in range(_FUNCTIONS)]
    rows = range(_FUNCTIONS)
    empty = (
        "datatype_handles function_instantiations constants struct_definitions "
        "struct_instantiations field_handles field_instantiations friends metadata "
        "enum_definitions enum_instantiations variant_handles variant_instantiations"
    )
    return CompiledModule(
        version=7,
        flavor=5,
        self_handle=0,
        module_handles=(ModuleHandle(0, 0),),
        function_handles=tuple(FunctionHandle(0, 1 + row, 0, 1, ()) for row in rows),
        signatures=(("u64",) * _LOCALS, ()),
        identifiers=(name, *names),
        addresses=(bytes(32),),
        function_definitions=tuple(
            FunctionDefinition(row, Visibility.PRIVATE, False, (), _code()) for row in rows
        ),
        **dict.fromkeys(empty.split(), ()),
    )


def ticks(module):
    meter = TickMeter(module.name)
    verify_sui_module(module, meter)
    return verify_module(module, lambda _: None) + meter.ticks


def test_package_is_refused_when_all_modules_together_take_too_long(world, build):
    modules = [slow_module(name) for name in ("a", "b", "c")]
    assert TICKS_MAX / 3 < ticks(modules[0]) < TICKS_MAX / 2
    cap = build.publish([serialize(module) for module in modules], [])
    build.transfer_objects([cap], world.ALICE)
    assert world.fail(build) == (ErrorKind.SUI_MOVE_VERIFICATION_TIMEDOUT, None, 0)


def test_two_of_its_modules_can_be_published(world):
    world.publish([serialize(slow_module(name)) for name in ("a", "b")], ())


def test_limit_itself_is_refused():
    meter = PackageMeter(maximum=100)
    meter.add("a", 40)
    meter.add("b", 59)
    with pytest.raises(VerificationError, match="`99 current \\+ 1 new > 100 max`") as caught:
        meter.add("c", 1)
    assert (caught.value.status, caught.value.module) == ("SUI_MOVE_VERIFICATION_TIMEDOUT", "c")
