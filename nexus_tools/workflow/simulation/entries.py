"""The values with which an execution begins: inputs by name, for the entry ports of a group."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.spelling import suggestion
from nexus_tools.workflow.document import Document, EntryGroup, InputPort


def chosen_group(document: Document, name: str | None = None) -> EntryGroup:
    """The entry group of a name, or the only one.

    Raises `UsageError` with code `group_unknown` or `group_missing`.
    """
    groups = {group.name: group for group in document.groups()}
    known = ", ".join(groups)
    if name is None and len(groups) == 1:
        return next(iter(groups.values()))
    if name is None:
        message = f"the workflow can begin in several ways: {known}"
        raise UsageError("group_missing", message, hint="name one of these entry groups")
    if name not in groups:
        hint = suggestion(name, groups, otherwise=f"there is {known}")
        raise UsageError("group_unknown", f"there is no entry group {name[:80]!r}", hint=hint)
    return groups[name]


def entry_values(
    document: Document, group: EntryGroup, inputs: Mapping[str, Any]
) -> dict[InputPort, Any]:
    """The value of each entry port of a group.

    An input is named as the document names it, as `vertex.port`, or by the port alone where one
    port of the group has that name. Raises `UsageError` with code `input_unknown`, `input_twice` or
    `input_missing`.
    """
    targets = entry_names(document, group)
    values: dict[InputPort, Any] = {}
    for name, value in inputs.items():
        for target in _targets(targets, name):
            if target in values:
                message = f"{target} is given twice, once as {name[:80]!r}"
                raise UsageError("input_twice", message, hint="leave one of them out")
            values[target] = value
    ports = {port for found in targets.values() for port in found}
    if missing := ports - values.keys():
        raise _missing(targets, missing)
    return values


def entry_names(document: Document, group: EntryGroup) -> dict[str, tuple[InputPort, ...]]:
    """The names of inputs, and the ports that they are for; the shortest names come first."""
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
    """The names of inputs with which a group can begin, the shortest ones."""
    names = entry_names(document, group)
    return _names_for(names, {port for found in names.values() for port in found})


def _targets(names: Mapping[str, tuple[InputPort, ...]], name: str) -> tuple[InputPort, ...]:
    if name not in names:
        known = list(names)
        hint = suggestion(name, known, otherwise=f"there is {', '.join(known[:10])}")
        raise UsageError("input_unknown", f"there is no input {name[:80]!r}", hint=hint)
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
    """The names with which some ports can be given, each once."""
    wanted: list[str] = []
    left = set(ports)
    for name, found in names.items():
        if left & set(found):
            wanted.append(name)
            left -= set(found)
    return wanted
