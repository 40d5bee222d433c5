"""The native functions of `std::vector`, which the compiler converts to instructions.

Because of this conversion, only a `MoveCall` command of a transaction calls them as native
functions.
"""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference, Value
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.sui.types.type_tag import Primitive, TypeTag

_COST = 52
_INDEX_OUT_OF_BOUNDS, _POP_EMPTY, _NOT_EMPTY = 1, 2, 3


def empty(context: Context, type_arguments: tuple[TypeTag, ...]) -> Value:
    """Return an empty vector."""
    charge(context, _COST)
    return bytearray() if type_arguments[0] is Primitive.U8 else []


def length(context: Context, _types: tuple[TypeTag, ...], vector: Reference) -> int:
    """Return the number of elements."""
    charge(context, _COST)
    return len(vector.read())


def borrow(
    context: Context, _types: tuple[TypeTag, ...], vector: Reference, index: int
) -> Reference:
    """Return a reference to an element."""
    charge(context, _COST)
    elements = vector.read()
    if index >= len(elements):
        raise NativeAbort(_INDEX_OUT_OF_BOUNDS)
    return Reference(elements, index)


def push_back(
    context: Context, _types: tuple[TypeTag, ...], vector: Reference, element: Value
) -> None:
    """Append an element."""
    charge(context, _COST)
    vector.read().append(element)


def pop_back(context: Context, _types: tuple[TypeTag, ...], vector: Reference) -> Value:
    """Remove and return the last element."""
    charge(context, _COST)
    elements = vector.read()
    if not elements:
        raise NativeAbort(_POP_EMPTY)
    return elements.pop()


def destroy_empty(context: Context, _types: tuple[TypeTag, ...], vector: Value) -> None:
    """Drop an empty vector."""
    charge(context, _COST)
    if vector:
        raise NativeAbort(_NOT_EMPTY)


def swap(
    context: Context, _types: tuple[TypeTag, ...], vector: Reference, first: int, second: int
) -> None:
    """Exchange two elements."""
    charge(context, _COST)
    elements = vector.read()
    if max(first, second) >= len(elements):
        raise NativeAbort(_INDEX_OUT_OF_BOUNDS)
    elements[first], elements[second] = elements[second], elements[first]


NATIVES = natives_of(
    MOVE_STDLIB,
    "vector",
    empty=empty,
    length=length,
    borrow=borrow,
    borrow_mut=borrow,
    push_back=push_back,
    pop_back=pop_back,
    destroy_empty=destroy_empty,
    swap=swap,
)
