"""The steps of a workflow: variants and ports as attributes, and settings as methods."""

from abc import abstractmethod
from typing import Literal, Self, get_args

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.tool import is_error_variant
from nexus_tools.workflow.authoring.input_binding import bind_input
from nexus_tools.workflow.authoring.sketch import (
    Draft,
    PortValue,
    Sketch,
    WorkflowInput,
    first_of,
    order_port,
)
from nexus_tools.workflow.authoring.source_line import UnknownNameError, caller_line
from nexus_tools.workflow.authoring.value import IncompleteValue, Value, origin_of
from nexus_tools.workflow.document.document import (
    ERR_EVAL,
    MAX_ATTEMPTS,
    MAX_RETRY_AFTER_MS,
    PostFailureAction,
    Verifier,
    VertexKind,
)
from nexus_tools.workflow.interfaces import Ports

OnFailure = Literal["continue", "terminate"]


def failure_action(action: str) -> PostFailureAction:
    """Return the action called `action`. Raises `UsageError` (`failure_action_unknown`)."""
    if action not in get_args(OnFailure):
        raise caller_line().of(
            UsageError(
                "failure_action_unknown",
                f"{action!r} is not a failure action",
                hint="Write continue or terminate.",
            )
        )
    return PostFailureAction(action)


class _OfStep(IncompleteValue):
    """A step, or a branch of a step."""

    __slots__ = ()

    @abstractmethod
    def _example(self) -> str:
        """Return an example of a value of the step in source code: `found.ok.papers`."""

    def _as_a_value(self) -> str:
        return f"Name a variant and a port: {self._example()}."


class Step(_OfStep):
    """One use of a tool, as `Workflow.add` returns it.

    The attributes of a step are the tool's variants, and the attributes of a variant are its ports.
    For example, `found.ok.papers` is a value. A step that takes this value runs only if the tool
    ends in the variant `ok`, so you branch by using a variant. If a variant has the name of a
    method, write it as an item: `step["after"]`.
    """

    __slots__ = ("_draft", "_sketch")

    def __init__(self, sketch: Sketch, draft: Draft) -> None:
        self._sketch = sketch
        self._draft = draft

    @property
    def failed(self) -> "Branch":
        """The branch of a run whose last attempt has failed, with the ports `reason` and `detail`.

        A failure is handled if a step uses this branch. A handled failure does not end the
        execution. For other failures, see `on_failure`.
        """
        return Branch(self._sketch, self._draft, ERR_EVAL)

    def retry(self, times: int, *, after: float = 0) -> Self:
        """Retry a failed run at most `times` times, `after` seconds apart.

        Raises `UsageError` with code `retry_invalid` unless `times` is 0 to 99 and `after` 0 to 90
        days.
        """
        is_number = type(times) is int and type(after) in (int, float)  # True is an int, too
        longest = MAX_RETRY_AFTER_MS / 1_000
        if not is_number or not 0 <= times < MAX_ATTEMPTS or not 0 <= after <= longest:
            raise caller_line().of(
                UsageError(
                    "retry_invalid",
                    f"expected 0 to {MAX_ATTEMPTS - 1} retries, at most 90 days apart, got"
                    f" {times!r} retries, {after!r} seconds apart",
                )
            )
        self._draft.attempts = times + 1
        self._draft.retry_after_ms = round(after * 1_000)
        return self

    def on_failure(self, action: OnFailure) -> Self:
        """Set the effect of an unhandled failure: `continue` or `terminate`.

        `continue` skips only the steps that depend on this step. `terminate` ends the execution. A
        step without an action uses the action of the workflow.
        """
        self._draft.post_failure_action = failure_action(action)
        return self

    def signed(self) -> Self:
        """Accept only answers that the tool has signed with its registered key.

        Raises `UsageError` with code `signature_impossible` for an on-chain tool.
        """
        if self._draft.kind is VertexKind.ON_CHAIN:
            raise caller_line().of(
                UsageError(
                    "signature_impossible",
                    f"{self._draft.fqn} runs on chain, and on-chain tools do not sign",
                    hint="Remove .signed().",
                )
            )
        self._draft.verifier = Verifier.REGISTERED_KEY
        return self

    def after(self, *others: "Step | Branch | Value") -> Self:
        """Make the step wait for other steps without taking their values.

        If you pass a step, any of its variants that is not an error variant ends the wait. If you
        pass a branch or a value, only this branch or value ends the wait. Raises `UsageError` with
        code `ending_missing` if the step cannot wait for any port.
        """
        with caller_line() as line:
            for other in others:
                port = order_port(self._draft.bindings)
                bind_input(self._sketch, self._draft, port, _awaited(other), line)
        return self

    def __getattr__(self, variant: str) -> "Branch":
        if variant.startswith("__"):  # Python looks up dunder names, and requires an AttributeError
            raise AttributeError(variant)
        ports = self._draft.ports
        if ports is not None and ports.variant(variant) is None:
            raise UnknownNameError.of(
                ValidationError(
                    "variant_unknown",
                    f"the tool {self._draft.fqn} has no variant {variant!r}",
                    hint=suggestion(
                        variant, ports.variants, otherwise=f"It has {', '.join(ports.variants)}."
                    ),
                )
            )
        return Branch(self._sketch, self._draft, variant)

    def __getitem__(self, variant: str) -> "Branch":
        return self.__getattr__(variant)

    def _awaited(self) -> Value:
        """Return a value that exists if the step has ended without an error."""
        ports = self._draft.ports
        names = (
            [variant for variant in ports.variants if not is_error_variant(variant)]
            if ports
            else []
        )
        if not names:
            raise UsageError(
                "ending_missing",
                f"the variants of {self._name()} are unknown, or all of them are errors",
                hint=f"Name a port of a variant: .after({self._example()}).",
            )
        values = [_awaited(self[name]) for name in names]
        if len(values) == 1:
            return values[0]
        return Value(first_of(self._sketch, [origin_of(value) for value in values]))

    def _name(self) -> str:
        return self._draft.display_name

    def _example(self) -> str:
        ports = self._draft.ports
        names = sorted(ports.variants, key=is_error_variant) if ports else []
        if not names:
            return f"{self._name()}.variant.port"
        return Branch(self._sketch, self._draft, names[0])._example()  # noqa: SLF001 - as below

    def __dir__(self) -> list[str]:
        variants = self._draft.ports.variants if self._draft.ports else ()
        return ["after", "failed", "on_failure", "retry", "signed", *variants]

    def __repr__(self) -> str:
        return f"<step {self._draft.name}: {self._draft.fqn}>"


def _awaited(other: object) -> Value:
    """Return a value that exists if the execution has reached this step, branch or value."""
    if isinstance(other, Step | Branch):
        return other._awaited()  # noqa: SLF001 - underscores keep names from hiding variants
    if isinstance(other, Value) and not isinstance(origin_of(other), WorkflowInput):
        return other
    name = origin_of(other) if isinstance(other, Value) else repr(other)
    raise UsageError(
        "ending_missing",
        f"{name} is not a step or a value of a step",
        hint="Wait for a step, its branch, or its value.",
    )


class Branch(_OfStep):
    """One variant of a step, with the values of its ports as attributes or items."""

    __slots__ = ("_draft", "_sketch", "_variant")

    def __init__(self, sketch: Sketch, draft: Draft, variant: str) -> None:
        self._sketch = sketch
        self._draft = draft
        self._variant = variant

    @property
    def _ports(self) -> Ports:
        ports = self._draft.ports and self._draft.ports.variant(self._variant)
        return ports or Ports({}, is_open=True)

    def __getattr__(self, port: str) -> Value:
        if port.startswith("__"):
            raise AttributeError(port)
        known = self._ports.get(port)
        if known is None:
            raise UnknownNameError.of(
                ValidationError(
                    "port_unknown",
                    f"{self._name()} of {self._draft.fqn} has no port {port!r}",
                    hint=suggestion(
                        port,
                        self._ports.named,
                        otherwise=f"Its ports are {', '.join(self._ports.named) or 'none'}.",
                    ),
                )
            )
        block = self._draft.block
        return Value(PortValue(self._sketch, block, known.types, self._draft, self._variant, port))

    def __getitem__(self, port: str) -> Value:
        return self.__getattr__(port)

    def _awaited(self) -> Value:
        """Return a value that always exists in this branch."""
        always = self._ports.required
        if not always:
            raise UsageError(
                "ending_missing",
                f"{self._name()} has no required port",
                hint="Wait for a port of another variant or step.",
            )
        return self[always[0]]

    def __dir__(self) -> list[str]:
        return list(self._ports.named)

    def _name(self) -> str:
        return f"{self._draft.display_name}.{self._variant}"

    def _example(self) -> str:
        return f"{self._name()}.{next(iter(self._ports.named), 'port')}"

    def __repr__(self) -> str:
        return f"<branch {self._name()}>"
