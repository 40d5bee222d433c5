"""Build the modules of the tests from `sources`: `python build.py DIST CACHE`.

`DIST` and `CACHE` are those of `MoveBuilder`. The script also builds valid and invalid
upgrades of the package from edited sources.
"""

import sys
from pathlib import Path

from nexus_tools.sui.localnet.compiler import MoveBuilder, read_sources

HERE = Path(__file__).parent
SOURCE = "sources/probe.move"
ADDITION = """
public struct Extra has copy, drop { value: u64 }

public fun extra(): Extra { Extra { value: 9 } }
"""

VARIANTS = {
    "probe": lambda text: text,
    "additive": lambda text: text + ADDITION,
    "compatible": lambda text: text.replace("VERSION: u64 = 1", "VERSION: u64 = 2") + ADDITION,
    "other_layout": lambda text: text.replace("Note { value: ", "Note { number: ").replace(
        "Note has copy, drop { value", "Note has copy, drop { number"
    ),
    "function_missing": lambda text: text.replace("public fun nothing() {}\n", ""),
    "new_ability": lambda text: text.replace(
        "public struct Potato {", "public struct Potato has drop {"
    ),
}


def main(dist: Path, cache: Path) -> None:
    builder = MoveBuilder(dist, cache)
    sources = dict(read_sources(HERE))
    for name, edit in VARIANTS.items():
        built = builder.build({**sources, SOURCE: edit(sources[SOURCE])})
        (HERE / "bytecode" / f"{name}.mv").write_bytes(built.modules[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
