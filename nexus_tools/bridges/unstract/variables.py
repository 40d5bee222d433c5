"""Runtime variables: the environment variables that a tool declares, and whether they are there."""

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
"""The services that adapters are asked of, adapters that are configured without one, and a cache.

Every tool of Unstract may have them: nothing else on a machine is called so.
"""

SECRETS = tuple(name for name in NAMES if name.endswith(("_KEY", "_CONFIG")))
"""Those of them that are not for everybody to read."""


def platform_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that the operator has set."""
    return {name: environment[name] for name in NAMES if name in environment}


# Every run has these, of its own: a declaration does not make them the operator's.
_GIVEN = re.compile(r"HOME|PATH|TMPDIR|XDG_\w+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class RuntimeVariables:
    """The variables by name with the schema of each, and which of them a run cannot do without."""

    schemas: Mapping[str, Any]
    required: tuple[str, ...] = ()

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "RuntimeVariables":
        """From `runtime_variables.json`.

        Raises `ValidationError` with code `schema_invalid`, also for names that no environment
        variable can have, and for schemas that refer to each other.
        """
        schema = object_schema(document)
        members = schema.get("properties", {}).items()
        schemas = {name: member for name, member in members if not _GIVEN.fullmatch(name)}
        names = schema.get("required", ())
        required = tuple(name for name in names if not _GIVEN.fullmatch(name))
        for name in (*schemas, *required):
            if not _NAME.fullmatch(name):
                message = f"{name[:80]!r} is no name of an environment variable"
                raise schema_error([Mismatch("/properties", message)])
        for member in schemas.values():
            _validator(member)
        return cls(schemas, required)

    @property
    def names(self) -> tuple[str, ...]:
        """Every declared name."""
        return tuple(dict.fromkeys((*self.schemas, *self.required)))

    def values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The variables as a tool gets them: the operator's, else the default of the schema."""
        found = {name: self._value(name, environment) for name in self.names}
        return {name: value for name, value in found.items() if value is not None}

    def checks(self, environment: Mapping[str, str]) -> dict[str, bool]:
        """Whether each variable is as it should be, by name; values are not shown.

        A required one is set; one that is set matches its schema.
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
        return any(validator.is_valid({"variable": read}) for read in (value, _parsed(value)))


def _validator(member: Any) -> "Draft202012Validator":
    """Of an object with the variable as its one member."""
    schema = {"type": "object", "properties": {"variable": member}}
    return check_input_schema(schema).validator


def _parsed(value: str) -> Any:
    """What a variable says if it is declared as a number or truth: JSON, in whatever case."""
    try:
        return parse_json(value.lower())
    except ValidationError:
        return None
