"""A function with what the passes over its code need to know, and how much work they may be.

Source of the limits: `move-bytecode-verifier-meter/src/bound.rs`, with the values of
`sui-protocol-config`.
"""

from msgspec import Struct

from nexus_tools.sui.bytecode import ENDS, Code, CompiledModule, FunctionDefinition, Signature
from nexus_tools.sui.localnet.verifier.control_flow import ControlFlow, control_flow, verify_loops
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.limits import (
    BACK_EDGES_MAX,
    BASIC_BLOCKS_MAX,
    FUNCTION_UNITS_MAX,
    MODULE_UNITS_MAX,
)
from nexus_tools.sui.localnet.verifier.type_table import Abilities, TypeTable


class Meter:
    """The work units that the functions of one module have taken."""

    __slots__ = ("_function", "_left_of_module", "_limit", "_module", "units")

    def __init__(self, module: str) -> None:
        self._module = module
        self._function: str | None = None
        self._left_of_module = MODULE_UNITS_MAX
        self._limit = 0
        self.units = 0

    def enter(self, function: str) -> None:
        """Begin with the next function; what was used by the last is of the module's budget."""
        self._left_of_module -= self.units
        self._function = function
        self._limit = min(FUNCTION_UNITS_MAX, self._left_of_module)
        self.units = 0

    @property
    def total(self) -> int:
        """The units of all functions so far."""
        return MODULE_UNITS_MAX - self._left_of_module + self.units

    def add(self, units: int) -> None:
        """Take units. Raises `VerificationError` if there are none left."""
        self.units += units
        if self.units > self._limit:
            message = f"verifying it takes more than {self._limit} units"
            raise VerificationError("PROGRAM_TOO_COMPLEX", message, self._module, self._function)


class FunctionContext(Struct, frozen=True):
    """A function whose control flow is in order.

    `parameters`, `locals` (the parameters first) and `returns` are types of `types`.
    """

    module: CompiledModule
    name: str
    code: Code
    flow: ControlFlow
    types: TypeTable
    abilities: Abilities
    meter: Meter
    parameters: Signature
    locals: Signature
    returns: Signature

    def refused(self, status: str, message: str, offset: int) -> VerificationError:
        """The error to raise at an instruction."""
        return VerificationError(status, message, self.module.name, self.name, offset)


def function_context(
    module: CompiledModule, function: FunctionDefinition, types: TypeTable, meter: Meter
) -> FunctionContext:
    """The context of a function with code. Raises `VerificationError` for its control flow."""
    handle = module.function_handles[function.handle]
    name = module.identifiers[handle.name]
    assert function.code is not None
    _verify_end(module, name, function.code)
    parameters = types.signature(handle.parameters)
    context = FunctionContext(
        module=module,
        name=name,
        code=function.code,
        flow=control_flow(function.code),
        types=types,
        abilities=types.abilities(tuple(map(int, handle.type_parameters))),
        meter=meter,
        parameters=parameters,
        locals=parameters + types.signature(function.code.locals),
        returns=types.signature(handle.returns),
    )
    verify_loops(context.flow, context.refused)
    if len(context.flow.blocks) > BASIC_BLOCKS_MAX:
        message = f"the code has more than {BASIC_BLOCKS_MAX} basic blocks"
        raise context.refused("TOO_MANY_BASIC_BLOCKS", message, 0)
    if len(context.flow.back_edges) > BACK_EDGES_MAX:
        message = f"the code jumps back in more than {BACK_EDGES_MAX} places"
        raise context.refused("TOO_MANY_BACK_EDGES", message, 0)
    return context


def _verify_end(module: CompiledModule, name: str, code: Code) -> None:
    """Refuse code that is empty or runs past its end. Raises `VerificationError`."""
    if not code.instructions:
        raise VerificationError("EMPTY_CODE_UNIT", "there is no code", module.name, name)
    last = len(code.instructions) - 1
    if code.instructions[last].opcode not in ENDS:
        message = "the code runs past its end"
        raise VerificationError("INVALID_FALL_THROUGH", message, module.name, name, last)
