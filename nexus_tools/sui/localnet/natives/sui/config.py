"""`sui::config`: settings of which a change takes effect with the next epoch."""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag

_COST_BASE, _COST_PER_BYTE = 100, 40
_NONE_BYTES = 1


def read_setting_impl(
    context: Context,
    type_arguments: tuple[TypeTag, ...],
    config: bytes,
    field: bytes,
    epoch: int,
) -> Value:
    """The value of a setting that holds in an epoch, as an `Option`.

    It is read as it was before the transaction, whoever changes it meanwhile.
    """
    charge(context, _COST_BASE)
    tag, _, _, value_type = type_arguments
    assert isinstance(tag, StructTag)  # it has the ability key
    found = runtime_of(context).children.stored_value(Address(config), Address(field), tag)
    chosen: Value = None if found is None else _value_in(found, epoch)
    if chosen is None:
        chosen = bytearray() if value_type is Primitive.U8 else []
    size = len(context.types.encode(value_type, chosen[0])) if chosen else 0
    charge(context, 0, _COST_PER_BYTE, _NONE_BYTES + size)
    return [chosen]


def _value_in(field: Value, epoch: int) -> Value:
    """From `Field { id, name, value: Setting { data: Option<SettingData> } }`, as a vector.

    Of a setting that was changed from 3 to 5 in epoch 7, 3 holds in epoch 7 and 5 from epoch 8 on.
    """
    data = field[2][0][0]
    if not data:
        return None
    newer_epoch, newer, older = data[0]
    chosen: Value = newer if epoch > newer_epoch else older
    return chosen[0]


NATIVES = natives_of(SUI_FRAMEWORK, "config", read_setting_impl=read_setting_impl)
