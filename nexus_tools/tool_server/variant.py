"""The base class of variants, the possible answers of a tool. The fields of a variant are ports."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from nexus_tools.errors import ValidationError


class Variant(BaseModel):
    """The base of an author's variants: `class Sum(Variant, name="ok")`. Each field is a port.

    Names that start with `err` are error variants. The docstring becomes a description.
    """

    # NaN is kept, so that the output check rejects it. By default, pydantic would write null.
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    variant_name: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.variant_name = name or cls.variant_name

    @classmethod
    def named(cls) -> str:
        """Return the variant's name. Raises `ValidationError` (`tool_invalid`) if it has none."""
        if not cls.variant_name:
            message = f"the variant class {cls.__name__} has no name"
            hint = f'Write class {cls.__name__}(Variant, name="ok").'
            raise ValidationError("tool_invalid", message, hint=hint)
        return cls.variant_name
