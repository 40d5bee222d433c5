"""Takes away the nulls that a strict schema made a model write for ports that it left out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nexus_tools.bridges.export.arguments import moved
from nexus_tools.tool import pointer_of
from nexus_tools.tool.pattern_cost import linear_time
from nexus_tools.tool.schema_document import SchemaDocument

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_WHOLE = "/$defs/whole"


class Fillers:
    """The fillers in arguments of one schema, the original of the strict one."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._document = SchemaDocument.parse(schema)
        self._whole = moved(schema, lambda pointer: f"{_WHOLE}{pointer}")
        self._validators: dict[str, Draft202012Validator] = {}

    def taken_away(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments without each null of an optional property that has no null of its own."""
        found = self._cleaned(arguments, "")
        assert isinstance(found, dict)
        return found

    def _cleaned(self, value: Any, place: str) -> Any:
        """A value as the schema at `place` has it."""
        schema = self._document.subschemas[place]
        if isinstance(schema, bool):
            return value
        for pointer in self._document.references(schema):
            value = self._cleaned(value, pointer)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = [f"{place}/{keyword}/{i}" for i in range(len(schema.get(keyword, ())))]
            value = self._as_a_branch_has_it(value, branches)
        if isinstance(value, dict):
            return self._object(value, schema, place)
        if isinstance(value, list) and "items" in schema:
            return [self._cleaned(item, f"{place}/items") for item in value]
        return value

    def _as_a_branch_has_it(self, value: Any, branches: Sequence[str]) -> Any:
        """As the first branch has it that it fits then; as it is if it fits none."""
        for place in branches:
            cleaned = self._cleaned(value, place)
            if self._allows(place, cleaned):
                return cleaned
        return value

    def _object(self, value: dict[str, Any], schema: dict[str, Any], place: str) -> dict[str, Any]:
        places = {
            name: f"{place}/properties{pointer_of((name,))}"
            for name in schema.get("properties", {})
        }
        optional = places.keys() - set(schema.get("required", ()))
        return {
            name: self._cleaned(inner, places[name]) if name in places else inner
            for name, inner in value.items()
            if inner is not None or name not in optional or self._allows(places[name], None)
        }

    def _allows(self, place: str, value: Any) -> bool:
        if place not in self._validators:
            self._validators[place] = self._validator(place)
        return self._validators[place].is_valid(value)

    def _validator(self, place: str) -> "Draft202012Validator":
        import jsonschema_rs  # noqa: PLC0415 - native code, needed only where arguments come in

        target = {"$defs": {"whole": self._whole}, "$ref": f"#{_WHOLE}{quote(place)}"}
        return jsonschema_rs.Draft202012Validator(
            target, pattern_options=linear_time(), offline=True
        )
