"""The native functions of `sui::config`, whose settings change with the next epoch."""

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
    """Return the value of a setting in an epoch, as an `Option`.

    The result is the value before the transaction, even if the transaction changes the setting.
    """
    charge(context, _COST_BASE)
    tag, _, _, value_type = type_arguments
    assert isinstance(tag, StructTag)  # a type with the ability key is a struct
    setting = runtime_of(context).children.stored_value(Address(config), Address(field), tag)
    value: Value = None if setting is None else _value_in(setting, epoch)
    if value is None:
        value = bytearray() if value_type is Primitive.U8 else []
    size = len(context.types.encode(value_type, value[0])) if value else 0
    charge(context, 0, _COST_PER_BYTE, _NONE_BYTES + size)
    return [value]


def _value_in(field: Value, epoch: int) -> Value:
    """Return the value in `Field { id, name, value: Setting { data: Option<SettingData> } }`.

    The result is the vector in an `Option`. If a setting changed from 3 to 5 in epoch 7, the value
    is 3 in epoch 7, and 5 from epoch 8 on.
    """
    data = field[2][0][0]
    if not data:
        return None
    newer_epoch, newer, older = data[0]
    value: Value = newer if epoch > newer_epoch else older
    return value[0]


NATIVES = natives_of(SUI_FRAMEWORK, "config", read_setting_impl=read_setting_impl)
