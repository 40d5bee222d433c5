"""The native functions of `sui::types`, which check one-time witnesses."""

from nexus_tools.sui.localnet.natives.gas import charge, tag_size, type_size
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2


def is_one_time_witness(
    context: Context, type_arguments: tuple[TypeTag, ...], _witness: Reference
) -> bool:
    """Return whether a type has its module's name in capital letters and a single bool field."""
    tag = type_arguments[0]
    charge(context, _COST_BASE, _COST_PER_BYTE, type_size(tag) + tag_size(tag))
    if not isinstance(tag, StructTag) or tag.type_params or tag.name != tag.module.upper():
        return False
    datatype = context.types.datatype(tag)
    fields = datatype.fields if datatype else None
    return fields is not None and [type_ for _, type_ in fields] == [Primitive.BOOL]


NATIVES = natives_of(SUI_FRAMEWORK, "types", is_one_time_witness=is_one_time_witness)
