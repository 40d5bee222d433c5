"""The diagrams of README and docs, drawn by programs: the same bytes each time."""

from drawing.pictures import PICTURES

__all__ = ["PICTURES"]
