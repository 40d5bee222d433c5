"""Rules of the bytecode verifier that the generator relies on.

A network publishes only verified modules. A file or a dishonest node may provide an invalid module.
The generator must reject an invalid module.
"""

from collections.abc import Iterator, Sequence

from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bytecode import (
    SIGNER,
    CompiledModule,
    DatatypeToken,
    EnumDefinition,
    ReferenceToken,
    SignatureToken,
    StructDefinition,
    TypeParameterToken,
    VectorToken,
    preorder,
)
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.types.address import Address


def check_types(module: CompiledModule) -> None:
    """Check the types in the fields and signatures of a module. Raises `module_malformed`."""
    for definition in _datatypes(module):
        parameters = module.datatype_handles[definition.handle].type_parameters
        non_phantom = [
            signature for signature, parameter in enumerate(parameters) if not parameter.is_phantom
        ]
        for token in _field_types(definition):
            if _has(token, SIGNER):
                raise _malformed(module, "a field contains a signer")
            _check(module, token, len(parameters))
            _check_held(module, token, non_phantom)
    for function in module.function_definitions:
        handle = module.function_handles[function.handle]
        for signature in (handle.parameters, handle.returns):
            for token in module.signatures[signature]:
                plain = token.target if isinstance(token, ReferenceToken) else token
                _check(module, plain, len(handle.type_parameters))


def takes_signer(module: CompiledModule, parameters: int) -> bool:
    """Return whether a signature contains `signer`, which no transaction can pass."""
    return any(_has(token, SIGNER) for token in module.signatures[parameters])


def _datatypes(module: CompiledModule) -> Iterator[StructDefinition | EnumDefinition]:
    yield from module.struct_definitions
    yield from module.enum_definitions


def _field_types(definition: StructDefinition | EnumDefinition) -> Iterator[SignatureToken]:
    if isinstance(definition, StructDefinition):
        yield from (field.type for field in definition.fields or ())
    else:
        yield from (field.type for variant in definition.variants for field in variant.fields)


def _has(token: SignatureToken, kind: SignatureToken) -> bool:
    return any(part == kind for part in preorder(token))


def _check(module: CompiledModule, token: SignatureToken, parameters: int) -> None:
    """Check a type that is not a reference."""
    for part in preorder(token):
        if isinstance(part, ReferenceToken):
            raise _malformed(module, "a type contains a reference")
        if isinstance(part, TypeParameterToken) and part.index >= parameters:
            raise _malformed(module, "a type uses a type parameter that does not exist")
        if isinstance(part, DatatypeToken):
            handle = module.datatype_handles[part.handle]
            if len(part.type_arguments) != len(handle.type_parameters):
                raise _malformed(module, "a type has the wrong number of type arguments")
            address, module_name, name = module.datatype_id(part.handle)
            known_type = KNOWN.get((Address(address), module_name, name))
            non_phantom = (
                index
                for index, parameter in enumerate(handle.type_parameters)
                if not parameter.is_phantom
            )
            if known_type is not None and not {*known_type.takes} <= {*non_phantom}:
                raise _malformed(
                    module, "a framework type differs from its declaration in the framework"
                )


def _check_held(module: CompiledModule, token: SignatureToken, held: Sequence[int]) -> None:
    """Check that phantom type parameters are used only as phantom type arguments."""
    if isinstance(token, TypeParameterToken) and token.index not in held:
        raise _malformed(module, "a field contains a phantom type parameter")
    if isinstance(token, VectorToken):
        _check_held(module, token.element, held)
    if isinstance(token, DatatypeToken):
        parameters = module.datatype_handles[token.handle].type_parameters
        for argument, parameter in zip(token.type_arguments, parameters, strict=True):
            if not parameter.is_phantom:
                _check_held(module, argument, held)


def _malformed(module: CompiledModule, rule: str) -> ValidationError:
    return ValidationError("module_malformed", f"the module {module.name} is not valid: {rule}")
