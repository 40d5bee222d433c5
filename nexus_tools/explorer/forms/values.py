"""The values of a form: from JSON to the texts of its controls, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from nexus_tools.errors import ValidationError
from nexus_tools.explorer.forms.controls import Control, ControlKind
from nexus_tools.tool import parse_json

_MISSING: Any = object()
_MAX_SHOWN = 80


class FormInputs(Struct, frozen=True):
    """The inputs that the texts of a form describe, and messages by the name of a control."""

    inputs: dict[str, Any]
    problems: Mapping[str, str]


def texts_of(controls: Sequence[Control], inputs: Any) -> dict[str, str]:
    """Return the texts of controls that describe inputs, by the names of the controls."""
    return dict(_texts(controls, inputs))


def _texts(controls: Sequence[Control], value: Any) -> Iterator[tuple[str, str]]:
    for control in controls:
        if not control.pointer:
            yield control.name, _json(value)
            continue
        member = value.get(control.key, _MISSING) if isinstance(value, dict) else _MISSING
        if member is _MISSING:
            continue
        if control.kind is ControlKind.GROUP:
            yield from _texts(control.controls, member)
        else:
            yield control.name, _text(control, member)


def choice_text(value: Any) -> str:
    """Return the text of a choice: a text itself, or the JSON of another value."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(control: Control, value: Any) -> str:
    if control.kind in (ControlKind.TEXT, ControlKind.LONG_TEXT, ControlKind.CHOICE):
        return choice_text(value)
    if control.kind is ControlKind.LINES and isinstance(value, list):
        items = [choice_text(item) for item in value]
        if not any("\n" in item or not item for item in items):
            return "\n".join(items)
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


# --- From texts


def inputs_of(controls: Sequence[Control], texts: Mapping[str, str]) -> FormInputs:
    """Return the inputs that texts describe. An optional port with an empty text is omitted."""
    problems: dict[str, str] = {}
    if len(controls) == 1 and not controls[0].pointer:
        value = _value(controls[0], texts.get(controls[0].name, "{}"), problems)
        return FormInputs(value if isinstance(value, dict) else {}, problems)
    return FormInputs(_members(controls, texts, problems), problems)


def _members(
    controls: Sequence[Control], texts: Mapping[str, str], problems: dict[str, str]
) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for control in controls:
        if control.kind is ControlKind.GROUP:
            inner = _members(control.controls, texts, problems)
            if inner or control.is_required:
                members[control.key] = inner
            continue
        text = texts.get(control.name, "")
        if not text and not _is_empty_text(control):
            continue
        value = _value(control, text, problems)
        if value is not _MISSING:
            members[control.key] = value
    return members


def _is_empty_text(control: Control) -> bool:
    """Return whether an empty text is a value: a required string, or a required list."""
    is_text = control.kind in (ControlKind.TEXT, ControlKind.LONG_TEXT, ControlKind.LINES)
    return control.is_required and is_text


def _value(control: Control, text: str, problems: dict[str, str]) -> Any:
    """Return the value of a text, or `_MISSING` with a problem."""
    text = text.replace("\r\n", "\n")
    match control.kind:
        case ControlKind.TEXT | ControlKind.LONG_TEXT:
            return text
        case ControlKind.CHOICE:
            for choice in control.choices:
                if choice_text(choice) == text:
                    return choice
            problems[control.name] = "expected one of the choices"
            return _MISSING
        case ControlKind.LINES if not text.lstrip().startswith("["):
            items = [item for item in text.split("\n") if item.strip()]
            if control.item_type == "string":
                return items
            return [_parsed(item, control, problems) for item in items]
    return _parsed(text, control, problems)


def _parsed(text: str, control: Control, problems: dict[str, str]) -> Any:
    try:
        return parse_json(text)
    except ValidationError as error:
        wanted = {ControlKind.INTEGER: "an integer", ControlKind.NUMBER: "a number"}
        expected = wanted.get(control.kind)
        problems[control.name] = (
            f"expected {expected}, got {text[:_MAX_SHOWN]!r}"
            if expected
            else f"expected JSON: {error.message}"
        )
        return _MISSING
