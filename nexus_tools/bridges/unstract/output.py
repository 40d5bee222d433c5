"""What comes out of a run: how it ended, and the variants `ok` and `err` that say so."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import Finished
from nexus_tools.bridges.schemas.json_schema_upgrade import as_2020_12
from nexus_tools.bridges.schemas.variants import (
    described,
    error,
    error_ports,
    object_of,
    output_schema,
)
from nexus_tools.bridges.unstract.message import Cost, Log, LogLevel, SingleStepMessage, Update
from nexus_tools.bridges.unstract.properties import ResultType, ToolProperties
from nexus_tools.bridges.unstract.storage import OutputFile
from nexus_tools.bridges.unstract.transcript import MAX_KEPT, Transcript
from nexus_tools.errors import ValidationError
from nexus_tools.tool import SchemaDocument, parse_json, relocated

_TEXT = {"type": "string"}


def tool_output_schema(properties: ToolProperties) -> dict[str, Any]:
    """The output schema of a tool; `ValidationError` (`schema_invalid`) if its own is wrong."""
    said = _said_ports()
    ok = object_of(
        {
            "output": _output(properties),
            "files": _files(described(properties.output_description)),
            "elapsed_time": {"type": "number", "description": "Seconds, as the tool counts."},
            "workflow_id": _TEXT,
            **said,
        },
        # Logs are there if the operator wants them.
        required=["output", "files", "elapsed_time", *(name for name in said if name != "logs")],
    )
    return output_schema({"ok": ok, "err": error_ports(**said)})


def output_of(value: Any, properties: ToolProperties) -> Any:
    """The output of a RESULT: JSON that a tool declares may have come as a string of JSON."""
    if properties.result_type is not ResultType.JSON or not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValidationError:
        return value


def said_ports(transcript: Transcript, *, with_logs: bool) -> dict[str, Any]:
    """The ports that both variants have: what was said in a run beside its result."""
    logs = {"logs": [_log(log) for log in transcript.logs]} if with_logs else {}
    return {
        **logs,
        "costs": [_cost(cost) for cost in transcript.costs],
        "messages": [_message(message) for message in transcript.messages],
        "updates": [_update(update) for update in transcript.updates],
    }


def _output(properties: ToolProperties) -> dict[str, Any]:
    description = described(properties.result_description) or "What the tool found."
    if properties.result_type is ResultType.TEXT:
        return _TEXT | {"description": description}
    if not properties.result_schema:
        return {"description": description}
    schema = SchemaDocument.parse(as_2020_12(properties.result_schema))
    moved = relocated(schema, lambda pointer: f"/properties/output{pointer}")
    return {"description": description} | moved


def _files(description: str) -> dict[str, Any]:
    file = object_of(
        {
            "path": {"type": "string", "description": "Relative, with '/' between folders."},
            "text": {"type": "string", "description": "The content, if it is UTF-8."},
            "content_base64": {"type": "string", "contentEncoding": "base64"},
        },
        required=["path"],
    )
    return _list_of(file, description or "The files that the tool made.")


def _said_ports() -> dict[str, Any]:
    log = {"level": {"enum": [level.value for level in LogLevel]}, "log": _TEXT}
    cost = {"cost": {"type": "number"}, "cost_units": _TEXT}
    update = {"state": _TEXT, "message": _TEXT}
    newest = f"The newest {MAX_KEPT} at most."
    return {
        "logs": _list_of(_emitted(log, "stage"), f"LOG messages. {newest}"),
        "costs": _list_of(_emitted(cost), f"COST messages. {newest}"),
        "messages": _list_of(_emitted({"message": _TEXT}), f"SINGLE_STEP_MESSAGEs. {newest}"),
        "updates": _list_of(_emitted(update), f"UPDATE messages. {newest}"),
    }


def _emitted(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    more = dict.fromkeys((*optional, "emitted_at"), _TEXT)
    return object_of({**properties, **more}, required=properties)


def _list_of(item: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": description}


def _log(log: Log) -> dict[str, Any]:
    return {"level": log.level.value, "log": log.log} | _said(log, "stage")


def _cost(cost: Cost) -> dict[str, Any]:
    return {"cost": cost.cost, "cost_units": cost.cost_units} | _said(cost)


def _message(message: SingleStepMessage) -> dict[str, Any]:
    return {"message": message.message} | _said(message)


def _update(update: Update) -> dict[str, Any]:
    return {"state": update.state, "message": update.message} | _said(update)


def _said(message: Any, *optional: str) -> dict[str, str]:
    names = (*optional, "emitted_at")
    return {name: getattr(message, name) for name in names if getattr(message, name)}


# --- How a run ended: well, or why not

_LOG_BYTES = 4_096
_TRACEBACK = "Traceback (most recent call last):"
# The line under a traceback: the class of the exception, and perhaps what it says.
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,200})(?::\s*(.*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolException:
    """The exception that ended a program in Python, as its standard error shows it."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type

    @classmethod
    def last_in(cls, stderr: str) -> "ToolException | None":
        """The one under the last traceback, None if there is no traceback."""
        _, mark, after = stderr.rpartition(_TRACEBACK)
        lines = (line for line in after.splitlines() if line and not line[0].isspace())
        match = _EXCEPTION.fullmatch(next(lines, "")) if mark else None
        return cls(match[1].rpartition(".")[2], match[2] or "") if match else None


@dataclass(frozen=True, slots=True)
class Ending:
    """The process as it finished, and all that it said; its logs are told `with_logs`."""

    finished: Finished
    transcript: Transcript
    redaction: Redaction
    with_logs: bool = True

    def problem(self, *, strict_error_logs: bool) -> str:
        """Why the run failed, in one sentence; empty if it gave a result.

        It did if the program ended with 0 and a RESULT came. With `strict_error_logs` it must not
        have logged an ERROR or FATAL, by which the platform judges.
        """
        if self.finished.limit is not None:
            return self.finished.reason()
        if self.finished.exit_code != 0:
            return self._cause()
        if self.transcript.result is None:
            cause = self.transcript.problem
            return f"the tool ended without a RESULT{f': {cause}' if cause else ''}"
        if strict_error_logs and self.transcript.failure is not None:
            return f"the tool logged an error: {self.transcript.failure.log}"
        return ""

    def ok(self, files: Iterable[OutputFile], properties: ToolProperties) -> dict[str, Any]:
        """The output `{"ok": …}` of a run that has a result; what was said beside it is masked."""
        result = self.transcript.result
        assert result is not None
        elapsed_s = self.finished.elapsed_ms / 1_000
        ports = {
            "output": output_of(result.output, properties),
            "files": [file.as_json() for file in files],
            "elapsed_time": elapsed_s if result.elapsed_s is None else result.elapsed_s,
            **self._said(),
        }
        return {"ok": ports | ({"workflow_id": result.workflow_id} if result.workflow_id else {})}

    def error(self, reason: str) -> dict[str, Any]:
        """The output `{"err": …}` for that reason, with what is known of the process."""
        exception = self._exception()
        return error(
            self.redaction.text(reason),
            finished=self.finished,
            type=exception.type if exception else None,
            # In place of the process's own: messages stand in ports of their own.
            log=self.log or None,
            **self._said(),
        )

    def _said(self) -> Any:
        return self.redaction.value(said_ports(self.transcript, with_logs=self.with_logs))

    @property
    def log(self) -> str:
        """The end of what was printed beside the messages, standard error last."""
        parts = (self.transcript.noise.rstrip("\n"), self._stderr.rstrip("\n"))
        text = self.redaction.text("\n".join(part for part in parts if part)).replace(
            "\0", "\ufffd"
        )
        return text.encode("utf-8", "replace")[-_LOG_BYTES:].decode("utf-8", "ignore")

    @property
    def _stderr(self) -> str:
        return self.finished.stderr.decode("utf-8", "replace")

    def _exception(self) -> ToolException | None:
        failed = self.finished.exit_code not in (None, 0)
        return ToolException.last_in(self._stderr) if failed else None

    def _cause(self) -> str:
        """The error that a tool logs last of all is why it ended; else its exception is."""
        failure, exception = self.transcript.failure, self._exception()
        if failure is not None and failure is self.transcript.logs[-1]:
            return f"the tool failed: {failure.log}"
        if exception is not None:
            return f"the tool failed: {exception}"
        if failure is not None:
            return f"the tool failed: {failure.log}"
        return self.finished.reason()
