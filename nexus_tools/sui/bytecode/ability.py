"""Abilities: what values of a type may be used for.

Source: `AbilitySet` in `move-binary-format/src/file_format.rs`. Here sets of abilities are plain
integers, the bits of `Ability`: the verifier asks for them at every instruction.
"""

from collections.abc import Iterable
from enum import IntFlag


class Ability(IntFlag):
    """What values of a type may be used for, as the bits of an ability set."""

    NONE = 0
    COPY = 1
    DROP = 2
    STORE = 4
    KEY = 8


COPY, DROP, STORE, KEY = map(int, (Ability.COPY, Ability.DROP, Ability.STORE, Ability.KEY))
ALL = COPY | DROP | STORE | KEY
PRIMITIVE_ABILITIES = COPY | DROP | STORE
SIGNER_ABILITIES = DROP
REFERENCE_ABILITIES = COPY | DROP

# A value can be copied if all its parts can, and so on; but what is in an object need not be one.
_OF_PARTS = ((COPY, COPY), (DROP, DROP), (STORE, STORE), (KEY, STORE))


def required_of_parts(abilities: int) -> int:
    """What the parts of a value must be able to do, so that the whole has these abilities."""
    required = 0
    for ability, needed in _OF_PARTS:
        if abilities & ability:
            required |= needed
    return required


def abilities_of_vector(element: int) -> int:
    """The abilities of vectors of elements with these abilities."""
    return PRIMITIVE_ABILITIES & element


def abilities_of_datatype(declared: int, arguments: Iterable[int]) -> int:
    """Those of the declared abilities that a struct or enum keeps with such type arguments.

    `arguments` are the abilities of all type arguments but the phantom ones, which are in no field.
    `Box<T> has copy, drop, key` of a `T` that can only be dropped can only be dropped itself.
    Source: `AbilitySet::polymorphic_abilities`.
    """
    common = ALL
    for argument in arguments:
        common &= argument
    kept = 0
    for ability, needed in _OF_PARTS:
        if declared & ability and common & needed:
            kept |= ability
    return kept
