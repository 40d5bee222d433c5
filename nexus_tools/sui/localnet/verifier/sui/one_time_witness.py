"""The check of one-time witness types, whose only value Sui passes to the module's `init`.

A one-time witness type has the module's name in capital letters and one field of type bool. If a
module defines this type, `drop` must be its only ability, and it must not have type parameters. The
type must be the first parameter of `init`, and no code may create a value of the type.

Source: `sui-verifier/src/one_time_witness_verifier.rs`.
"""

from nexus_tools.sui.bytecode import (
    INIT,
    Ability,
    CompiledModule,
    DatatypeToken,
    FunctionDefinition,
    Opcode,
    StructDefinition,
)
from nexus_tools.sui.localnet.verifier.sui.violation import (
    TX_CONTEXT_TEXT,
    function_name,
    module_text,
    violation,
)
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

_BRIDGE = Address.of(0xB)
# Genesis created the system coins without a call of `init`.
_EXCEPTIONS = frozenset(
    {
        (bytes(SUI_FRAMEWORK), "sui"),
        *((bytes(_BRIDGE), name) for name in ("btc", "eth", "usdc", "usdt")),
    }
)


def verify_one_time_witness(module: CompiledModule) -> None:
    """Check the module's witness and the parameters of `init`. Raises `VerificationError`."""
    if (module.address, module.name) in _EXCEPTIONS:
        return
    candidate = _candidate(module)
    if candidate is not None:
        _verify_candidate(module, candidate)
    for function in module.function_definitions:
        if function_name(module, function) == INIT:
            _verify_init(module, function, candidate)
        if candidate is not None:
            _verify_no_instances(module, function, candidate)


def _candidate(module: CompiledModule) -> StructDefinition | None:
    name = module.name.upper()
    for struct in module.struct_definitions:
        fields = [field.type for field in struct.fields or ()]
        if module.datatype_id(struct.handle)[2] == name and fields == ["bool"]:
            return struct
    return None


def _verify_candidate(module: CompiledModule, candidate: StructDefinition) -> None:
    handle = module.datatype_handles[candidate.handle]
    text = f"one-time witness type candidate {_witness_text(module)}"
    if handle.abilities != Ability.DROP:
        raise violation(module, f"{text} must have a single ability: drop")
    if handle.type_parameters:
        raise violation(module, f"{text} cannot have type parameters")


def _verify_init(
    module: CompiledModule, function: FunctionDefinition, candidate: StructDefinition | None
) -> None:
    handle = module.function_handles[function.handle]
    parameters = module.signatures[handle.parameters]
    if candidate is None:
        if len(parameters) != 1:
            raise violation(module, _single_parameter_text(module), function)
    elif len(parameters) != 2 or parameters[0] != DatatypeToken(candidate.handle):
        raise violation(
            module,
            "init function of a module containing one-time witness type candidate must have"
            f" {_witness_text(module)} as the first parameter (a struct which has no fields or a"
            " single field of type bool)",
            function,
        )


def _single_parameter_text(module: CompiledModule) -> str:
    return (
        f"Expected last (and at most second) parameter for {module_text(module)}::{INIT} to be"
        f" &mut {TX_CONTEXT_TEXT} or &{TX_CONTEXT_TEXT}; optional first parameter must be of"
        " one-time witness type whose name is the same as the capitalized module name"
        f" ({_witness_text(module)}) and which has no fields or a single field of type bool"
    )


def _verify_no_instances(
    module: CompiledModule, function: FunctionDefinition, candidate: StructDefinition
) -> None:
    for offset, instruction in enumerate(function.code.instructions if function.code else ()):
        if instruction.opcode is not Opcode.PACK:
            continue
        assert isinstance(instruction.operand, int)
        if module.struct_definitions[instruction.operand] == candidate:
            raise violation(
                module,
                f"one-time witness type {_witness_text(module)} is instantiated in the"
                f" {module_text(module)}::{function_name(module, function)} function and must"
                " never be",
                function,
                offset,
            )


def _witness_text(module: CompiledModule) -> str:
    return f"{module_text(module)}::{module.name.upper()}"
