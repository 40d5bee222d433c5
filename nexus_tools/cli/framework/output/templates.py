"""Creation of projects from templates, which are files with the suffix `.template`."""

from importlib.resources.abc import Traversable
from pathlib import Path

from nexus_tools.errors import UsageError

_SUFFIX = ".template"
_DOT = {"dot": "."}
"""The value with which a name such as `${dot}github` is hidden. Wheels omit hidden folders."""


def check_empty(folder: Path, *, hint: str) -> None:
    """Raise `folder_not_empty` if a folder exists and is not empty."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(
            "folder_not_empty",
            f"{folder} exists and is not empty",
            hint=f"If you created this project before, continue with it. Otherwise {hint}",
        )


def write_template(source: Traversable, target: Path, values: dict[str, str]) -> list[Path]:
    """Render the templates in a folder and in names, and return the written files."""
    target.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            written += write_template(entry, target / _filled_in(entry.name, values), values)
        elif entry.name.endswith(_SUFFIX):
            path = target / _filled_in(entry.name.removesuffix(_SUFFIX), values)
            path.write_text(render_template(entry, values), encoding="utf-8")
            written.append(path)
    return written


def render_template(template: Traversable, values: dict[str, str]) -> str:
    """Return the rendered text of a template."""
    return _filled_in(template.read_text(encoding="utf-8"), values)


def _filled_in(text: str, values: dict[str, str]) -> str:
    from string import Template

    return Template(text).substitute(_DOT | values)
