"""The verification of a module or a package, with Move's passes and then Sui's passes.

Source: `move-bytecode-verifier/src/{verifier,code_unit_verifier}.rs`.
"""

from collections.abc import Sequence

from nexus_tools.sui.bytecode import DEPRECATED, CompiledModule, Dependencies
from nexus_tools.sui.localnet.verifier.context import Meter, function_context
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.limits import BACK_EDGES_MAX, verify_limits
from nexus_tools.sui.localnet.verifier.locals_safety import verify_locals
from nexus_tools.sui.localnet.verifier.references.reference_safety import verify_references
from nexus_tools.sui.localnet.verifier.stack_usage import verify_stack_usage
from nexus_tools.sui.localnet.verifier.structure.bounds import verify_bounds
from nexus_tools.sui.localnet.verifier.structure.consistency import verify_consistency
from nexus_tools.sui.localnet.verifier.structure.constants import verify_constants
from nexus_tools.sui.localnet.verifier.structure.dependencies import (
    verify_dependencies,
    verify_friends,
)
from nexus_tools.sui.localnet.verifier.structure.duplication import verify_duplication
from nexus_tools.sui.localnet.verifier.structure.recursion import (
    verify_instantiation_loops,
    verify_recursion,
)
from nexus_tools.sui.localnet.verifier.structure.signatures import (
    verify_field_abilities,
    verify_signatures,
)
from nexus_tools.sui.localnet.verifier.sui import TickMeter, verify_sui_module
from nexus_tools.sui.localnet.verifier.sui.meter import PackageMeter
from nexus_tools.sui.localnet.verifier.type_table import TypeTable
from nexus_tools.sui.localnet.verifier.types.type_safety import verify_types
from nexus_tools.sui.localnet.verifier.verified_modules import VerifiedModules, Work


def verify_module(module: CompiledModule, dependencies: Dependencies) -> int:
    """Verify a module by the rules of Move and return the work units of its functions.

    `dependencies` returns the module with a 32-byte address and a name, or None if it does not
    exist. The verifier calls `dependencies` for each module to which this module refers, and
    assumes that dependencies are already verified. If the work exceeds a limit, the module is
    rejected as too complex.

    Raises:
        VerificationError: The module is not well formed.
    """
    units = _verify_alone(module)
    verify_dependencies(module, dependencies)
    return units


def _verify_alone(module: CompiledModule) -> int:
    """Verify a module without its dependencies, and return the work units of its functions."""
    verify_bounds(module)
    _refuse_global_storage(module)
    types = TypeTable(module)
    verify_limits(module)
    verify_duplication(module)
    verify_signatures(module, types)
    verify_consistency(module)
    verify_constants(module)
    verify_friends(module)
    verify_field_abilities(module, types)
    verify_recursion(module)
    verify_instantiation_loops(module)
    return _verify_code(module, types)


def _verify_code(module: CompiledModule, types: TypeTable) -> int:
    meter = Meter(module.name)
    back_edges = 0
    for function in module.function_definitions:
        if function.code is None:
            continue
        meter.enter(module.function_id(function.handle)[2])
        context = function_context(module, function, types, meter)
        verify_stack_usage(context)
        verify_types(context)
        verify_locals(context)
        verify_references(context)
        back_edges += len(context.flow.back_edges)
    if back_edges > BACK_EDGES_MAX:
        message = f"the code has more than {BACK_EDGES_MAX} back edges"
        raise VerificationError("TOO_MANY_BACK_EDGES", message, module.name)
    return meter.total


def _refuse_global_storage(module: CompiledModule) -> None:
    """Raise `VerificationError` for an instruction on global storage, which Sui does not have."""
    for function in module.function_definitions:
        for offset, instruction in enumerate(function.code.instructions if function.code else ()):
            if instruction.opcode in DEPRECATED:
                name = module.function_id(function.handle)[2]
                message = f"{instruction.opcode.name} uses global storage, which Sui does not have"
                status = "DEPRECATED_BYTECODE_FORMAT"
                raise VerificationError(status, message, module.name, name, offset)


def verify_package(
    modules: Sequence[CompiledModule],
    dependencies: Dependencies,
    verified: VerifiedModules | None = None,
) -> None:
    """Raise `VerificationError` for the first module of a package that violates a rule.

    As on Sui, the rules of Move are checked for all modules before the rules of Sui. One limit
    applies to the total work for all modules and both sets of rules. For a module in `verified`,
    only the check against its dependencies is repeated.
    """
    package = PackageMeter()
    known = [verified.get(module) if verified else None for module in modules]
    units = []
    for module, work in zip(modules, known, strict=True):
        units.append(work.units if work else _verify_alone(module))
        verify_dependencies(module, dependencies)
        package.add(module.name, units[-1])
    for module, work, done in zip(modules, known, units, strict=True):
        ticks = work.ticks if work else _verify_sui_rules(module)
        package.add(module.name, ticks)
        if verified and not work:
            verified.add(module, Work(done, ticks))


def _verify_sui_rules(module: CompiledModule) -> int:
    meter = TickMeter(module.name)
    verify_sui_module(module, meter)
    return meter.ticks
