"""Programs that draw the diagrams of README and docs. They always write the same bytes."""

from drawing.pictures import PICTURES

__all__ = ["PICTURES"]
