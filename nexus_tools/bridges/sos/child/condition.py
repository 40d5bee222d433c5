"""Conditions: whether an action is to run, by what stands in the context."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

_COMPARISONS: dict[str, Any] = {
    "in": lambda value, valid: value in valid,
    "equal": lambda value, valid: all(value == each for each in valid),
}


class MetaCondition(BaseModel):
    """Compares the value at `ctx_key`, None where nothing stands, with `valid`, one or a list.

    With the comparison `in` it has to be one of them, with `equal` equal to each. `is_inverse`
    turns the answer round; with `raise_exc`, an answer that is false is a `ValueError`.
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
