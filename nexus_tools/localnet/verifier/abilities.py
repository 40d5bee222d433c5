"""What values of a type as a module writes it may be used for.

Source: `move-bytecode-verifier/src/ability_cache.rs` and `AbilitySet` in `move-binary-format`.
Abilities are the bits of `Ability` as plain integers: they are asked for at every instruction.
"""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode.module import (
    Ability,
    CompiledModule,
    DatatypeToken,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)
from nexus_tools.localnet.verifier.tokens import SIGNER

COPY, DROP, STORE, KEY = (
    int(ability) for ability in (Ability.COPY, Ability.DROP, Ability.STORE, Ability.KEY)
)
ALL = COPY | DROP | STORE | KEY
_PRIMITIVE = COPY | DROP | STORE
_REFERENCE = COPY | DROP
_REQUIRED = ((COPY, COPY), (DROP, DROP), (STORE, STORE), (KEY, STORE))


def required_of_parts(abilities: int) -> int:
    """What the parts of a value must be able to do, so that the whole has these abilities."""
    required = 0
    for ability, needed in _REQUIRED:
        if abilities & ability:
            required |= needed
    return required


class Abilities:
    """The abilities of types where the type parameters have the given ones.

    A type is known by its identity: it must outlive this object.
    """

    def __init__(self, module: CompiledModule, type_parameters: Sequence[int]) -> None:
        self._datatypes = module.datatype_handles
        self._type_parameters = type_parameters
        self._known: dict[int, int] = {}

    def of(self, token: SignatureToken) -> int:
        """The abilities of a type."""
        known = self._known.get(id(token))
        if known is None:
            known = self._of(token)
            self._known[id(token)] = known
        return known

    def _of(self, token: SignatureToken) -> int:
        if isinstance(token, str):
            return DROP if token == SIGNER else _PRIMITIVE
        if isinstance(token, ReferenceToken):
            return _REFERENCE
        if isinstance(token, TypeParameterToken):
            return self._type_parameters[token.index]
        if isinstance(token, VectorToken):
            return _PRIMITIVE & self.of(token.element)
        return self._of_datatype(token)

    def _of_datatype(self, token: DatatypeToken) -> int:
        handle = self._datatypes[token.handle]
        common = ALL
        parameters = zip(token.type_arguments, handle.type_parameters, strict=True)
        for argument, parameter in parameters:
            if not parameter.is_phantom:
                common &= self.of(argument)
        kept = 0
        for ability, needed in _REQUIRED:
            if handle.abilities & ability and common & needed:
                kept |= ability
        return kept
