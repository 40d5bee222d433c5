"""Stubs that replace tools in a simulation, written as a JSON document.

    {
      "search": {"ok": {"papers": ["a", "b"]}},
      "xyz.example.text.summarise@1": [
        {"when": {"paper": "b"}, "times": 1, "fail": "unreachable"},
        {"give": {"ok": {"text": "short"}}, "duration_ms": 300}
      ]
    }

The name of a member is a vertex, or the FQN of a tool for all vertices that use the tool. The value
of a member is an outcome or a list of outcomes. Each call gets the first matching outcome that may
still be used.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.sui.support.suggestions import suggestion, with_suggestion
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    Mismatch,
    Outcome,
    canonical_json,
    json_pointer,
    mismatch_error,
    parse_json,
)
from nexus_tools.workflow.document.document import Document
from nexus_tools.workflow.interfaces import ToolPorts

DEFAULT_STUB_MS = 1_000
MAX_STUB_MS = 90 * 86_400_000
_FIELDS = ("give", "fail", "detail", "when", "times", "duration_ms")


@dataclass(frozen=True, slots=True)
class StubbedOutcome:
    """One outcome of a stub, which arrives `duration_ms` after the call.

    The outcome matches calls whose inputs have the values in `when`. The outcome is used `times`
    times, or without limit if `times` is 0.
    """

    outcome: Outcome
    duration_ms: int = DEFAULT_STUB_MS
    when: Mapping[str, Any] = field(default_factory=dict)
    times: int = 0

    def fits(self, ports: Mapping[str, Any]) -> bool:
        """Return whether the inputs of a call have the values in `when`."""
        return all(
            port in ports and canonical_json(ports[port]) == canonical_json(value)
            for port, value in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class Stub:
    """The outcomes of a tool or vertex in a simulation. `cycles` is whether the outcomes repeat."""

    outcomes: tuple[StubbedOutcome, ...]
    cycles: bool = False


@dataclass(frozen=True, slots=True)
class StubFunction:
    """A stub that computes the outcome from the inputs with a Python function.

    The outcome arrives `duration_ms` after the call. The function is called synchronously, so the
    simulation waits until it returns.
    """

    function: Callable[[Mapping[str, Any]], Outcome]
    duration_ms: int = DEFAULT_STUB_MS


class StubCalls:
    """The calls of a stub in one simulation, with a count of the uses of each outcome."""

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._given = [0] * len(stub.outcomes)

    def take(self, ports: Mapping[str, Any]) -> StubbedOutcome | None:
        """Return the outcome of the next call, or None if no outcome matches."""
        found = self._next(ports)
        if found is None and self._stub.cycles:
            self._given = [0] * len(self._given)
            found = self._next(ports)
        return found

    def _next(self, ports: Mapping[str, Any]) -> StubbedOutcome | None:
        for index, stubbed in enumerate(self._stub.outcomes):
            if (not stubbed.times or self._given[index] < stubbed.times) and stubbed.fits(ports):
                self._given[index] += 1
                return stubbed
        return None


def read_stubs(
    text: bytes | str,
    workflow: Document | None = None,
    tools: Mapping[str, ToolPorts] | None = None,
) -> dict[str, Stub]:
    """Return the stubs of a JSON document. The keys are names of vertices or FQNs of tools.

    An outcome is an answer in the form `{variant: {port: value}}`, or an object. The object has
    either `give`, which is an answer, or `fail`, which is the reason of a failure. With `fail`, the
    object may have a `detail`. Any object may have `when`, `times` and `duration_ms` (default:
    1 000). In a list, an outcome without `when` and `times` is used once, except that the last
    outcome is used without limit. If `workflow` is passed, the keys of `when` must be ports of its
    vertices. The answers of a tool in `tools` (by FQN) must have variants and ports of the tool.
    Raises `json_invalid`, and `stubs_invalid` with all `failures` in its details.
    """
    document = parse_json(text)
    problems: list[Mismatch] = []
    if not isinstance(document, dict):
        problems.append(Mismatch("", "expected an object of stubs by name"))
        document = {}
    known = dict(tools or {})
    for vertex in workflow.vertices if workflow else ():
        if vertex.fqn in known:
            known[vertex.name] = known[vertex.fqn]
    reader = _Reader(problems, _ports_of(workflow) if workflow else {}, known)
    stubs = {name: reader.stub(name, value) for name, value in document.items()}
    if problems:
        error = mismatch_error("stubs_invalid", "the stubs are invalid", problems)
        error.hint = 'Write an outcome as {"VARIANT": {"PORT": value}}, or with `give` or `fail`.'
        raise error
    return stubs


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome in the form of a stubs document."""
    if isinstance(outcome, Answer):
        return {"give": outcome.as_json()}
    return {"fail": outcome.reason.value, "detail": outcome.detail}


class _Reader:
    """A parser of stubs that collects all problems."""

    def __init__(
        self,
        problems: list[Mismatch],
        ports: Mapping[str, Collection[str]],
        tools: Mapping[str, ToolPorts],
    ) -> None:
        self._problems = problems
        self._ports = ports
        self._tools = tools

    def stub(self, name: str, value: Any) -> Stub:
        items = value if isinstance(value, list) else [value]
        if not items:
            self._note((name,), "expected at least one outcome")
        found = []
        for index, item in enumerate(items):
            path = (name, index) if isinstance(value, list) else (name,)
            if isinstance(item, dict):
                found.append(self._stubbed(path, item, is_last=index == len(items) - 1))
            else:
                self._note(path, "expected an object")
        return Stub(tuple(found))

    def _stubbed(
        self, path: tuple[str | int, ...], item: dict[str, Any], *, is_last: bool
    ) -> StubbedOutcome:
        if not {"give", "fail"} & item.keys():
            return StubbedOutcome(self._answer(path, item), times=0 if is_last else 1)
        for name in [name for name in item if name not in _FIELDS]:
            self._note(
                (*path, name), f"{name!r} is not a field of an outcome. {_meant(name)}".strip()
            )
        if {"give", "fail"} <= item.keys():
            self._note(path, "expected either `give` or `fail`, got both")
        once = int(not is_last and "when" not in item)
        return StubbedOutcome(
            self._outcome(path, item),
            self._count(
                (*path, "duration_ms"), item.get("duration_ms", DEFAULT_STUB_MS), MAX_STUB_MS
            ),
            self._when((*path, "when"), item.get("when", {})),
            self._count((*path, "times"), item["times"], least=1) if "times" in item else once,
        )

    def _when(self, path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
        when = self._object(path, value)
        ports = self._ports.get(str(path[0]), when)  # the ports of other tools are unknown
        for port in when:
            if port not in ports:
                message = f"{path[0]} has no input port {port!r}."
                self._note((*path, port), with_suggestion(message, port, ports))
        return when

    def _outcome(self, path: tuple[str | int, ...], item: dict[str, Any]) -> Outcome:
        if "give" in item:
            return self._answer((*path, "give"), self._object((*path, "give"), item["give"]))
        reason, detail = item["fail"], item.get("detail", "from its stub")
        if reason not in list(FailureReason):
            known = ", ".join(FailureReason)
            self._note((*path, "fail"), f"expected the reason of a failure, one of {known}")
            reason = FailureReason.REFUSED
        if not isinstance(detail, str):
            self._note((*path, "detail"), "expected a string")
        return Failure(FailureReason(reason), str(detail))

    def _answer(self, path: tuple[str | int, ...], item: dict[str, Any]) -> Answer:
        if len(item) != 1:
            self._note(path, "expected exactly one member, the variant")
            return Answer("", {})
        [(variant, ports)] = item.items()
        answer = Answer(variant, self._object((*path, variant), ports))
        self._check_known((*path, variant), answer)
        return answer

    def _check_known(self, path: tuple[str | int, ...], answer: Answer) -> None:
        """Check that a known tool has the variant and the ports of the answer."""
        tool = self._tools.get(str(path[0]))
        if tool is None:
            return
        ports = tool.variant(answer.variant)
        if ports is None:
            message = f"the tool of {path[0]} has no variant {answer.variant!r}."
            known = (*tool.variants, *_FIELDS)
            self._note(path, with_suggestion(message, answer.variant, known))
            return
        for port in answer.ports:
            if ports.get(port) is None:
                message = f"{answer.variant} of {path[0]} has no port {port!r}."
                self._note((*path, port), with_suggestion(message, port, ports.named))

    def _object(self, path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        self._note(path, "expected an object")
        return {}

    def _count(
        self, path: tuple[str | int, ...], value: Any, most: int = 2**32, least: int = 0
    ) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self._note(path, f"expected an integer from {least} to {most}")
        return least

    def _note(self, path: tuple[str | int, ...], message: str) -> None:
        self._problems.append(Mismatch(json_pointer(path), message))


def _ports_of(workflow: Document) -> dict[str, set[str]]:
    """Return the input ports of a workflow's vertices. The keys are vertex names and FQNs."""
    taken = {vertex.name: set(vertex.entry_ports) for vertex in workflow.vertices}
    targets = [edge.target for edge in workflow.edges]
    for target in targets + [default.target for default in workflow.defaults]:
        if target.vertex in taken and not target.is_order_only:
            taken[target.vertex].add(target.port)
    by_tool: dict[str, set[str]] = {}
    for vertex in workflow.vertices:
        by_tool.setdefault(vertex.fqn, set()).update(taken[vertex.name])
    return by_tool | taken


def _meant(name: str) -> str:
    return suggestion(name, _FIELDS)
