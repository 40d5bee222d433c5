"""The dynamic fields of the arguments of one call, for both VMs."""

from genuine import Children
from nexus_tools.sui.localnet.vm import Machine
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, dynamic_field_id
from nexus_tools.sui.types.object import MoveObject, Object, ObjectOwner
from nexus_tools.sui.types.type_tag import TYPE_TAG, StructTag, TypeTag, field_tag

_VERSION = 1


class DynamicFields:
    """Dynamic fields by the IDs of their objects. The fields are removed before each call."""

    def __init__(self) -> None:
        self._fields: dict[Address, tuple[Address, MoveObject]] = {}

    def clear(self) -> None:
        """Remove all fields."""
        self._fields.clear()

    def add(
        self,
        machine: Machine,
        parent: bytes,
        key: tuple[TypeTag, object],
        value: tuple[TypeTag, object],
    ) -> None:
        """Add a field to the object `parent`. `key` and `value` are types with values."""
        (key_type, name), (value_type, content) = key, value
        encoded = machine.types.encode(key_type, name)
        child = dynamic_field_id(parent, TYPE_TAG.encode(key_type), encoded)
        type_ = field_tag(key_type, value_type)
        contents = bytes(child) + encoded + machine.types.encode(value_type, content)
        self.put(Address(parent), type_, contents)

    def put(self, parent: Address, type_: StructTag, contents: bytes) -> None:
        """Add a field to the object `parent`, with contents that start with its ID."""
        data = MoveObject(type_, has_public_transfer=False, version=_VERSION, contents=contents)
        self._fields[data.id] = (parent, data)

    def find(self, child: Address) -> Object | None:
        """Return a field's object, for the localnet."""
        found = self._fields.get(child)
        if found is None:
            return None
        parent, data = found
        return Object(data, ObjectOwner(parent), Digest(bytes(32)), 0)

    def children(self) -> Children:
        """Return all fields, for Sui's own VM."""
        children: dict[str, list[tuple[str, bytes, str]]] = {}
        for child, (parent, data) in self._fields.items():
            field = (str(child), data.contents, str(data.type))
            children.setdefault(str(parent), []).append(field)
        return children
