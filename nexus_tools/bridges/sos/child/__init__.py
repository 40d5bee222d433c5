"""The process in the tools' interpreter: it loads tools, describes them, and calls them.

Start reading at `reply`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nexus_tools.bridges.sos.child.plugin import load, offer
from nexus_tools.bridges.sos.child.registry import SOS_TOOL, RejectedFunction, ToolObject, file_of
from nexus_tools.bridges.sos.child.result import ResultObject, json_subset, json_value
from nexus_tools.bridges.sos.child.signature import CONTEXT, RESULT, RegistrationError
from nexus_tools.bridges.sos.child.system import break_reason, data_of, load_system, run_hook
from nexus_tools.bridges.sos.child.toolkit import Toolkit
from nexus_tools.bridges.worker.child import loading

Request = dict[str, Any]


def reply(request: Request) -> Any:
    """Handle the request according to `request["verb"]`: `describe`, `call`, or `run`."""
    return _VERBS[request["verb"]](request, Toolkit(frozenset(request["denied"])))


def _describe(request: Request, toolkit: Toolkit) -> Any:
    """Return the tools in `files`, and the candidates that cannot be tools."""
    for name in request["files"]:
        try:
            load(Path(name))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - untrusted code may raise anything
            reason = f"cannot load the file: {type(error).__name__}: {error}"
            SOS_TOOL.refused.append(RejectedFunction("", name, reason))
    tools = [described for tool in SOS_TOOL.tools() for described in _described(tool)]
    requested_files = set(request["files"])
    return {
        "runtime": toolkit.runtime,
        "tools": [tool for tool in tools if tool["file"] in requested_files],
        "refused": [
            vars(refused) for refused in SOS_TOOL.refused if refused.file in requested_files
        ],
    }


def _described(tool: ToolObject) -> list[dict[str, Any]]:
    file = file_of(tool.function)
    try:
        schema = tool.signature.schema()
    except RegistrationError as error:
        SOS_TOOL.refused.append(RejectedFunction(f"{tool.namespace}.{tool.key}", file, str(error)))
        return []
    return [
        {
            "namespace": tool.namespace,
            "name": tool.key,
            "file": file,
            "description": tool.description,
            "schema": schema,
            "takes_context": tool.signature.takes_context,
            "takes_result": tool.signature.takes_result,
        }
    ]


def _call(request: Request, toolkit: Toolkit) -> Any:
    """Call the tool `name` of `file`, with a context and a result if the tool takes them."""
    offer([*map(Path, request["folders"]), *toolkit.folders], plugins=False)
    with loading():
        load(Path(request["file"]))
    tool = SOS_TOOL.get(request["name"])
    if not isinstance(tool, ToolObject):
        reason = SOS_TOOL.why_refused(request["name"])
        raise RegistrationError(f"the tool {request['name']} no longer exists: {reason}")
    special: dict[str, Any] = {}
    if tool.signature.takes_context:
        special[CONTEXT] = toolkit.context(request["context"])
    if tool.signature.takes_result:
        special[RESULT] = toolkit.result(request["result"]["data"])
    result = ResultObject.of(tool.function(**special, **request["arguments"]))
    ports = {"result": json_value(result.data, "the result")}
    if result.callbacks:
        ports["callbacks"] = json_value(result.callbacks, "the callbacks")
    if tool.signature.takes_context:
        sections = special[CONTEXT].dict()
        visible_sections = {
            name: sections[name] for name in sections if name != "meta" and sections[name]
        }
        ports["context"] = json_value(visible_sections, "the context")
    return ports


def _run(request: Request, toolkit: Toolkit) -> Any:
    """Run the action `action` of a system, after the system's hook for loading the context."""
    offer([*map(Path, request["folders"]), *toolkit.folders], plugins=True)
    context = load_system(request["document"], request["context"])
    context.denied = frozenset(request["denied"])
    context.keep_result = request["keep_result"]
    run_hook(context, "on_context_load")
    result = context.run(context.dict()["action"][request["action"]])
    hidden = ("meta", "action", "hook")
    sections = {name: section for name, section in context.dict().items() if name not in hidden}
    left_out: list[str] = []
    ports = {
        "results": json_subset(data_of(result), "results", left_out),
        "context": json_subset(sections, "context", left_out),
        "broke": break_reason(result),
        "left_out": left_out or None,
    }
    return {name: value for name, value in ports.items() if value is not None}


_VERBS: dict[str, Callable[[Request, Toolkit], Any]] = {
    "describe": _describe,
    "call": _call,
    "run": _run,
}
