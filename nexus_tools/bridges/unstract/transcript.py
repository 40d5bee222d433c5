"""What a run has said: its standard output read line by line, within bounds."""

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
    read_message,
)
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.logs import get_logger

MAX_LINE_BYTES = 3 * 2**20
MAX_KEPT = 100
"""How many messages of a kind are kept, the newest."""
MAX_TEXT = 4_096
"""Characters of a message's text that are kept."""

_NOISE_BYTES = 4_096


class Transcript:
    """Takes the output of a tool in chunks, and keeps what its messages say.

    A tool may write anything: lines that are no messages are noise, of which the end is kept;
    `problem` says why the last broken message could not be read. Of several RESULTs the last one
    counts, as it does for the next tool of a workflow, which finds that one in its INFILE.
    `on_message` is called with each LOG, COST, RESULT, UPDATE and SINGLE_STEP_MESSAGE as it comes.
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
        """Take more of the output; a line may come in any number of pieces."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._extend(piece)
            self._end_line()
        self._extend(rest)

    def close(self) -> None:
        """The output has ended, perhaps in the middle of a line."""
        self._end_line()

    @property
    def noise(self) -> str:
        """The end of what the tool printed beside its messages."""
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
            message = read_message(line)
        except ValidationError as error:
            self.problem = error.message
            message = None
        if message is not None:
            self._take(message)
        elif line.strip():
            self._noise += line[-_NOISE_BYTES:] + b"\n"
            del self._noise[:-_NOISE_BYTES]

    def _take(self, message: Message) -> None:
        match _shortened(message):
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


def _shortened(message: Message) -> Message:
    """The message with its texts cut; a RESULT, an ICON and documents are left whole."""
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


class RunningLog:
    """The log of one run of one tool; texts are masked, results are not written.

    After `MAX_LINES` lines it says so, and falls silent.
    """

    def __init__(self, tool: str, redaction: Redaction) -> None:
        self._log = _log.bind(tool=tool)
        self._redaction = redaction
        self._lines = 0

    def write(self, message: Message) -> None:
        """Write one message: a LOG at its level, what shows people the data at hand as debug."""
        match message:
            case Log(level, log, stage):
                self._say(_METHODS[level], "tool_log", log=log, stage=stage)
            case Cost(cost, cost_units):
                self._say("info", "tool_cost", cost=cost, cost_units=cost_units)
            case SingleStepMessage(text):
                self._say("debug", "tool_message", message=text)
            case Update(state, text):
                self._say("debug", "tool_update", state=state, message=text)
            case Result(_, workflow_id, elapsed_s):
                self._say("info", "tool_result", workflow_id=workflow_id, elapsed_s=elapsed_s)

    def _say(self, method: str, event: str, **values: Any) -> None:
        self._lines += 1
        if self._lines <= MAX_LINES:
            getattr(self._log, method)(event, **self._redaction.value(values))
        elif self._lines == MAX_LINES + 1:
            self._log.warning("tool_log_cut", lines=MAX_LINES)
