"""The JSON Schemas that a tool declares for its settings and its runtime variables."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.bridges.unstract.properties import Adapter
from nexus_tools.tool import Mismatch, schema_error

# Keywords that may reject an empty object.
_MAY_REQUIRE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "$ref"))
_SECRET_NAME = re.compile(r"api_?key|secret|password|token|credential", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run. `schema` describes the caller's part, and `filled` adds defaults.

    A caller may omit a setting with a default, because the platform's form contains the default.
    """

    schema: dict[str, Any]

    @classmethod
    def parse(cls, spec: Mapping[str, Any], adapters: tuple[Adapter, ...] = ()) -> "Settings":
        """Parse `spec.json` and add the adapters, whose IDs are settings as well.

        Raises:
            ValidationError: with code `schema_invalid` if `spec` does not describe an object.
        """
        schema = _with_adapters(object_schema(spec), adapters)
        properties = schema.get("properties", {})
        required = [
            name for name in schema.pop("required", ()) if not _has_default(properties.get(name))
        ]
        return cls(schema | {"required": required} if required else schema)

    @property
    def are_required(self) -> bool:
        """Whether a run requires, or may require, settings from the caller."""
        has_requirement = (
            bool(self.schema.get("required")) or self.schema.get("minProperties", 0) > 0
        )
        return has_requirement or not self.schema.keys().isdisjoint(_MAY_REQUIRE)

    def secrets(self, settings: Mapping[str, Any]) -> Iterator[str]:
        """Return the strings in filled settings that a log must not contain.

        These settings are `writeOnly`, have the format `password`, or have a name that indicates a
        secret.
        """
        return _secrets(settings, self.schema)

    def filled(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings, with defaults for missing settings."""
        return _filled(settings, self.schema)


def object_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's schema as draft 2020-12. The schema must describe an object."""
    schema = upgrade_schema(document)
    if schema.setdefault("type", "object") != "object":
        raise schema_error([Mismatch("/type", "settings and runtime variables must be an object")])
    if not isinstance(schema.get("properties", {}), dict):
        raise schema_error([Mismatch("/properties", "properties must be an object")])
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise schema_error([Mismatch("/required", "required must be a list of names")])
    return schema


def _with_adapters(settings: Mapping[str, Any], adapters: tuple[Adapter, ...]) -> dict[str, Any]:
    """Return the schema of settings with the IDs of the adapters.

    Existing members are not changed.
    """
    schemas = {adapter.setting: adapter.schema() for adapter in adapters}
    needed = [adapter.setting for adapter in adapters if adapter.is_required]
    schema = dict(settings)
    if schemas:
        schema["properties"] = schemas | settings.get("properties", {})
    if needed:
        schema["required"] = list(dict.fromkeys([*settings.get("required", ()), *needed]))
    return schema


def _filled(values: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(values)
    for name, member in schema.get("properties", {}).items():
        if name not in filled and _has_default(member):
            filled[name] = deepcopy(member["default"])
        elif isinstance(filled.get(name), dict) and isinstance(member, dict):
            filled[name] = _filled(filled[name], member)
    return filled


def _secrets(values: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        value = values.get(name)
        if isinstance(value, str) and _is_secret(name, member):
            yield value
        elif isinstance(value, dict) and isinstance(member, dict):
            yield from _secrets(value, member)


def _is_secret(name: str, member: object) -> bool:
    schema = member if isinstance(member, dict) else {}
    is_marked = schema.get("writeOnly") is True or schema.get("format") == "password"
    return is_marked or _SECRET_NAME.search(name) is not None


def _has_default(member: object) -> bool:
    return isinstance(member, dict) and "default" in member
