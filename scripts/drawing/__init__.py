"""Programs that make the pictures of README and docs: diagrams, and screenshots of the explorer.

The diagrams have the same bytes each time.
"""

from drawing.pictures import MAX_BYTES, PICTURES, SCHEMES, SCREENSHOTS

__all__ = ["MAX_BYTES", "PICTURES", "SCHEMES", "SCREENSHOTS"]
