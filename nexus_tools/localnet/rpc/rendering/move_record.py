"""Move structs by the names of their fields."""

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.vm import Machine, Value, substitute
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import StructTag, TypeTag


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A struct's value with its type; `record["name"]` is a field's value."""

    machine: Machine
    tag: StructTag
    value: Value

    @classmethod
    def of(cls, found: Object, machine: Machine) -> "MoveRecord":
        """The value of an object that is no package."""
        assert isinstance(found.data, MoveObject)
        value = machine.decode(found.data.type, found.data.contents)
        return cls(machine, found.data.type, value)

    def __getitem__(self, name: str) -> Value:
        return self.value[self._place(name)]

    def inner(self, name: str) -> "MoveRecord":
        """A field that is a struct itself."""
        place = self._place(name)
        _, declared = self._fields()[place]
        tag = substitute(declared, self.tag.type_params)
        assert isinstance(tag, StructTag)
        return MoveRecord(self.machine, tag, self.value[place])

    def _place(self, name: str) -> int:
        return [field for field, _ in self._fields()].index(name)

    def _fields(self) -> tuple[tuple[str, TypeTag], ...]:
        datatype = self.machine.datatype(self.tag)
        assert datatype is not None
        assert datatype.fields is not None
        return datatype.fields  # type: ignore[return-value]  # fields are no references
