"""Programs that draw the diagrams of README and docs. The programs always write the same bytes."""

from drawing.pictures import PICTURES

__all__ = ["PICTURES"]
