"""Move abilities, which state how values of a type may be used.

Source: `AbilitySet` in `move-binary-format/src/file_format.rs`. Sets of abilities are plain
integers here, with the bits of `Ability`, because the verifier uses them at every instruction.
"""

from collections.abc import Iterable
from enum import IntFlag


class Ability(IntFlag):
    """The abilities of a type, as the bits of an ability set."""

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

# Each pair is an ability of a value, and the ability that all parts of the value must have for it.
# For example, a value can be copied only if its parts can be copied. For the ability `key`, the
# parts need only `store`.
_OF_PARTS = ((COPY, COPY), (DROP, DROP), (STORE, STORE), (KEY, STORE))


def required_part_abilities(abilities: int) -> int:
    """Return the abilities that the parts of a value need so that the value has `abilities`."""
    required = 0
    for ability, required_part in _OF_PARTS:
        if abilities & ability:
            required |= required_part
    return required


def abilities_of_vector(element: int) -> int:
    """Return the abilities of a vector, given the abilities of its elements."""
    return PRIMITIVE_ABILITIES & element


def abilities_of_datatype(declared: int, arguments: Iterable[int]) -> int:
    """Return the abilities of a struct or enum that is instantiated with type arguments.

    `declared` are the abilities in the declaration. `arguments` are the abilities of the type
    arguments, except phantom type arguments, because no field contains their values. For example,
    if `T` has only `drop`, then `Box<T>`, which declares `copy, drop, key`, has only `drop`.
    Source: `AbilitySet::polymorphic_abilities`.
    """
    common = ALL
    for argument in arguments:
        common &= argument
    abilities = 0
    for ability, required_part in _OF_PARTS:
        if declared & ability and common & required_part:
            abilities |= ability
    return abilities
