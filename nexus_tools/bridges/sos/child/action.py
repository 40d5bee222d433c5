"""Actions: `MetaRunnable` calls one tool, and `run` executes a list of actions in order."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from nexus_tools.bridges.sos.child.interpolation import resolved
from nexus_tools.bridges.sos.child.paths import copied, find, put
from nexus_tools.bridges.sos.child.registry import SOS_TOOL
from nexus_tools.bridges.sos.child.result import ResultObject, ResultRepo, RuntimeBreak
from nexus_tools.bridges.sos.child.signature import CONTEXT, RESULT

_COMPARISONS: dict[str, Any] = {
    "in": lambda value, valid: value in valid,
    "equal": lambda value, valid: all(value == member for member in valid),
}


class MetaCondition(BaseModel):
    """A comparison of the value at `ctx_key` (None if missing) with `valid`, a value or a list.

    The comparison `in` requires that the value is a member of `valid`. The comparison `equal`
    requires that the value is equal to each member. `is_inverse` negates the result. With
    `raise_exc`, a false result raises a `ValueError`.
    """

    model_config = ConfigDict(extra="forbid")

    ctx_key: Any
    valid: Any = None
    comparison: str = "in"
    is_inverse: bool = False
    raise_exc: bool = True
    label: Any = None

    def resolve(self, context: Any, raise_exc: Any = None) -> bool:
        """Return whether the condition is true.

        `raise_exc` overrides the condition's own setting.
        """
        compare = _COMPARISONS.get(self.comparison)
        if compare is None:
            comparisons = " or ".join(_COMPARISONS)
            raise RuntimeError(f"{self.comparison!r} is not a comparison: expected {comparisons}")
        valid = self.valid if isinstance(self.valid, list) else [self.valid]
        holds = bool(compare(context.get(self.ctx_key, None), valid)) != self.is_inverse
        raises = self.raise_exc if raise_exc is None else raise_exc
        if raises and not holds:
            relation = f"{'not ' if self.is_inverse else ''}{self.comparison} {valid!r}"
            raise ValueError(f"the condition fails: {self.ctx_key} must be {relation}")
        return holds


class UnknownToolError(Exception):
    """The error of an action that names a tool that is not registered."""


class DeniedToolError(Exception):
    """The error of an action that calls a denied tool."""


class MetaRunnable(BaseModel):
    """One action: a tool, its parameters, and the parts of its result that go into the context.

    `context_map` copies values from the context into `params` and takes precedence. `result_map`
    copies values from the result into the context. The tool is called only if every condition in
    `condition` is true. A false condition of an action never raises an error.
    """

    model_config = ConfigDict(extra="forbid")

    tool: str
    label: Any = None
    disabled: bool = False
    condition: list[MetaCondition] = Field(default_factory=list)
    params: Any = None
    context_map: list[Any] = Field(default_factory=list)
    result_map: list[Any] = Field(default_factory=list)
    callbacks: list[Any] = Field(default_factory=list)

    @field_validator("condition", "context_map", "result_map", "callbacks", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """Return a single value as a list, and None as an empty list."""
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def __call__(self, context: Any) -> ResultObject:
        """Call the tool and its callbacks. If the action is not enabled, return an empty result."""
        if self.disabled or not self._conditions_hold(context):
            print(f"not enabled: {self.label or self.tool}")  # noqa: T201 - for the log
            return ResultObject()
        result = self._call_tool(context)
        for entry in self.result_map:
            path, value = _map_entry(
                entry, lambda *path_and_default: find(result.data, *path_and_default)
            )
            context.set(path, value, overwrite=True)
        for callback in reversed([*self.callbacks, *result.callbacks]):
            context.result = result
            MetaRunnable(**callback)(context)
        context.result = result if context.keep_result else None
        return result

    def _conditions_hold(self, context: Any) -> bool:
        return all(condition.resolve(context, raise_exc=False) for condition in self.condition)

    def _call_tool(self, context: Any) -> ResultObject:
        params = copied(self.params or {})
        for entry in self.context_map:
            path, value = _map_entry(entry, context.get)
            put(params, path, value, overwrite=True)
        return call(self.tool, params, context)


def run(node: Any, context: Any) -> Any:
    """Run an action or a list of actions. For a list, return a `ResultRepo`.

    A `RuntimeBreak` ends the list. The results contain the break, under the name of the action that
    raised it.

    Raises:
        TypeError: if `node` is neither an action nor a list.
    """
    if isinstance(node, MetaRunnable):
        return node(context)
    if isinstance(node, dict) and isinstance(node.get("tool"), str):
        return MetaRunnable(**node)(context)
    return _run_list(node, context)


def _run_list(node: Any, context: Any) -> ResultRepo:
    if not isinstance(node, (dict, list)):
        raise TypeError(f"{node!r} is neither an action nor a list of actions")
    actions = node.items() if isinstance(node, dict) else _named_actions(node)
    results = ResultRepo()
    try:
        for name, action in actions:
            results[str(name)] = _run_catching_break(action, context)
            if _is_broken(results[str(name)]):
                break
    finally:
        context.result = None
    return results


def _run_catching_break(action: Any, context: Any) -> Any:
    """Run an action and return its result, or return the break if the action raises a break."""
    try:
        return run(action, context)
    except Exception as error:
        # SOS-Toolkit's own class has the same name, if the package is installed.
        if type(error).__name__ != RuntimeBreak.__name__:
            raise
        return RuntimeBreak(str(error))


def _is_broken(result: Any) -> bool:
    """Return whether a list of actions, or a list nested in it, ended early."""
    if isinstance(result, ResultRepo):
        return any(_is_broken(member) for member in result.values())
    return isinstance(result, RuntimeBreak)


def _named_actions(actions: list[Any]) -> list[tuple[str, Any]]:
    """Return the actions of a plain list by their labels, or by their indices from 0."""
    labels = [isinstance(action, dict) and action.get("label") for action in actions]
    return [(str(labels[n] or n), action) for n, action in enumerate(actions)]


def call(name: str, params: dict[str, Any], context: Any) -> ResultObject:
    """Call the tool `namespace.name`, with `__CTX__` and `__RESULT__` if the tool takes them.

    Exceptions of the tool are not caught.

    Raises:
        DeniedToolError: if the tool must not run.
        UnknownToolError: if the tool is not registered.
        RuntimeError: if the tool needs a result and none exists.
    """
    if name in context.denied:
        raise DeniedToolError(f"{name} is dangerous and not allowed to run")
    tool = SOS_TOOL.get(name)
    if tool is None or "." not in name:
        reason = SOS_TOOL.why_refused(name)
        raise UnknownToolError(f"unknown tool {name!r}{f': {reason}' if reason else ''}")
    special: dict[str, Any] = {}
    if tool.signature.takes_context:
        special[CONTEXT] = context
    if tool.signature.takes_result:
        if context.result is None:
            raise RuntimeError(
                f"{name} requires the result of a previous action, but no action ran before it"
            )
        special[RESULT] = context.result
    result = ResultObject.of(tool.function(**special, **params))
    result.called_tool, result.called_params = name, params
    return result


def _map_entry(entry: Any, find: Any) -> tuple[str, Any]:
    """Return the target path of a map entry, and its value."""
    if not isinstance(entry, dict) or not isinstance(entry.get("result"), str):
        raise TypeError(f"{entry!r} in a map lacks `result`, the path to write to")
    return entry["result"], resolved(entry, find)
