"""The framework types that have a Python representation without a generated class."""

from collections.abc import Mapping

from msgspec import Struct

from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import (
    ASCII_STRING,
    BALANCE,
    COIN,
    DYNAMIC_FIELD,
    OBJECT_ID,
    OPTION,
    STRING,
    TYPE_NAME,
    UID,
    URL,
)


class Known(Struct, frozen=True):
    """The Python representation of a framework type.

    `python` is the annotation. `{0}` is replaced by the first type argument's annotation, and
    `{imported}` by the class `imported`. `codec` is the name of a codec in the module `codecs`. If
    `takes` is not empty, `codec` is the name of a function. The function's arguments are the codecs
    of the type arguments at the indices in `takes`.
    """

    python: str
    codec: str
    takes: tuple[int, ...] = ()
    imported: str = ""


TypeName = tuple[Address, str, str]

_TEXT, _AMOUNT = Known("str", "string"), Known("int", "u64")
_ID = Known("{imported}", "address", imported="Address")
_COLLECTION = Known("{imported}", "collection", imported="Collection")
_FIELD = Known("{imported}[{0}, {1}]", "field", (0, 1), imported="Field")

KNOWN: Mapping[TypeName, Known] = {
    STRING.datatype: _TEXT,
    ASCII_STRING.datatype: _TEXT,
    TYPE_NAME.datatype: _TEXT,
    OPTION: Known("{0} | None", "option", (0,)),
    URL.datatype: _TEXT,
    OBJECT_ID.datatype: _ID,
    UID.datatype: _ID,
    BALANCE: _AMOUNT,
    (SUI_FRAMEWORK, "balance", "Supply"): _AMOUNT,
    COIN: Known("{imported}", "coin", imported="Coin"),
    (SUI_FRAMEWORK, "vec_set", "VecSet"): Known("tuple[{0}, ...]", "vector", (0,)),
    (SUI_FRAMEWORK, "vec_map", "VecMap"): Known("tuple[tuple[{0}, {1}], ...]", "map_of", (0, 1)),
    DYNAMIC_FIELD: _FIELD,
    (SUI_FRAMEWORK, "dynamic_object_field", "Wrapper"): Known("{0}", "wrapped", (0,)),
    (SUI_FRAMEWORK, "bag", "Bag"): _COLLECTION,
    (SUI_FRAMEWORK, "object_bag", "ObjectBag"): _COLLECTION,
    (SUI_FRAMEWORK, "object_table", "ObjectTable"): _COLLECTION,
    (SUI_FRAMEWORK, "table", "Table"): _COLLECTION,
    (SUI_FRAMEWORK, "table_vec", "TableVec"): _COLLECTION,
}
