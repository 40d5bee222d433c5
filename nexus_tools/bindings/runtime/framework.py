"""The types of the framework that need no generated classes."""

from collections.abc import Mapping

from msgspec import Struct

from nexus_tools.sui.address import MOVE_STDLIB, SUI_FRAMEWORK, Address


class Known(Struct, frozen=True):
    """How values of a type stand in Python.

    `python` is the annotation, with `{0}` for that of the first type argument and `{imported}` for
    the class `imported`. `codec` is the name in `codecs`; it is made of those of the type arguments
    at the places `takes`.
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
    (MOVE_STDLIB, "string", "String"): _TEXT,
    (MOVE_STDLIB, "ascii", "String"): _TEXT,
    (MOVE_STDLIB, "type_name", "TypeName"): _TEXT,
    (MOVE_STDLIB, "option", "Option"): Known("{0} | None", "option", (0,)),
    (SUI_FRAMEWORK, "url", "Url"): _TEXT,
    (SUI_FRAMEWORK, "object", "ID"): _ID,
    (SUI_FRAMEWORK, "object", "UID"): _ID,
    (SUI_FRAMEWORK, "balance", "Balance"): _AMOUNT,
    (SUI_FRAMEWORK, "balance", "Supply"): _AMOUNT,
    (SUI_FRAMEWORK, "coin", "Coin"): Known("{imported}", "coin", imported="Coin"),
    (SUI_FRAMEWORK, "vec_set", "VecSet"): Known("tuple[{0}, ...]", "vector", (0,)),
    (SUI_FRAMEWORK, "vec_map", "VecMap"): Known("tuple[tuple[{0}, {1}], ...]", "map_of", (0, 1)),
    (SUI_FRAMEWORK, "dynamic_field", "Field"): _FIELD,
    (SUI_FRAMEWORK, "dynamic_object_field", "Wrapper"): Known("{0}", "wrapped", (0,)),
    (SUI_FRAMEWORK, "bag", "Bag"): _COLLECTION,
    (SUI_FRAMEWORK, "object_bag", "ObjectBag"): _COLLECTION,
    (SUI_FRAMEWORK, "object_table", "ObjectTable"): _COLLECTION,
    (SUI_FRAMEWORK, "table", "Table"): _COLLECTION,
    (SUI_FRAMEWORK, "table_vec", "TableVec"): _COLLECTION,
}
