"""`std::debug` in tests, whose output is part of the test report."""

from nexus_tools.sui.localnet.move_test.scenario import scenario_of
from nexus_tools.sui.localnet.natives import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference, Value, Variant, substitute
from nexus_tools.sui.types.address import MOVE_STDLIB, Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

_STRINGS = frozenset({("string", "String"), ("ascii", "String")})


def print_value(context: Context, types: tuple[TypeTag, ...], value: Reference) -> None:
    """Add a value to the output of the test."""
    text = _render(context, types[0], value.read())
    scenario_of(context).printed.append(text)


def print_stack_trace(_context: Context, _types: tuple[TypeTag, ...]) -> None:
    """Do nothing, because the report of a failure contains the call stack."""


def _render(context: Context, type_: TypeTag, value: Value) -> str:
    if isinstance(type_, VectorTag):
        if type_.element is Primitive.U8:
            return f"0x{bytes(value).hex()}"
        return f"[{', '.join(_render(context, type_.element, item) for item in value)}]"
    if isinstance(type_, StructTag):
        return _render_datatype(context, type_, value)
    if type_ in (Primitive.ADDRESS, Primitive.SIGNER):
        return f"@{Address(value).short()}"
    return str(value).lower()


def _render_datatype(context: Context, tag: StructTag, value: Value) -> str:
    if tag.address == MOVE_STDLIB and (tag.module, tag.name) in _STRINGS:
        return f'"{bytes(value[0]).decode()}"'
    definition = context.types.datatype(tag)
    assert definition is not None  # a value of this type exists
    name, fields = tag.name, definition.fields or ()
    values = value
    if isinstance(value, Variant) and definition.variants is not None:
        variant, fields = definition.variants[value.tag]
        name, values = f"{name}::{variant}", value.fields
    field_texts = [
        f"{field}: {_render(context, substitute(type_, tag.type_params), item)}"  # type: ignore[arg-type]  # no references in fields
        for (field, type_), item in zip(fields, values, strict=True)
    ]
    return f"{name} {{ {', '.join(field_texts)} }}"


NATIVES = natives_of(MOVE_STDLIB, "debug", print=print_value, print_stack_trace=print_stack_trace)
