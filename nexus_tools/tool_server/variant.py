"""The base class of variants: the possible answers of a tool, with their ports as fields."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from nexus_tools.errors import ValidationError


class Variant(BaseModel):
    """The base of an author's variants: `class Sum(Variant, name="ok")` with a field for each port.

    Names that start with `err` are error variants. The docstring becomes a description.
    """

    # NaN is kept, so that the output check rejects it instead of sending null.
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    variant_name: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.variant_name = name or cls.variant_name

    @classmethod
    def named(cls) -> str:
        """Return the variant's name, or raise `ValidationError` (`tool_invalid`) without one."""
        if not cls.variant_name:
            message = f"the variant class {cls.__name__} has no name"
            hint = f'Write class {cls.__name__}(Variant, name="ok").'
            raise ValidationError("tool_invalid", message, hint=hint)
        return cls.variant_name
