"""Write all diagrams into `docs/pictures`, and with `--screenshots` also the screenshots."""

import asyncio
import sys

from documents.page import ROOT
from drawing.pictures import PICTURES

FOLDER = ROOT / "docs/pictures"

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
    if sys.argv[1:] == ["--screenshots"]:
        from drawing.screenshots import take_screenshots

        asyncio.run(take_screenshots(FOLDER))
