"""The initial values of an execution: default values, and inputs for an entry group's ports."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.support.units import count
from nexus_tools.tool import HasSchemas, json_pointer
from nexus_tools.workflow.document.document import Document, EntryGroup, InputPort, Storage
from nexus_tools.workflow.document.waiting import WAITING_TOOLS
from nexus_tools.workflow.interfaces import ToolPorts


def select_entry_group(document: Document, name: str | None = None) -> EntryGroup:
    """Return the entry group called `name`, or by default the only entry group.

    Raises `UsageError` with code `group_unknown` or `group_missing`.
    """
    groups = {group.name: group for group in document.groups()}
    known = ", ".join(groups)
    if name is None and len(groups) == 1:
        return next(iter(groups.values()))
    if name is None:
        message = f"the workflow has several entry groups: {known}"
        raise UsageError("group_missing", message, hint="Choose one of these entry groups.")
    if name not in groups:
        hint = suggestion(name, groups, otherwise=f"The entry groups are {known}.")
        raise UsageError(
            "group_unknown", f"the entry group {name[:80]!r} does not exist", hint=hint
        )
    return groups[name]


def known_tools(document: Document, definitions: Mapping[str, HasSchemas]) -> dict[str, ToolPorts]:
    """Return the ports of a document's known tools by FQN, including `ask` and `wait`."""
    known = {**WAITING_TOOLS, **definitions}
    used = known.keys() & {vertex.fqn for vertex in document.vertices}
    return {fqn: ToolPorts(known[fqn]) for fqn in used}


def default_values(document: Document) -> dict[InputPort, Any]:
    """Return the default values by port. Raises `remote_value_unavailable`."""
    for default in document.defaults:
        if default.storage is not Storage.INLINE:
            raise ValidationError(
                "remote_value_unavailable",
                f"the value of {default.target} is stored in {default.storage.value}, but a"
                " simulation cannot fetch it",
                hint="Write the value into the document as `inline`.",
            )
    return {default.target: default.data for default in document.defaults}


def entry_values(
    document: Document,
    group: EntryGroup,
    inputs: Mapping[str, Any],
    tools: Mapping[str, ToolPorts] | None = None,
) -> dict[InputPort, Any]:
    """Return the value of each entry port of a group.

    The keys of `inputs` are the names of inputs in the document, or `vertex.port`. The name of the
    port alone is enough if it is unique in the group.

    Raises:
        UsageError: With code `input_unknown`, `input_duplicate` or `input_missing`.
        ValidationError: With code `input_invalid`, if a tool in `tools` (by FQN) rejects a value.
    """
    targets = entry_names(document, group)
    values: dict[InputPort, Any] = {}
    for name, value in inputs.items():
        for target in _targets(targets, name):
            if target in values:
                message = f"{target} has two values, and one of them is the input {name[:80]!r}"
                raise UsageError("input_duplicate", message, hint="Pass only one of the values.")
            values[target] = value
    ports = {port for found in targets.values() for port in found}
    if missing := ports - values.keys():
        raise _missing(targets, missing)
    fqns = {vertex.name: vertex.fqn for vertex in document.vertices}
    failures: dict[str, tuple[str, bool]] = {}
    for target, value in values.items():
        tool = None if target.is_order_only else (tools or {}).get(fqns[target.vertex])
        if tool is not None and (wrong := tool.mismatch(target.port, value)):
            called = next(name for name, found in targets.items() if target in found)
            accepts_string = not tool.mismatch(target.port, json.dumps(value))
            failures.setdefault(called, (wrong, accepts_string))
    if failures:
        raise _invalid_inputs(failures)
    return values


def entry_names(document: Document, group: EntryGroup) -> dict[str, tuple[InputPort, ...]]:
    """Return the possible names of inputs and the ports of each name, shortest names first."""
    entered = set(group.vertices)
    ports = [
        InputPort(vertex.name, port)
        for vertex in document.vertices
        if vertex.name in entered
        for port in vertex.entry_ports
    ]
    names: dict[str, tuple[InputPort, ...]] = {}
    for given in document.inputs:
        found = tuple(target for target in given.targets if target in ports)
        if found:
            names[given.name] = found
    alone: dict[str, list[InputPort]] = defaultdict(list)
    for port in ports:
        alone[port.port].append(port)
    for name, found_ports in alone.items():
        if len(found_ports) == 1:
            names.setdefault(name, tuple(found_ports))
    for port in ports:
        names.setdefault(str(port), (port,))
    return names


def needed_names(document: Document, group: EntryGroup) -> list[str]:
    """Return the shortest names of the inputs that an entry group needs to start."""
    names = entry_names(document, group)
    return _names_for(names, {port for found in names.values() for port in found})


def _targets(names: Mapping[str, tuple[InputPort, ...]], name: str) -> tuple[InputPort, ...]:
    if name not in names:
        known = list(names)
        hint = suggestion(name, known, otherwise=f"The inputs are {', '.join(known[:10])}.")
        raise UsageError("input_unknown", f"the input {name[:80]!r} does not exist", hint=hint)
    return names[name]


def _missing(names: Mapping[str, tuple[InputPort, ...]], missing: set[InputPort]) -> UsageError:
    wanted = _names_for(names, missing)
    listed = ", ".join(wanted)
    return UsageError(
        "input_missing",
        f"{'an input is' if len(wanted) == 1 else 'inputs are'} missing: {listed}",
        details={"inputs": wanted},
    )


def _names_for(names: Mapping[str, tuple[InputPort, ...]], ports: set[InputPort]) -> list[str]:
    """Return input names that together provide exactly one value for each port."""
    wanted: list[str] = []
    left = set(ports)
    for name, found in names.items():
        if left & set(found):
            wanted.append(name)
            left -= set(found)
    return wanted


def _invalid_inputs(failures: Mapping[str, tuple[str, bool]]) -> ValidationError:
    """Return the error for invalid inputs.

    `failures` maps input names to the problem, and to whether the JSON of the value, as a string,
    is valid.
    """
    (name, (wrong, _)), *others = failures.items()
    more = f", and {count(len(others), 'other')}" if others else ""
    return ValidationError(
        "input_invalid",
        f"the input {name} is invalid: {wrong}{more}",
        details={
            "failures": [
                {
                    "input": name,
                    "pointer": json_pointer((name,)),
                    "message": wrong,
                    "accepts_string": accepts_string,
                }
                for name, (wrong, accepts_string) in failures.items()
            ]
        },
    )
