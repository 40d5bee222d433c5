"""The transcript of a run: its standard output, parsed line by line within limits."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.unstract.message import (
    Cost,
    Declaration,
    Icon,
    Log,
    LogLevel,
    Message,
    MessageType,
    Result,
    SingleStepMessage,
    Update,
    parse_message,
)
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.logs import get_logger

MAX_LINE_BYTES = 3 * 2**20
MAX_KEPT = 100
"""The maximum number of stored messages of each kind. Older messages are dropped."""
MAX_TEXT = 4_096
"""The maximum number of stored characters of a message's text."""

_NOISE_BYTES = 4_096


class Transcript:
    """A parser that takes the output of a tool in chunks and collects its messages.

    A tool may print anything. `noise` is the end of the output that consists of other lines than
    messages. `problem` is the reason why the last invalid message could not be read. If a tool
    prints several RESULTs, the last one counts, because the next tool of a workflow also finds the
    last one in its INFILE. `on_message` is called with each LOG, COST, RESULT, UPDATE, and
    SINGLE_STEP_MESSAGE as it arrives.
    """

    def __init__(self, on_message: Callable[[Message], None] | None = None) -> None:
        self.result: Result | None = None
        self.logs: deque[Log] = deque(maxlen=MAX_KEPT)
        self.costs: deque[Cost] = deque(maxlen=MAX_KEPT)
        self.messages: deque[SingleStepMessage] = deque(maxlen=MAX_KEPT)
        self.updates: deque[Update] = deque(maxlen=MAX_KEPT)
        self.documents: dict[MessageType, dict[str, Any]] = {}
        self.icon: str | None = None
        self.failure: Log | None = None
        self.problem = ""
        self._on_message = on_message
        self._line = bytearray()
        self._line_is_too_long = False
        self._noise = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add a chunk of output. A line may be split into any number of chunks."""
        *complete_pieces, rest = chunk.split(b"\n")
        for piece in complete_pieces:
            self._extend(piece)
            self._end_line()
        self._extend(rest)

    def close(self) -> None:
        """Finish the last line, which may be incomplete."""
        self._end_line()

    @property
    def noise(self) -> str:
        """The end of the output that is not a message."""
        return self._noise.decode("utf-8", "replace")

    def _extend(self, piece: bytes) -> None:
        if len(self._line) + len(piece) > MAX_LINE_BYTES:
            self._line_is_too_long = True
            self._line.clear()
        elif not self._line_is_too_long:
            self._line += piece

    def _end_line(self) -> None:
        line = bytes(self._line)
        if self._line_is_too_long:
            self.problem = f"a line is longer than {MAX_LINE_BYTES} bytes"
        self._line.clear()
        self._line_is_too_long = False
        try:
            message = parse_message(line)
        except ValidationError as error:
            self.problem = error.message
            message = None
        if message is not None:
            self._store(message)
        elif line.strip():
            self._noise += line[-_NOISE_BYTES:] + b"\n"
            del self._noise[:-_NOISE_BYTES]

    def _store(self, message: Message) -> None:
        match _truncate(message):
            case Declaration(kind, document):
                self.documents[kind] = document
                return
            case Icon(svg):
                self.icon = svg
                return
            case Log() as log:
                self.logs.append(log)
                if log.level.is_failure:
                    self.failure = log
            case Cost() as cost:
                self.costs.append(cost)
            case Result() as result:
                self.result = result
            case SingleStepMessage() as step:
                self.messages.append(step)
            case Update() as update:
                self.updates.append(update)
        if self._on_message is not None:
            self._on_message(message)


def _truncate(message: Message) -> Message:
    """Return the message with truncated texts. RESULT, ICON, and documents stay complete."""
    if isinstance(message, Declaration | Icon | Result):
        return message
    texts = ((name, getattr(message, name)) for name in message.__slots__)
    changes: dict[str, Any] = {
        name: text[:MAX_TEXT] + "…"
        for name, text in texts
        if type(text) is str and len(text) > MAX_TEXT
    }
    return replace(message, **changes)


MAX_LINES = 1_000

_log = get_logger("nexus_tools.bridges.unstract")

_METHODS = {
    LogLevel.DEBUG: "debug",
    LogLevel.INFO: "info",
    LogLevel.WARN: "warning",
    LogLevel.ERROR: "error",
    LogLevel.FATAL: "error",
}


class RunLogger:
    """The log of one run of one tool. Texts are redacted, and results are not logged.

    After `MAX_LINES` lines, the log ends with a line that says so.
    """

    def __init__(self, tool: str, redaction: Redaction) -> None:
        self._log = _log.bind(tool=tool)
        self._redaction = redaction
        self._lines = 0

    def write(self, message: Message) -> None:
        """Log one message: a LOG at its own level, and user interface messages as debug."""
        match message:
            case Log(level, log, stage):
                self._write_line(_METHODS[level], "tool_log", log=log, stage=stage)
            case Cost(cost, cost_units):
                self._write_line("info", "tool_cost", cost=cost, cost_units=cost_units)
            case SingleStepMessage(text):
                self._write_line("debug", "tool_message", message=text)
            case Update(state, text):
                self._write_line("debug", "tool_update", state=state, message=text)
            case Result(_, workflow_id, elapsed_s):
                self._write_line(
                    "info", "tool_result", workflow_id=workflow_id, elapsed_s=elapsed_s
                )

    def _write_line(self, method: str, event: str, **values: Any) -> None:
        self._lines += 1
        if self._lines <= MAX_LINES:
            getattr(self._log, method)(event, **self._redaction.value(values))
        elif self._lines == MAX_LINES + 1:
            self._log.warning("tool_log_truncated", lines=MAX_LINES)
