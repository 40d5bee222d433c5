"""What values of a type may be used for.

Source: `AbilitySet::polymorphic_abilities` in `move-binary-format/src/file_format.rs`.
"""

from collections.abc import Callable

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.vm.definitions import Datatype
from nexus_tools.localnet.vm.types import Primitive, StructTag, TypeTag, VectorTag

_PRIMITIVE = Ability.COPY | Ability.DROP | Ability.STORE
# What the type arguments must be able to do, so that the whole has the ability.
_REQUIRED = {
    Ability.COPY: Ability.COPY,
    Ability.DROP: Ability.DROP,
    Ability.STORE: Ability.STORE,
    Ability.KEY: Ability.STORE,
}


def abilities_of(type_: TypeTag, datatype: Callable[[StructTag], Datatype]) -> Ability:
    """The abilities of a type; `datatype` gives the definition of a struct or an enum."""
    if type_ is Primitive.SIGNER:
        return Ability.DROP
    if isinstance(type_, Primitive):
        return _PRIMITIVE
    if isinstance(type_, VectorTag):
        return _PRIMITIVE & abilities_of(type_.element, datatype)
    definition = datatype(type_)
    arguments = [
        abilities_of(argument, datatype)
        for argument, parameter in zip(type_.type_params, definition.type_parameters, strict=True)
        if not parameter.is_phantom
    ]
    kept = Ability.NONE
    for ability, required in _REQUIRED.items():
        if ability in definition.abilities and all(required in argument for argument in arguments):
            kept |= ability
    return kept
