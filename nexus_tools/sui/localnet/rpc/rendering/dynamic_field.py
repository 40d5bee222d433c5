"""The rendering of dynamic fields (`sui.rpc.v2.DynamicField`).

A dynamic field is an object of the type `0x2::dynamic_field::Field<Name, Value>`. In a dynamic
object field, a `Wrapper` contains the name, and the value is the ID of the child object.
"""

from msgspec import Struct

from nexus_tools.sui.localnet.ledger import Ledger
from nexus_tools.sui.localnet.rpc.interface import Mask, prune
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs
from nexus_tools.sui.localnet.rpc.rendering.object import render_object
from nexus_tools.sui.localnet.rpc.values import JsonRenderer
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import DYNAMIC_FIELD, StructTag, TypeTag

_FIELD, _OBJECT = 1, 2
_WRAPPER_TYPE = (SUI_FRAMEWORK, "dynamic_object_field", "Wrapper")


class DynamicField(Struct, frozen=True):
    """A decoded dynamic field.

    For a dynamic object field, `child` is the ID of the child object.
    """

    name_type: TypeTag
    name: bytes
    value_type: TypeTag
    value: bytes
    child: Address | None


def read_dynamic_field(child: Object, machine: Machine) -> DynamicField | None:
    """Decode a dynamic field. Return None if the object is not a dynamic field."""
    tag = child.type
    if tag is None or tag.datatype != DYNAMIC_FIELD:
        return None
    assert isinstance(child.data, MoveObject)
    name_type, value_type = tag.type_params
    name = machine.types.encode(name_type, machine.types.decode(tag, child.data.contents)[1])
    value = child.data.contents[32 + len(name) :]
    if isinstance(name_type, StructTag) and (name_type.datatype == _WRAPPER_TYPE):
        # The name is the wrapper's only field, so the wrapper and the name have the same bytes.
        return DynamicField(name_type.type_params[0], name, value_type, value, Address(value))
    return DynamicField(name_type, name, value_type, value, None)


def render_dynamic_field(
    message: Message,
    parent: Address,
    field_object: Object,
    mask: Mask,
    *,
    ledger: Ledger,
    machine: Machine,
    json: JsonRenderer,
) -> None:
    """Fill the requested fields of a dynamic field."""
    message.parent = str(parent)
    message.field_id = str(field_object.id)
    if set(mask) - {"parent", "field_id"} or "kind" in mask:
        field = read_dynamic_field(field_object, machine)
        if field is not None:
            _render_parts(message, field)
            _render_child(message, field, mask, ledger, json)
    if (object_mask := mask.get("field_object")) is not None:
        render_object(message.field_object, field_object, object_mask, json)
    prune(message, mask)


def _render_parts(message: Message, field: DynamicField) -> None:
    message.kind = _FIELD if field.child is None else _OBJECT
    render_bcs(message.name, str(field.name_type), field.name)
    render_bcs(message.value, str(field.value_type), field.value)


def _render_child(
    message: Message, field: DynamicField, mask: Mask, ledger: Ledger, json: JsonRenderer
) -> None:
    if field.child is None:
        message.value_type = str(field.value_type)
        return
    message.child_id = str(field.child)
    child = ledger.get(field.child)
    if child is None:
        return
    message.value_type = str(child.type)
    if (child_mask := mask.get("child_object")) is not None:
        render_object(message.child_object, child, child_mask, json)
