"""The drawings of workflows: SVG, characters for a terminal, and Mermaid.

Start with `picture`, which all three drawings share.
"""

from nexus_tools.workflow.drawing.mermaid import draw_mermaid
from nexus_tools.workflow.drawing.picture import Phase, VertexState
from nexus_tools.workflow.drawing.svg import draw_svg, svg_style
from nexus_tools.workflow.drawing.terminal import draw_terminal

__all__ = ["Phase", "VertexState", "draw_mermaid", "draw_svg", "draw_terminal", "svg_style"]
