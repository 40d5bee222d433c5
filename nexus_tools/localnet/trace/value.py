"""Values of Move code as frozen values, with the names that their types give to their parts."""

from typing import Any

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK
from nexus_tools.sui.type_tag import TypeTag


@dataclass(frozen=True, slots=True)
class MoveValue:
    """A value with its type.

    | type                                | content                          |
    |-------------------------------------|----------------------------------|
    | bool                                | bool                             |
    | u8 ... u256, `balance::Balance`     | int                              |
    | address, signer, `object::ID`, UID  | Address                          |
    | vector<u8>                          | bytes                            |
    | any other vector                    | tuple of `MoveValue`             |
    | `String`, `TypeName`, `Url`         | str                              |
    | `option::Option`                    | `MoveValue` or None              |
    | any other struct                    | `StructContent`                  |
    | enum                                | `EnumContent`                    |

    `omitted` counts the elements at the end of a large vector that were not kept.
    """

    type: TypeTag
    content: Any
    omitted: int = 0

    def __getitem__(self, field: str) -> "MoveValue":
        """A field of a struct or of an enum's variant. Raises `KeyError`."""
        if isinstance(self.content, StructContent | EnumContent):
            return dict(self.content.fields)[field]
        raise KeyError(field)


@dataclass(frozen=True, slots=True)
class StructContent:
    """The fields of a struct, in order."""

    fields: tuple[tuple[str, MoveValue], ...]


@dataclass(frozen=True, slots=True)
class EnumContent:
    """The variant of an enum, and its fields in order."""

    variant: str
    fields: tuple[tuple[str, MoveValue], ...]


TEXT_TYPES = frozenset(
    {
        (MOVE_STDLIB, "string", "String"),
        (MOVE_STDLIB, "ascii", "String"),
        (MOVE_STDLIB, "type_name", "TypeName"),
        (SUI_FRAMEWORK, "url", "Url"),
    }
)
ID_TYPES = frozenset({(SUI_FRAMEWORK, "object", "ID"), (SUI_FRAMEWORK, "object", "UID")})
BALANCE_TYPE = (SUI_FRAMEWORK, "balance", "Balance")
OPTION_TYPE = (MOVE_STDLIB, "option", "Option")
