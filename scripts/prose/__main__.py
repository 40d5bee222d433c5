"""Report texts that break the style rules: `python -m prose [PATH...]`. Default: all files."""

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path

from prose.rules import violations
from prose.texts import texts_of

ROOT = Path(__file__).resolve().parents[2]
_SUFFIXES = {".py", ".md", ".move"}
_FOLDERS = ("nexus_tools", "move", "docs", "scripts", "examples", "tests")
_SKIPPED = (
    "contracts/move_bindings",
    "upgrade_lock/move_bindings",
    "tests/vectors",
    "tests/conformance/vm",
    # The module of the rules contains examples that break the rules.
    "scripts/prose/rules.py",
    "tests/test_prose.py",
)


def main() -> int:
    """Print the violations, or their share with `--count`. Return the exit code."""
    parser = argparse.ArgumentParser(prog="prose", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--count", action="store_true", help="print violations per 1 000 sentences")
    arguments = parser.parse_args()
    sentences: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for path in arguments.paths or _all_paths():
        for text in texts_of(path):
            for sentence in text.sentences():
                sentences[text.kind] += 1
                for rule in violations(sentence):
                    hits[text.kind] += 1
                    if not arguments.count:
                        place = (
                            f"{path.relative_to(ROOT) if path.is_absolute() else path}:{text.line}"
                        )
                        print(f"{place}: {rule.name}: {sentence!r}; {rule.instead}")
    if arguments.count:
        for kind, number in sorted(sentences.items()):
            _print_share(kind, number, hits[kind])
        _print_share("all", sentences.total(), hits.total())
    elif not hits:
        print(f"{sentences.total()} sentences follow the style rules")
    return int(bool(hits) and not arguments.count)


def _print_share(kind: str, sentences: int, hits: int) -> None:
    print(f"{kind:10} {sentences:6} sentences, {1000 * hits / sentences:6.1f} hits per 1 000")


def _all_paths() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *_FOLDERS, "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [
        ROOT / name
        for name in sorted(set(listed))
        if Path(name).suffix in _SUFFIXES and not any(part in name for part in _SKIPPED)
    ]


if __name__ == "__main__":
    sys.exit(main())
