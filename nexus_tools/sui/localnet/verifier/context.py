"""The data that the verifier's passes over a function share, and the meter of their work.

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
    """A counter of the work units for the verification of one module's functions."""

    __slots__ = ("_function", "_left_of_module", "_limit", "_module", "units")

    def __init__(self, module: str) -> None:
        self._module = module
        self._function: str | None = None
        self._left_of_module = MODULE_UNITS_MAX
        self._limit = 0
        self.units = 0

    def enter(self, function: str) -> None:
        """Start the next function, and charge the previous units to the module's budget."""
        self._left_of_module -= self.units
        self._function = function
        self._limit = min(FUNCTION_UNITS_MAX, self._left_of_module)
        self.units = 0

    @property
    def total(self) -> int:
        """The units used for all functions so far."""
        return MODULE_UNITS_MAX - self._left_of_module + self.units

    def add(self, units: int) -> None:
        """Add units. Raises `VerificationError` if the limit is exceeded."""
        self.units += units
        if self.units > self._limit:
            message = f"verification needs more than {self._limit} units"
            raise VerificationError("PROGRAM_TOO_COMPLEX", message, self._module, self._function)


class FunctionContext(Struct, frozen=True):
    """A function with valid control flow.

    `parameters`, `locals` and `returns` are types from `types`. `locals` starts with the
    parameters.
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
        """Return the error to raise at an instruction."""
        return VerificationError(status, message, self.module.name, self.name, offset)


def function_context(
    module: CompiledModule, function: FunctionDefinition, types: TypeTable, meter: Meter
) -> FunctionContext:
    """Return the context of a function with code.

    Raises:
        VerificationError: The control flow of the function is invalid.
    """
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
        message = f"the code has more than {BACK_EDGES_MAX} back edges"
        raise context.refused("TOO_MANY_BACK_EDGES", message, 0)
    return context


def _verify_end(module: CompiledModule, name: str, code: Code) -> None:
    """Raise `VerificationError` if the code is empty or runs past its end."""
    if not code.instructions:
        raise VerificationError("EMPTY_CODE_UNIT", "the function has no code", module.name, name)
    last = len(code.instructions) - 1
    if code.instructions[last].opcode not in ENDS:
        message = "the code runs past its end"
        raise VerificationError("INVALID_FALL_THROUGH", message, module.name, name, last)
