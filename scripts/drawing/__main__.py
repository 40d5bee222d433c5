"""Write all diagrams into `docs/pictures`."""

from documents.page import ROOT
from drawing.pictures import PICTURES

FOLDER = ROOT / "docs/pictures"

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
