"""Runtime variables: the environment variables that a tool declares, and their validation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nexus_tools.bridges.unstract.settings import object_schema
from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch, check_input_schema, parse_json, schema_error

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

NAMES = (
    "PLATFORM_SERVICE_HOST",
    "PLATFORM_SERVICE_PORT",
    "PLATFORM_SERVICE_API_KEY",
    "X2TEXT_HOST",
    "X2TEXT_PORT",
    "PROMPT_HOST",
    "PROMPT_PORT",
    "PUBLIC_EMBEDDING_CONFIG",
    "PUBLIC_LLM_CONFIG",
    "PUBLIC_VECTOR_DB_CONFIG",
    "PUBLIC_X2TEXT_CONFIG",
    "TIKTOKEN_CACHE_DIR",
)
"""The environment variables of the platform: adapter services, adapters, and a tokenizer cache.

Every Unstract tool may read these variables, because other programs do not use their names.
"""

SECRET_VARIABLES = tuple(name for name in NAMES if name.endswith(("_KEY", "_CONFIG")))
"""The names of variables that contain secrets."""


def platform_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the platform's variables that the operator has set."""
    return {name: environment[name] for name in NAMES if name in environment}


# Variables that every run sets. If a tool declares these variables, it still does not receive the
# operator's values.
_GIVEN = re.compile(r"HOME|PATH|TMPDIR|XDG_\w+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class RuntimeVariables:
    """The declared variables with their schemas, and the names of the required variables."""

    schemas: Mapping[str, Any]
    required: tuple[str, ...] = ()

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "RuntimeVariables":
        """Parse `runtime_variables.json`.

        Raises:
            ValidationError: with code `schema_invalid`, also for names that an environment variable
                cannot have and for schemas that refer to each other.
        """
        schema = object_schema(document)
        members = schema.get("properties", {}).items()
        schemas = {name: member for name, member in members if not _GIVEN.fullmatch(name)}
        names = schema.get("required", ())
        required = tuple(name for name in names if not _GIVEN.fullmatch(name))
        for name in (*schemas, *required):
            if not _NAME.fullmatch(name):
                message = f"{name[:80]!r} is not a valid name of an environment variable"
                raise schema_error([Mismatch("/properties", message)])
        for member in schemas.values():
            _validator(member)
        return cls(schemas, required)

    @property
    def names(self) -> tuple[str, ...]:
        """Every declared name."""
        return tuple(dict.fromkeys((*self.schemas, *self.required)))

    def values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a tool: the operator's values, or the defaults of the schemas."""
        values_by_name = {name: self._value(name, environment) for name in self.names}
        return {name: value for name, value in values_by_name.items() if value is not None}

    def checks(self, environment: Mapping[str, str]) -> dict[str, bool]:
        """Return whether each variable is valid, by name, without showing values.

        A required variable must be set. A variable that is set must match its schema.
        """
        values = self.values(environment)
        return {
            name: self._matches(name, values[name]) if name in values else name not in self.required
            for name in self.names
        }

    def _value(self, name: str, environment: Mapping[str, str]) -> str | None:
        if environment.get(name):
            return environment[name]
        schema = self.schemas.get(name)
        default = schema.get("default") if isinstance(schema, dict) else None
        return str(default) if isinstance(default, str | int | float) else None

    def _matches(self, name: str, value: str) -> bool:
        if name not in self.schemas:
            return True
        validator = _validator(self.schemas[name])
        return any(validator.is_valid({"variable": member}) for member in (value, _parsed(value)))


def _validator(member: Any) -> "Draft202012Validator":
    """Return the validator of an object whose only member is the variable."""
    schema = {"type": "object", "properties": {"variable": member}}
    return check_input_schema(schema).validator


def _parsed(value: str) -> Any:
    """Return a variable's value as JSON in any letter case, for declared numbers and booleans."""
    try:
        return parse_json(value.lower())
    except ValidationError:
        return None
