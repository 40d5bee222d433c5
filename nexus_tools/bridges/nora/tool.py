"""A NORA tool, which runs its script in a separate process for each call."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bridges.base import BridgedTool, BridgeHost
from nexus_tools.bridges.nora.manifest import Manifest
from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.bridges.schemas.ports import map_ports
from nexus_tools.bridges.schemas.variants import (
    closed_object_schema,
    error,
    error_schema,
    output_schema,
    process_limits,
    with_description,
)
from nexus_tools.bridges.worker import WorkerReply, call_worker_in_scratch, failure
from nexus_tools.errors import UsageError
from nexus_tools.tool import ToolFqn, linear_time_options, pattern_mismatches

ERROR_PATTERN = "^Error( |:)"
"""The pattern of the error texts that NORA's own tools return instead of raising an exception."""

# The text is untrusted, so only its first characters are searched.
MAX_CHARACTERS = 4_096


class ErrorPattern:
    """A regular expression that is searched in the first 4096 characters of a result.

    The regex engine is the linear-time engine that also evaluates `pattern` in JSON Schemas.

    Raises:
        UsageError: with code `pattern_invalid` if the engine does not support the expression.
    """

    def __init__(self, pattern: str) -> None:
        import jsonschema_rs  # noqa: PLC0415 - native code, needed only with this option

        mismatches = pattern_mismatches("", pattern)
        if mismatches:
            hint = f"Use a pattern such as {ERROR_PATTERN!r}."
            raise UsageError("pattern_invalid", mismatches[0].message, hint=hint)
        self._validator = jsonschema_rs.Draft202012Validator(
            {"pattern": pattern}, pattern_options=linear_time_options()
        )

    def matches(self, text: str) -> bool:
        """Return whether the text reports an error."""
        return self._validator.is_valid(text[:MAX_CHARACTERS])


SYSTEM = "nora"

_CHILD = "nexus_tools.bridges.nora.child"
_RESULT = {"description": "The return value of `run`, as text if it is not a JSON value."}


class NoraTool(BridgedTool):
    """A NORA tool, which returns `ok{result}` or `err{reason, type, log, …}`.

    Raises:
        ValidationError: if the schema of the parameters is not supported.
    """

    def __init__(
        self, manifest: Manifest, fqn: ToolFqn, host: BridgeHost, soft_error: ErrorPattern | None
    ) -> None:
        self._manifest = manifest
        self._host = host
        self._confined = host.confined(manifest.folder)
        self._soft_error = soft_error
        self._ports = map_ports(
            upgrade_schema({"additionalProperties": False} | manifest.parameters)
        )
        super().__init__(
            fqn,
            system=SYSTEM,
            source=str(manifest.folder),
            description=with_description(manifest.description),
            input_schema=self._ports.schema,
            output_schema=output_schema(
                {
                    "ok": closed_object_schema({"result": _RESULT}, required=["result"]),
                    "err": error_schema(),
                }
            ),
            timeout_ms=host.timeout_ms,
            confinement=self._confined,
        )

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call `run` with the arguments as its `params`."""
        manifest, host = self._manifest, self._host
        request = {
            "folder": str(manifest.folder.resolve()),
            "script": str(manifest.script),
            "name": manifest.name,
            "params": self._ports.to_arguments(arguments),
        }
        limits = process_limits(host.limits, self.timeout_ms)
        reply = await call_worker_in_scratch(host, _CHILD, request, limits, self._confined)
        return self._outcome(reply)

    def _outcome(self, reply: WorkerReply) -> dict[str, Any]:
        if reply.error is not None:
            return failure(reply, self.fqn)
        result = reply.value
        if self._soft_error and isinstance(result, str) and self._soft_error.matches(result):
            return error(result, finished=reply.finished, type="error_pattern")
        return {"ok": {"result": result}}

    def requirements(self) -> dict[str, bool]:
        """Return whether the entrypoint exists and whether the manifest is unchanged."""
        return self._manifest.checks()
