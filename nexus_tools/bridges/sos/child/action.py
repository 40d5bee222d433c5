"""Actions: `MetaRunnable` calls one tool, `MetaObject` runs a list of actions in order."""

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
    "equal": lambda value, valid: all(value == each for each in valid),
}


class MetaCondition(BaseModel):
    """Compares the value at `ctx_key`, None where nothing stands, with `valid`, one or a list.

    With the comparison `in` it has to be one of them, with `equal` equal to each. `is_inverse`
    turns the result round; with `raise_exc`, a result that is false is a `ValueError`.
    """

    model_config = ConfigDict(extra="forbid")

    ctx_key: Any
    valid: Any = None
    comparison: str = "in"
    is_inverse: bool = False
    raise_exc: bool = True
    label: Any = None

    def resolve(self, context: Any, raise_exc: Any = None) -> bool:
        """Whether the condition holds; `raise_exc` takes the place of the condition's own."""
        compare = _COMPARISONS.get(self.comparison)
        if compare is None:
            known = " and ".join(_COMPARISONS)
            raise RuntimeError(f"there is no comparison {self.comparison!r}, only {known}")
        valid = self.valid if isinstance(self.valid, list) else [self.valid]
        holds = bool(compare(context.get(self.ctx_key, None), valid)) != self.is_inverse
        raises = self.raise_exc if raise_exc is None else raise_exc
        if raises and not holds:
            relation = f"{'not ' if self.is_inverse else ''}{self.comparison} {valid!r}"
            raise ValueError(f"the condition fails: {self.ctx_key} is to be {relation}")
        return holds


class UnknownToolError(Exception):
    """An action names a tool that is not registered."""


class DeniedToolError(Exception):
    """An action names a tool that is not to be run here."""


class MetaRunnable(BaseModel):
    """One action: a tool, what it is called with, and what of its result goes into the context.

    `context_map` takes values from the context into `params` and wins over them; `result_map`
    takes them from the result into the context. Each `condition` must hold, or nothing is called;
    in an action, none of them raises.
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
        """One of them is a list of one, none an empty list."""
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def __call__(self, context: Any) -> ResultObject:
        """Call the tool and its callbacks; the result is empty if the action is not enabled."""
        if self.disabled or not self._is_wanted(context):
            print(f"not enabled: {self.label or self.tool}")  # noqa: T201 - for the log
            return ResultObject()
        result = self._called(context)
        for entry in self.result_map:
            path, value = _mapped(entry, lambda *looked_up: find(result.data, *looked_up))
            context.set(path, value, overwrite=True)
        for callback in reversed([*self.callbacks, *result.callbacks]):
            context.result = result
            MetaRunnable(**callback)(context)
        context.result = result if context.keep_result else None
        return result

    def _is_wanted(self, context: Any) -> bool:
        return all(each.resolve(context, raise_exc=False) for each in self.condition)

    def _called(self, context: Any) -> ResultObject:
        params = copied(self.params or {})
        for entry in self.context_map:
            path, value = _mapped(entry, context.get)
            put(params, path, value, overwrite=True)
        return call(self.tool, params, context)


def run(node: Any, context: Any) -> Any:
    """Run an action or a list of actions; a list gives a `ResultRepo`.

    A `RuntimeBreak` ends the list and is given in its place among the results, under the name of
    the action that broke out. Raises `TypeError` for what is neither.
    """
    if isinstance(node, MetaRunnable):
        return node(context)
    if isinstance(node, dict) and isinstance(node.get("tool"), str):
        return MetaRunnable(**node)(context)
    return _run_list(node, context)


def _run_list(node: Any, context: Any) -> ResultRepo:
    if not isinstance(node, (dict, list)):
        raise TypeError(f"{node!r} is neither an action nor a list of actions")
    actions = node.items() if isinstance(node, dict) else _named(node)
    results = ResultRepo()
    try:
        for name, action in actions:
            results[str(name)] = _unbroken(action, context)
            if _is_broken(results[str(name)]):
                break
    finally:
        context.result = None
    return results


def _unbroken(action: Any, context: Any) -> Any:
    """What an action gives; a break out of its list is given too, and not raised."""
    try:
        return run(action, context)
    except Exception as error:
        # SOS-Toolkit's own class has the name too, where it is installed.
        if type(error).__name__ != RuntimeBreak.__name__:
            raise
        return RuntimeBreak(str(error))


def _is_broken(result: Any) -> bool:
    """Whether a list was left early, or a list in it."""
    if isinstance(result, ResultRepo):
        return any(_is_broken(member) for member in result.values())
    return isinstance(result, RuntimeBreak)


def _named(actions: list[Any]) -> list[tuple[str, Any]]:
    """The actions of a plain list by their labels, or else their places from 0."""
    labels = [isinstance(action, dict) and action.get("label") for action in actions]
    return [(str(labels[n] or n), action) for n, action in enumerate(actions)]


def call(name: str, params: dict[str, Any], context: Any) -> ResultObject:
    """Call the tool `namespace.name`, with `__CTX__` and `__RESULT__` where it takes them.

    Raises `DeniedToolError`, `UnknownToolError`, `RuntimeError` where a result is needed and there
    is none, and whatever the tool raises.
    """
    if name in context.denied:
        raise DeniedToolError(f"{name} is dangerous, and is not allowed to run")
    tool = SOS_TOOL.get(name)
    if tool is None or "." not in name:
        reason = SOS_TOOL.why_refused(name)
        raise UnknownToolError(f"there is no tool {name!r}{f': {reason}' if reason else ''}")
    special: dict[str, Any] = {}
    if tool.signature.takes_context:
        special[CONTEXT] = context
    if tool.signature.takes_result:
        if context.result is None:
            raise RuntimeError(f"{name} expects the result of an action before it; there is none")
        special[RESULT] = context.result
    result = ResultObject.of(tool.function(**special, **params))
    result.called_tool, result.called_params = name, params
    return result


def _mapped(entry: Any, find: Any) -> tuple[str, Any]:
    """Where a line of a map puts its value, and the value."""
    if not isinstance(entry, dict) or not isinstance(entry.get("result"), str):
        raise TypeError(f"{entry!r} in a map does not say its result, the path to write to")
    return entry["result"], resolved(entry, find)
