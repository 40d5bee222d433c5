"""The texts of a trace, and the selection of its calls.

A label is a sequence of parts. Each part is an untrusted text and a style: `dim`, `bold`, `name`,
`failed`, `event`, `error`, or an empty string.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.sui.support.untrusted_text import one_line

Document = Mapping[str, Any]
Label = tuple[tuple[str, str], ...]

_ADDRESS = re.compile(r"0x([0-9a-f]{64})")
_SMALL = 1 << 32
_FRAMEWORK = frozenset(f"0x{number:064x}" for number in (1, 2, 3))
_VALUE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class TraceView:
    """The display options of a trace.

    `depth` is the number of levels of calls below a command. `natives` shows native functions,
    `framework` shows calls within the framework, and `full` shows complete values.
    """

    depth: int
    natives: bool = False
    framework: bool = False
    full: bool = False

    def short(self, text: str) -> str:
        """Return the text with shortened addresses: `0x2`, `0x1f3a…09bc`."""
        return _ADDRESS.sub(self._address, text)

    def value(self, text: str) -> str:
        """Return the shortened text of a value."""
        text = self.short(text)
        too_long = not self.full and len(text) > _VALUE_LENGTH
        return f"{text[: _VALUE_LENGTH - 1]}…" if too_long else text

    def _address(self, match: "re.Match[str]") -> str:
        digits = match[1]
        if int(digits, 16) < _SMALL:
            return f"0x{int(digits, 16):x}"
        return match[0] if self.full else f"0x{digits[:4]}…{digits[-4:]}"

    def steps(self, parent: Document, level: int) -> Iterator[Document]:
        """Yield the visible calls and events of a call or a command.

        For a hidden call, yield its events and the failed call in it.
        """
        for step in parent["steps"]:
            if step["kind"] == "call" and self._shows(step, parent, level):
                yield step
            else:
                yield from _lifted(step)

    def hidden(self, parent: Document, level: int) -> int:
        """Return the number of hidden calls. Native functions only count if `natives` is set."""
        hidden: int = parent["left_out"]
        for step in parent["steps"]:
            if step["kind"] == "call" and not self._shows(step, parent, level):
                hidden += self._count(step)
        return hidden

    def _shows(self, call: Document, parent: Document, level: int) -> bool:
        if level > self.depth:
            return False
        if call["status"] != "returned":
            return True
        if call["is_native"] and not self.natives:
            return False
        internal = is_framework(call) and parent["kind"] == "call" and is_framework(parent)
        return self.framework or not internal

    def _count(self, call: Document) -> int:
        inner = sum(self._count(step) for step in call["steps"] if step["kind"] == "call")
        if call["status"] == "failed":
            return 0
        own = 1 if self.natives or not call["is_native"] else 0
        return own + inner + int(call["left_out"])


def is_framework(call: Document) -> bool:
    """Return whether a function belongs to the packages 0x1, 0x2 and 0x3."""
    return call["package"] in _FRAMEWORK


def _lifted(step: Document) -> Iterator[Document]:
    """Yield the step if it is an event or a failed call, or else its events and failed calls."""
    if step["kind"] == "event" or step["status"] == "failed":
        yield step
    else:
        for inner in step["steps"]:
            yield from _lifted(inner)


# --- Labels


def command_label(command: Document, status: Document, view: TraceView) -> Label:
    """Return the label of a command."""
    arguments = ", ".join(_command_argument(argument, view) for argument in command["arguments"])
    results = ", ".join(view.value(result["value"]) for result in command["results"])
    called = _called(command, view)
    return (
        (f"{command['index']} ", "dim"),
        (f"{command['kind']}", _style(command, "bold")),
        (f" {called}" if called else f"({arguments})", ""),
        (f" → {results}" if results and not called else "", ""),
        (" not run" if command["status"] == "not_run" else "", "dim"),
        *_ending(command, 1, status, view),
    )


def _called(command: Document, view: TraceView) -> str:
    """Return the function or modules of a command. Its calls show the arguments."""
    if command["kind"] == "MoveCall":
        return _function(command, view)
    if "modules" not in command:
        return ""
    modules = ", ".join(name or "?" for name in command["modules"])
    package = command["package"]
    return f"{modules}{f' → {view.short(package)}' if package else ''}"


def _command_argument(argument: Document, view: TraceView) -> str:
    source = argument["source"]
    if source["kind"] == "gas_coin":
        return "gas coin"
    if "value" in argument:
        return view.value(argument["value"])
    place = f"{source.get('command', '')}.{source['index']}".removeprefix(".")
    return f"{source['kind']} {place}"


def call_label(call: Document, level: int, status: Document, view: TraceView) -> Label:
    """Return the label of a call at a level of the tree."""
    arguments = ", ".join(_argument(argument, view) for argument in call["arguments"])
    results = ", ".join(_typed(result, view) for result in call["results"])
    native = call["is_native"]
    return (
        ("native " if native else "", "dim"),
        (_function(call, view), _style(call, "name" if not native else "")),
        (f"({arguments})", ""),
        (f" → {results}" if results else "", ""),
        *_ending(call, level + 1, status, view),
    )


def _function(call: Document, view: TraceView) -> str:
    types = ", ".join(call["type_arguments"])
    name = f"{call['package']}::{call['module']}::{call['function']}"
    return view.short(f"{name}<{types}>" if types else name)


def _argument(argument: Document, view: TraceView) -> str:
    text = _typed(argument, view)
    return f"{text} ⇒ {view.value(argument['after'])}" if "after" in argument else text


def _typed(value: Document, view: TraceView) -> str:
    """Return the text of a value, after `&` or `&mut` if the value is a reference."""
    reference = next((prefix for prefix in ("&mut ", "&") if value["type"].startswith(prefix)), "")
    return reference + view.value(value["value"])


def event_label(event: Document, view: TraceView) -> Label:
    """Return the label of an event."""
    place = "::".join(event["type"].partition("<")[0].split("::")[:2])
    return (
        ("event ", "event"),
        (f"{view.short(place)}::", "dim"),
        (view.value(event["value"]), ""),
    )


def _style(step: Document, usual: str) -> str:
    return usual if step["status"] in ("returned", "not_run") else "failed"


def _ending(
    step: Document, level: int, status: Document, view: TraceView
) -> tuple[tuple[str, str], ...]:
    """Return the suffix of a call: its failure, its gas, and the number of hidden calls."""
    total, own = step["gas"]["total"], step["gas"]["own"]
    gas = f"  gas {total:,}{f', own {own:,}' if 0 < own < total else ''}" if total else ""
    hidden = view.hidden(step, level)
    failed = failure_text(status, view) if step["status"] == "failed" else ""
    return (
        (f"  ✗ {failed}" if failed else "", "error"),
        (gas, "dim"),
        (f"  +{hidden} call{'s' if hidden > 1 else ''}" if hidden else "", "dim"),
    )


# --- Failures


def failure_text(status: Document, view: TraceView) -> str:
    """Return the reason for a failed transaction as one line, or an empty string."""
    if status["success"]:
        return ""
    clever = status["clever_error"]
    if status["abort_code"] is None:
        text = status["message"] or status["error"]
    else:
        text = _abort_text(status["abort_code"], clever)
        location = status["location"]
        place = f"{location['package']}::{location['module']}::{location['function']}"
        text += f" in {place}, instruction {location['instruction']}"
    return one_line(view.short(text))


def _abort_text(code: str, clever: Document | None) -> str:
    if clever is None:
        return f"abort {code}"
    if clever["constant"] is None:
        return f"abort, line {clever['line']}"
    value = f" ({clever['value']})" if clever["value"] is not None else ""
    return f"abort {clever['constant']}{value}, line {clever['line']}"
