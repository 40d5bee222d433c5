"""A drawing in SVG whose colors follow the reader's light or dark scheme."""

from collections.abc import Sequence
from html import escape

STYLE = """
    .paper { fill: #ffffff; stroke: #d0d7de }
    .box { fill: #f6f8fa; stroke: #57606a }
    .chain { fill: #ddf4ff; stroke: #0969da }
    .good { fill: #dafbe1; stroke: #1a7f37 }
    .bad { fill: #ffebe9; stroke: #cf222e }
    .line { fill: none; stroke: #57606a; stroke-width: 1.5 }
    .head { fill: #57606a }
    text { fill: #1f2328; font: 14px system-ui, sans-serif }
    .note { fill: #57606a; font-size: 12px }
    .mono { font: 13px ui-monospace, monospace; white-space: pre }
    .title { font-weight: 600 }
    .done { fill: #1a7f37 }
    .wrong { fill: #cf222e }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; stroke: #30363d }
      .box { fill: #161b22; stroke: #8b949e }
      .chain { fill: #0c2d6b; stroke: #58a6ff }
      .good { fill: #0f2d19; stroke: #3fb950 }
      .bad { fill: #3c1418; stroke: #f85149 }
      .line { stroke: #8b949e }
      .head { fill: #8b949e }
      text { fill: #e6edf3 }
      .note { fill: #8b949e }
      .done { fill: #3fb950 }
      .wrong { fill: #f85149 }
    }
"""
HEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
    ' orient="auto-start-reverse"><path class="head" d="M0 0 8 4 0 8z"/></marker>'
)
LINE_HEIGHT = 18


class Canvas:
    """A canvas of `width` times `height` pixels. `says` is the alternative text of the image."""

    def __init__(self, width: int, height: int, says: str) -> None:
        self._size = (width, height)
        self._says = says
        self._parts: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, *lines: str, kind: str = "box") -> None:
        """Draw a box with a centered title and notes."""
        self._parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        )
        top = y + height // 2 - LINE_HEIGHT * (len(lines) - 1) // 2 + 5
        for number, line in enumerate(lines):
            kind_of_text = "note" if number else "title"
            self.text(x + width // 2, top + number * LINE_HEIGHT, line, kind_of_text)

    def text(self, x: int, y: int, text: str, kind: str = "note", anchor: str = "middle") -> None:
        """Draw a line of text, centered unless `anchor` is `start` or `end`."""
        place = f'class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}"'
        self._parts.append(f'<text {place} xml:space="preserve">{escape(text)}</text>')

    def arrow(self, *points: tuple[int, int]) -> None:
        """Draw a line along points, with an arrowhead at its end."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self._parts.append(f'<polyline class="line" points="{path}" marker-end="url(#head)"/>')

    def line(self, *points: tuple[int, int]) -> None:
        """Draw a line along points."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self._parts.append(f'<polyline class="line" points="{path}"/>')

    def svg(self) -> str:
        """Return the SVG file."""
        width, height = self._size
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        paper = f'x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"'
        parts: Sequence[str] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="says">',
            f'<title id="says">{escape(self._says)}</title>',
            f"<defs><style>{STYLE}</style>{HEAD}</defs>",
            f'<rect class="paper" {paper}/>',
            *self._parts,
            "</svg>",
        )
        return "\n".join(parts) + "\n"
